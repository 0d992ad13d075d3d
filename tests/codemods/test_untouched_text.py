"""Random programs of oddly laid out statements: what is rewritten computes the same, what is not keeps every byte."""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rewritten import marked, outcome

import codemods
from codemods.steps import (
    CannotRewrite,
    CloneBefore,
    CloneExpression,
    DropFlag,
    FunctionalStore,
    NoGrad,
    OutArgument,
    OutOfPlaceAssign,
    OutOfPlaceCall,
    Span,
    Step,
)

Maker = Callable[[Span], Step]


def method(name: str, target: str | None) -> Maker:
    return lambda span: OutOfPlaceCall(span, f"{{x}}.{name}({{args}})", target)


def clone(target: str) -> Maker:
    return lambda span: CloneBefore(span, target)


def copied(span: Span) -> OutArgument:
    return OutArgument(span, "b")


def put(span: Span) -> FunctionalStore:
    return FunctionalStore(span, "torch.select_scatter({x}, {value}, 0, {index})", "a")


def bound(span: Span) -> DropFlag:
    return DropFlag(span, target="y")


# Statements in which each mark may or may not be rewritten. "~" stands for one more level of indentation.
STATEMENTS: list[tuple[str, list[Maker]]] = [
    ("⟦x.add_(1)⟧\n", [method("add", "x")]),
    ("⟦x.add_( y , # c, é\n~alpha=1 if i else 2 )⟧ # d\n", [method("add", "x")]),
    ("⟦x.mul_(a)⟧.sub_(x.mean())\n", [method("mul", "x")]),
    ("⟦⟦x.mul_(a)⟧.sub_(b)⟧;\n", [method("sub", "x"), method("mul", "x")]),
    ("p = 'é🔥'; ⟦x.add_(1)⟧ ; q = x.sum()\n", [method("add", "x")]),
    ("see(x.sum(), ⟦x.add_(1)⟧) # 🔥\n", [method("add", "x")]),
    ("see(y.sum(), ⟦y.mul_(2)⟧, \\\n~f'{⟦x.add_(1)⟧}')\n", [method("mul", "y"), method("add", "x")]),
    ("see(x, y, ⟦y.mul_(2)⟧)\n", [method("mul", "y")]),
    ("see(⟦self.h.add_(1)⟧, self.h)\n", [method("add", "self.h")]),
    (
        "if ⟦x.add_(1)⟧.sum() > 0: ⟦y += x⟧ # c\nelse: ⟦y -= x⟧\n",
        [method("add", "x"), OutOfPlaceAssign, OutOfPlaceAssign],
    ),
    ("for n in range(2): ⟦x += n⟧; ⟦y *= 2⟧\n", [OutOfPlaceAssign, OutOfPlaceAssign]),
    ("⟦y /= (a # one\n\n~# two\n~+ b)⟧\n", [OutOfPlaceAssign]),
    ("⟦y-=a-b⟧\n", [OutOfPlaceAssign]),
    ("⟦self.h  *=  \\\n~2⟧\n", [OutOfPlaceAssign]),
    ("⟦⟦y += ⟦a⟧⟧⟧\n", [clone("y"), OutOfPlaceAssign, CloneExpression]),
    ("⟦states[0].add_(1)⟧; ⟦y.add_(1)⟧ # c\n", [method("add", "states[0]"), clone("y")]),
    ("if i:\n~# c\n\n~⟦y.add_(1)⟧\n\n # d\n", [NoGrad]),
    ("while x.sum() < 9: x = x + 1; ⟦y.add_(1)⟧\n", [NoGrad]),
    ("⟦torch.add(x, y, # c\n~out=b, )⟧\n", [copied]),
    ("⟦a[1] = y[0]⟧; see(a)\n", [put]),
    ("if i: ⟦a[0] *= 2⟧\n", [put]),
    ("⟦F.relu(y, inplace=True)⟧ # c\n", [bound]),
    ("z = -⟦y⟧ ** 2, ⟦x + a⟧ if i else b\n", [CloneExpression, CloneExpression]),
    ("'''not a doc\n\n  string'''\n", []),
    ("class A:\n~t = torch.ones(2); ⟦t += 1⟧\n~def f(self):\n~~'doc'\n~~return self.t\n", [OutOfPlaceAssign]),
    ("def f(\u00b5):\n~⟦\u03bc.add_(1)⟧ # micro\n~return \u00b5\ny = see(f(y))\n", [clone("\u03bc")]),
    ("match i:\n~case 1: ⟦x += 1⟧\n~case _:\n~~pass\n", [OutOfPlaceAssign]),
    ("with torch.enable_grad(): ⟦x.add_(1)⟧\n", [method("add", "x")]),
    ("try: ⟦x.add_(1)⟧\nfinally:\n~⟦y.add_(1)⟧\n", [method("add", "x"), method("add", "y")]),
    ("# only a comment, é\n", []),
    ("\n", []),
    (" \t\n", []),
]


