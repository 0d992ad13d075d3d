"""Finding nodes by span."""

from __future__ import annotations

import libcst as cst
import pytest
from rewritten import marked

from codemods.places import Tree, is_call, is_expression, is_statement, scope_index, statement_index
from codemods.steps import CannotRewrite, Span


def found(text: str, accepts=is_expression) -> tuple[str, tuple[cst.CSTNode, ...]]:
    source, (span,) = marked(text)
    tree = Tree(cst.parse_module(source))
    trail = tree.find(span, accepts, "construct")
    assert tree.write(tree.module) == source
    return tree.code(trail[-1]), trail


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a = ⟦b⟧\n", "b"),
        ("a = (⟦b + c⟧)\n", "(b + c)"),
        ("a = ⟦(b + c)⟧\n", "(b + c)"),
        ("a = ⟦((b + c))⟧\n", "((b + c))"),
        ("a = (⟦(b + c)⟧)\n", "((b + c))"),
        ("a = ⟦b, c⟧\n", "b, c"),
        ("a = ⟦(b, c)⟧\n", "(b, c)"),
        ("@⟦d(a)⟧\ndef f(): pass\n", "d(a)"),
        ("class A:\n    @⟦d(a)⟧\n    def f(): pass\n", "d(a)"),
        ("def f(a=⟦b⟧, *, c: d = 1): pass\n", "b"),
        ("def f(a, *, c=⟦b⟧): pass\n", "b"),
        ("def f(a: ⟦b⟧): pass\n", "b"),
        ("def f() -> ⟦b⟧: pass\n", "b"),
        ("class A(⟦b⟧, metaclass=c): pass\n", "b"),
        ("if a: pass\nelif ⟦b⟧: pass\n", "b"),
        ("f'{a}{⟦b⟧:{c}}'\n", "b"),
        ("f'{a:{⟦b⟧}}'\n", "b"),
        ("a[⟦b⟧:c]\n", "b"),
        ("a = lambda b=⟦c⟧: d\n", "c"),
        ("with a as b, ⟦c⟧: pass\n", "c"),
        ("p = 'é🔥'; a = ⟦b⟧\n", "b"),
        ("'''é\n🔥'''; a = ⟦b⟧\n", "b"),
        ("x = 1\r\n\r\nif a:\r\n\tb = ⟦c⟧\r\n", "c"),
        ("# c\n\n\nx = 1\n# d\nif a:\n    pass\n    b = ⟦c⟧", "c"),
    ],
)
def test_an_expression_is_found_by_its_exact_extent(text: str, code: str) -> None:
    assert found(text)[0] == code


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("⟦a += 1⟧\n", cst.AugAssign),
        ("b; ⟦a⟧; c\n", cst.Expr),
        ("if a: ⟦b = 1⟧\n", cst.Assign),
        ("⟦if a:\n    b\nelse:\n    c⟧\n", cst.If),
        ("if a: b\n⟦elif c: d⟧\n", cst.If),
        ("⟦@d\ndef f():\n    pass⟧\n", cst.FunctionDef),
        ("@d\n⟦def f():\n    pass⟧\n", cst.FunctionDef),
        ("class A:\n    @d\n    ⟦async def f(self): pass⟧\n", cst.FunctionDef),
        ("try: a\nexcept B: ⟦c⟧\n", cst.Expr),
        ("match a:\n    case b: ⟦c⟧\n", cst.Expr),
    ],
)
def test_a_statement_is_found_by_its_exact_extent(text: str, kind: type[cst.CSTNode]) -> None:
    assert isinstance(found(text, is_statement)[1][-1], kind)


def test_the_place_of_what_is_found_is_the_span_that_was_asked_for() -> None:
    source, (span,) = marked("# c\nif a:\n    b = f(c)\n    d = ⟦g(h)⟧\n")
    tree = Tree(cst.parse_module(source))
    assert tree.span(tree.find(span, is_call, "call")) == span


def test_constructs_are_listed_by_the_line_on_which_they_begin() -> None:
    tree = Tree(cst.parse_module("x\nf(a)(b); g(\n  h())\n"))
    assert tree.starting_at(2, None, is_call) == [Span(2, 0, 2, 4), Span(2, 0, 2, 7), Span(2, 9, 3, 6)]
    assert tree.starting_at(2, 9, is_call) == [Span(2, 9, 3, 6)]
    assert tree.starting_at(3, None, is_call) == [Span(3, 2, 3, 5)]


@pytest.mark.parametrize("span", [Span(1, 0, 1, 2), Span(2, 4, 2, 5), Span(9, 0, 9, 1), Span(1, 4, 1, 6)])
def test_a_span_that_no_construct_fills_is_refused_with_its_place(span: Span) -> None:
    tree = Tree(cst.parse_module("x = y\n"))
    with pytest.raises(CannotRewrite) as caught:
        tree.find(span, is_expression, "expression")
    assert caught.value.reason == f"there is no expression at line {span.line}, column {span.column + 1}"


def test_the_enclosing_statement_and_scope_are_told_from_the_trail() -> None:
    trail = found("class A:\n    def f(self, p=1):\n        if a:\n            return ⟦b⟧\n")[1]
    assert isinstance(trail[statement_index(trail)], cst.Return)
    scope = trail[scope_index(trail)]
    assert isinstance(scope, cst.FunctionDef)
    default = found("class A:\n    def f(self, p=⟦b⟧): pass\n")[1]
    assert isinstance(default[scope_index(default)], cst.ClassDef)
    assert scope_index(found("@⟦d⟧\ndef f(): pass\n")[1]) == 0
