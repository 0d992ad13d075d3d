"""Precedence, purity and names."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from codemods.syntax import OR, alone, binary, direct, held, mentions, parse, parse_targets, pure, receiver, roots, same

code = cst.Module([]).code_for_node
VALUES = [
    "a",
    "1",
    "1.5",
    "'s'",
    "'s' 't'",
    "a.b",
    "a(b)",
    "a[b]",
    "-a",
    "not a",
    "a ** b",
    "a * b",
    "a + b",
    "a << b",
    "a & b",
    "a ^ b",
    "a | b",
    "a < b",
    "a and b",
    "a or b",
    "a if b else c",
    "lambda: a",
    "(a := b)",
    "a, b",
    "[a]",
    "{a: b}",
    "{*a}",
    "(yield)",
    "(a for b in c)",
]
OPERATORS = {
    "+": cst.Add,
    "-": cst.Subtract,
    "*": cst.Multiply,
    "@": cst.MatrixMultiply,
    "/": cst.Divide,
    "//": cst.FloorDivide,
    "%": cst.Modulo,
    "**": cst.Power,
    "<<": cst.LeftShift,
    ">>": cst.RightShift,
    "&": cst.BitAnd,
    "|": cst.BitOr,
    "^": cst.BitXor,
}


def tree(text: str) -> str:
    return ast.dump(ast.parse(text.strip(), mode="eval"))


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize("value", VALUES)
def test_both_sides_of_an_operator_stay_whole(symbol: str, value: str) -> None:
    made = code(binary(parse(value), OPERATORS[symbol](), parse(value)))
    assert tree(made) == tree(f"({value}) {symbol} ({value})")


@pytest.mark.parametrize("value", VALUES)
def test_a_receiver_stays_whole_before_a_dot(value: str) -> None:
    assert tree(code(receiver(parse(value))) + ".x") == tree(f"({value}).x")


def test_no_parentheses_are_put_where_none_are_needed() -> None:
    assert code(receiver(parse("a.b(c)[d]"))) == "a.b(c)[d]"
    assert code(binary(parse("a * b"), cst.Add(), parse("c * d"))) == "a * b + c * d"
    assert code(binary(parse("a - b"), cst.Subtract(), parse("c"))) == "a - b - c"
    assert code(held(parse("a or b"), OR)) == "a or b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a)", "(a)"),
        ("a\n.b", "(a\n.b)"),
        ("f(\n  a)", "f(\n  a)"),
        ("'''a\nb'''", "'''a\nb'''"),
        ("a + \\\n b", "a + \\\n b"),
        ("a, b", "(a, b)"),
        ("lambda: 0", "lambda: 0"),
    ],
)
def test_a_value_that_stands_alone_gets_parentheses_only_for_its_line_ends(text: str, expected: str) -> None:
    value = cst.parse_expression(f"[{text}]")
    assert isinstance(value, cst.List)
    inner = value.elements[0].value if len(value.elements) == 1 else cst.Tuple(value.elements, lpar=(), rpar=())
    assert code(alone(inner, text)) == expected


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a", True),
        ("a.b[c].d", True),
        ("a + -b < c", True),
        ("(a, [b], {c: d})", True),
        ("f'{a}'", True),
        ("lambda: f()", True),
        ("lambda a=f(): a", False),
        ("f()", False),
        ("a[f()]", False),
        ("(a := b)", False),
        ("[a for a in b]", False),
        ("[*a]", False),
        ("(yield)", False),
        ("f'{g()}'", False),
    ],
)
def test_only_what_has_no_effects_is_pure(text: str, answer: bool) -> None:
    assert pure(parse(text)) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a", True),
        ("a.b", True),
        ("a[0]", True),
        ("a[-1, 1:, ...].b", True),
        ("a[i]", False),
        ("a + b", False),
        ("f(a)", False),
    ],
)
def test_only_loads_are_direct(text: str, answer: bool) -> None:
    assert direct(parse(text)) is answer


@pytest.mark.parametrize(
    ("target", "expression", "answer"),
    [
        ("x", "f(x)", True),
        ("x", "x.y + z", True),
        ("x", "f(x=1)", False),
        ("x", "a.x", False),
        ("x", "lambda: x", True),
        ("self.h", "self.h[0]", True),
        ("self.h", "self.k", False),
        ("self.h", "f(self)", False),
        ("states[0]", "states[1]", True),
        ("states[0]", "other[0]", False),
        ("self.s[i].t", "self.s", True),
        ("v, i", "i + 1", True),
        ("\u00b5", "\u03bc", True),
    ],
)
def test_a_mention_is_the_target_or_its_container(target: str, expression: str, answer: bool) -> None:
    assert mentions(parse(expression), roots(parse(target))) is answer


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("a . b", "a.b", True),
        ("(a)", "a", True),
        ("a[ 0 ]", "a[0]", True),
        ("a", "b", False),
        ("\u00b5", "\u03bc", True),
        ("a(", "a(", True),
    ],
)
def test_layout_does_not_make_two_expressions_different(one: str, other: str, answer: bool) -> None:
    assert same(one, other) is answer


@pytest.mark.parametrize("text", ["a +", "", "a b", "a = b"])
def test_text_that_is_no_expression_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="no expression"):
        parse(text)


@pytest.mark.parametrize("text", ["a + b", "f()", "1", "lambda: 0"])
def test_text_that_cannot_be_assigned_to_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be assigned"):
        parse_targets(text)