@st.composite
def programs(draw: st.DrawFn) -> list[tuple[str, list[Step], int]]:
    """Chunks of source, each with its steps (counted from the chunk's own first line) and its number of lines."""
    indent = draw(st.sampled_from(["    ", "\t", "  "]))
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]]))
    chunks: list[tuple[str, list[Step], int]] = [(f"if 1:{ends[0]}{indent}pass{ends[0]}", [], 2)]
    for text, makers in draw(st.lists(st.sampled_from(STATEMENTS), max_size=6)):
        laid_out = text.replace("~", indent)
        if draw(st.booleans()) and "\n" not in laid_out[:-1] and makers:
            laid_out = f"if i:\n{indent}{laid_out}"
        laid_out = "".join(part + (draw(st.sampled_from(ends)) if part else "") for part in laid_out.split("\n")[:-1])
        source, spans = marked(laid_out)
        chosen = [maker(span) for maker, span in zip(makers, spans, strict=True) if draw(st.booleans())]
        chunks.append((source, chosen, len(source.splitlines())))
        # Blocks of neighbouring chunks would join, so that something stands between any two.
        chunks.append((f"seen.append(0){ends[0]}", [], 1))
    if draw(st.booleans()):
        last, steps, count = chunks.pop()
        chunks.append((last.rstrip("\r\n"), steps, count))
    return chunks


def moved(step: Step, lines: int) -> Step:
    span = step.span
    fields = {name: getattr(step, name) for name in step.__dataclass_fields__}
    fields["span"] = Span(span.line + lines, span.column, span.end_line + lines, span.end_column)
    return type(step)(**fields)


@settings(max_examples=150, deadline=None, print_blob=True)
@given(programs())
def test_a_program_is_rewritten_as_its_statements_are_and_nothing_else(
    chunks: list[tuple[str, list[Step], int]],
) -> None:
    head = chunks[0][0]
    source, expected = "", ""
    steps: list[Step] = []
    line = 0
    for text, own, count in chunks:
        source += text
        steps.extend(moved(step, line) for step in own)
        line += count
        alone = codemods.apply(head + text, [moved(step, chunks[0][2]) for step in own]) if own else head + text
        expected += alone.removeprefix(head)
    result = codemods.apply(source, steps)
    assert result == expected
    assert outcome(result) == outcome(source)


def sites(source: str) -> list[Step]:
    """A step for every augmented assignment and every call with a trailing underscore, as a planner would make it."""
    lines = source.splitlines(keepends=True)

    def span(node: ast.expr | ast.stmt) -> Span:
        def column(line: int, offset: int) -> int:
            return len(lines[line - 1].encode()[:offset].decode())

        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(
            node.lineno,
            column(node.lineno, node.col_offset),
            node.end_lineno,
            column(node.end_lineno, node.end_col_offset),
        )

    steps: list[Step] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AugAssign):
            steps.append(OutOfPlaceAssign(span(node)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name.endswith("_") and not name.startswith("_"):
                target = ast.unparse(node.func.value)
                steps.append(OutOfPlaceCall(span(node), f"{{x}}.{name[:-1]}({{args}})", target))
    return steps


REAL = ["nn/functional.py", "optim/adam.py", "nn/utils/rnn.py", "distributions/multivariate_normal.py", "nn/init.py"]


@pytest.mark.parametrize("name", REAL)
def test_in_real_source_only_the_lines_of_rewritten_statements_change(name: str) -> None:
    source = (Path(torch.__file__).parent / name).read_text(encoding="utf-8")
    prepared = codemods.prepare(source)
    good: list[Step] = []
    for step in sites(source):
        try:
            prepared.apply([step])
        except CannotRewrite:
            continue
        good.append(step)
    random.Random(0).shuffle(good)
    result = prepared.apply(good)
    ast.parse(result)
    named = {line for step in good for line in range(step.span.line, step.span.end_line + 1)}
    before, after = source.splitlines(keepends=True), result.splitlines(keepends=True)
    for kind, start, end, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            assert set(range(start + 1, end + 1)) <= named
    assert len(good) > 1
