"""Plans of several steps, and what never changes: every byte outside the constructs that are named."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rewritten import marked, outcome, rewrite

import codemods
from codemods.steps import (
    CannotRewrite,
    CloneBefore,
    CloneExpression,
    DropFlag,
    NoGrad,
    OutOfPlaceAssign,
    OutOfPlaceCall,
    Span,
)


def add(span: Span) -> OutOfPlaceCall:
    return OutOfPlaceCall(span, "{x}.add({args})", "x")


def test_importing_the_package_does_not_import_libcst() -> None:
    code = "import sys, codemods, codemods.steps; sys.exit('libcst' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_steps_leave_any_text_alone_even_what_does_not_parse() -> None:
    assert codemods.apply("print 1", []) == "print 1"


def test_a_file_that_does_not_parse_is_refused_with_its_place() -> None:
    with pytest.raises(CannotRewrite) as caught:
        codemods.apply("x = (\n", [add(Span(1, 0, 1, 1))])
    assert "does not parse" in caught.value.reason


def test_one_step_that_fails_leaves_none_done() -> None:
    source, spans = marked("⟦x.add_(1)⟧\nz = [⟦x.add_(1)⟧ for x in y]\n")
    with pytest.raises(CannotRewrite) as caught:
        codemods.apply(source, [add(span) for span in spans])
    assert caught.value.span == spans[1]


def test_a_file_is_parsed_once_for_many_plans() -> None:
    source, spans = marked("⟦x.add_(1)⟧\n⟦x.add_(2)⟧\n")
    prepared = codemods.prepare(source)
    assert prepared.apply([add(spans[0])]) == "x = x.add(1)\nx.add_(2)\n"
    assert prepared.apply([add(spans[1])]) == "x.add_(1)\nx = x.add(2)\n"
    assert prepared.apply([add(span) for span in spans]) == "x = x.add(1)\nx = x.add(2)\n"


def test_steps_nest_in_any_order_of_the_plan() -> None:
    text = "def f(w):\n    ⟦w = ⟦w.add_(⟦torch.relu(⟦y⟧, inplace=True)⟧)⟧⟧  # c\n"
    source, (statement, call, flag, clone) = marked(text)
    steps = [
        NoGrad(statement),
        OutOfPlaceCall(call, "{x}.add({args})", "w"),
        DropFlag(flag),
        CloneExpression(clone),
        CloneBefore(statement, "w"),
    ]
    wanted = (
        "def f(w):\n    with torch.no_grad():\n        w = w.clone()\n        w = w.add(torch.relu(y.clone()))  # c\n"
    )
    assert codemods.apply(source, steps) == wanted
    assert codemods.apply(source, steps[::-1]) == wanted
    assert codemods.apply(source, [*steps, *steps]) == wanted


def test_spans_may_hold_parentheses_as_ast_counts_them() -> None:
    assert rewrite("z = ⟦(x, y)⟧\n", CloneExpression) == "z = (x, y).clone()\n"
    assert rewrite("z = (⟦x, y⟧)\n", CloneExpression) == "z = (x, y).clone()\n"
    assert rewrite("z = f((⟦r for r in y⟧))\n", CloneExpression) == "z = f((r for r in y).clone())\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p = 'é🔥'; ⟦x.add_(1)⟧\n", "p = 'é🔥'; x = x.add(1)\n"),
        ("p = '''é\n🔥'''; ⟦x.add_(1)⟧\n", "p = '''é\n🔥'''; x = x.add(1)\n"),
        ("if i:\r\n\t⟦x.add_(1)⟧  # c\r\n", "if i:\r\n\tx = x.add(1)  # c\r\n"),
        ("p = 1\r\n⟦x.add_(1)⟧\nq = 2\r\n", "p = 1\r\nx = x.add(1)\nq = 2\r\n"),
        ("p = 1\r⟦x.add_(1)⟧\rq = 2\r", "p = 1\rx = x.add(1)\rq = 2\r"),
        ("p = 1\r⟦x.add_(1)⟧\r", "p = 1\rx = x.add(1)\r"),
        ("p = 1\n⟦x.add_(1)⟧", "p = 1\nx = x.add(1)"),
        ("p = 1\n\x0c\n⟦x.add_(1)⟧\n", "p = 1\n\x0c\nx = x.add(1)\n"),
        ("p = 1\n\x0cq = '\x0c'\n⟦x.add_(1)⟧\n", "p = 1\n\x0cq = '\x0c'\nx = x.add(1)\n"),
        ("p = 1\n\x0c⟦x.add_(1)⟧\n", "p = 1\n\x0cx = x.add(1)\n"),
        ("p = 1\n\x0c⟦x.add_(1)⟧; ⟦x.add_(2)⟧", "p = 1\n\x0cx = x.add(1); x = x.add(2)"),
        ("# -*- coding: latin-1 -*-\np = 'é'\n⟦x.add_(1)⟧\n", "# -*- coding: latin-1 -*-\np = 'é'\nx = x.add(1)\n"),
        ("# coding: ascii\np = 'é'; ⟦x.add_(1)⟧\n", "# coding: ascii\np = 'é'; x = x.add(1)\n"),
        ("p = 1 \t\n   \n⟦x.add_(1)⟧ \n\n\n", "p = 1 \t\n   \nx = x.add(1) \n\n\n"),
        ("if i:\n  p = 1\n  # c\n # d\n⟦x.add_(1)⟧\n", "if i:\n  p = 1\n  # c\n # d\nx = x.add(1)\n"),
        ("p = 1; \\\n  ⟦x.add_(1)⟧\n", "p = 1; \\\n  x = x.add(1)\n"),
        ("p = (1 # c\n\n  # d\n  )\n⟦x.add_(1)⟧;\n", "p = (1 # c\n\n  # d\n  )\nx = x.add(1);\n"),
        ("p = f'{y!r:>{i}}' 'a' rb'b'\n⟦x.add_(1)⟧\n".replace(" rb'b'", ""), "p = f'{y!r:>{i}}' 'a'\nx = x.add(1)\n"),
    ],
)
def test_every_other_byte_stays(text: str, expected: str) -> None:
    source, spans = marked(text)
    assert codemods.apply(source, [add(span) for span in spans]) == expected
    assert outcome(expected) == outcome(source)


def test_a_statement_put_in_front_of_a_page_break_keeps_it() -> None:
    source, spans = marked("p = 1\n\x0c\n\x0c⟦x.add_(1)⟧\n")
    assert codemods.apply(source, [CloneBefore(spans[0], "x")]) == "p = 1\n\x0c\nx = x.clone()\n\x0cx.add_(1)\n"


def test_a_second_pass_over_other_statements_changes_only_these() -> None:
    once = rewrite("⟦x.add_(1)⟧\ny += x\n", add)
    source, spans = marked(once.replace("y += x", "⟦y += x⟧"))
    assert codemods.apply(source, [OutOfPlaceAssign(span) for span in spans]) == "x = x.add(1)\ny = y + x\n"


def test_a_result_that_python_would_refuse_is_refused_here() -> None:
    source, spans = marked("def f(x):\n    ⟦x += 1⟧\n")
    with pytest.raises(CannotRewrite) as caught:
        codemods.apply(source, [OutOfPlaceAssign(spans[0], declare="global")])
    assert "would not compile" in caught.value.reason


def test_expressions_nested_too_deeply_are_refused() -> None:
    source, spans = marked("z = " + " + ".join(["x"] * 3000) + "\n⟦x.add_(1)⟧\n")
    with pytest.raises(CannotRewrite) as caught:
        codemods.apply(source, [add(spans[0])])
    assert "nested too deeply" in caught.value.reason


def test_replacing_a_keyword_glued_call_by_a_bare_name_is_refused() -> None:
    source, spans = marked("def f(x): return⟦(x).zero_()⟧\n")
    with pytest.raises(CannotRewrite) as caught:
        codemods.apply(source, [OutOfPlaceCall(spans[0], "torch.zeros_like({x})", None)])
    assert "no room" in caught.value.reason
