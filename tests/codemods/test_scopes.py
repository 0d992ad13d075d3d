"""Where names live."""

from __future__ import annotations

import libcst as cst
import pytest
from rewritten import marked

from codemods.places import Tree, is_expression
from codemods.scopes import no_walrus, shared, unbound


def at(text: str):
    source, (span,) = marked(text)
    return Tree(cst.parse_module(source)).find(span, is_expression, "expression")


BINDINGS = [
    "x = 1",
    "x: int = 1",
    "x += 1",
    "(x := 1)",
    "y, (x, *z) = 1, (2,)",
    "[x] = y",
    "for x in y: pass",
    "for a, x in y: pass",
    "with y as x: pass",
    "with y as (a, x): pass",
    "import x",
    "import x.y",
    "import y as x",
    "from y import x",
    "from y import z as x",
    "try: pass\n    except E as x: pass",
    "def x(): pass",
    "class x: pass",
    "del x",
    "match y:\n        case x: pass",
    "match y:\n        case [*x]: pass",
    "match y:\n        case {**x}: pass",
    "match y:\n        case A() as x: pass",
    "global x",
    "if y:\n        x = 1",
    "[(x := 1) for y in z]",
]


@pytest.mark.parametrize("statement", BINDINGS)
def test_a_function_binds_a_name_by(statement: str) -> None:
    assert unbound(at(f"def f():\n    {statement}\n    ⟦g⟧\n"), "x") == ""


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    y = 1\n    ⟦g⟧\n",
        "def f():\n    [x for x in y]\n    ⟦g⟧\n",
        "def f():\n    def h(x): x = 1\n    ⟦g⟧\n",
        "def f():\n    class A: x = 1\n    ⟦g⟧\n",
        "def f():\n    y = lambda: (x := 1)\n    ⟦g⟧\n",
        "def f():\n    x.y = x[0] = 1\n    ⟦g⟧\n",
        "def f():\n    import y.x\n    ⟦g⟧\n",
        "x = 1\nclass A:\n    ⟦g⟧\n",
        "def f(x):\n    def h():\n        ⟦g⟧\n",
        "def f(x):\n    return lambda y: ⟦g⟧\n",
    ],
)
def test_a_name_of_another_scope_is_not_bound_here(text: str) -> None:
    assert unbound(at(text), "x") != ""


@pytest.mark.parametrize(
    "text",
    [
        "⟦g⟧\n",
        "def f(x): ⟦g⟧\n",
        "def f(*x): ⟦g⟧\n",
        "def f(*, x=1): ⟦g⟧\n",
        "y = lambda x: ⟦g⟧\n",
        "def f(a, /, **x): ⟦g⟧\n",
    ],
)
def test_module_level_and_parameters_are_bound(text: str) -> None:
    assert unbound(at(text), "x") == ""


def test_two_spellings_of_a_name_are_one() -> None:
    assert unbound(at("def f(\u00b5): ⟦g⟧\n"), "\u03bc") == ""


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("def f(x):\n    ⟦g⟧\n", False),
        ("def f(x):\n    h(x)\n    ⟦g⟧\n", False),
        ("def f(x):\n    h = lambda: x\n    ⟦g⟧\n", True),
        ("def f(x):\n    def h(): return x\n    ⟦g⟧\n", True),
        ("def f():\n    global x\n    ⟦g⟧\n", True),
        ("x = 1\n⟦g⟧\n", True),
    ],
)
def test_a_call_may_see_a_variable_that_others_share(text: str, seen: bool) -> None:
    assert shared(at(text), "x") is seen


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("y = ⟦g⟧\n", True),
        ("y = [⟦g⟧ for z in w]\n", True),
        ("y = [z for z in w if ⟦g⟧]\n", True),
        ("y = [⟦g⟧ for x in w]\n", False),
        ("y = [[⟦g⟧ for z in w] for x in w]\n", False),
        ("y = [⟦g⟧ for a, x in w]\n", False),
        ("y = [z for z in ⟦g⟧]\n", False),
        ("y = [z for v in w for z in ⟦g⟧]\n", False),
        ("class A:\n    y = ⟦g⟧\n", True),
        ("class A:\n    y = [⟦g⟧ for z in w]\n", False),
        ("class A:\n    def f(self): return [⟦g⟧ for z in w]\n", True),
        ("class A:\n    y = lambda: [⟦g⟧ for z in w]\n", True),
        ("y: ⟦g⟧ = 1\n", False),
    ],
)
def test_a_walrus_is_allowed_where_python_allows_it(text: str, allowed: bool) -> None:
    assert (no_walrus(at(text), "x") == "") is allowed
    source = marked(text)[0].replace("g", "(x := 1)")
    if ": (" not in source:
        try:
            compile(source, "<test>", "exec")
        except SyntaxError:
            assert not allowed
        else:
            assert allowed
