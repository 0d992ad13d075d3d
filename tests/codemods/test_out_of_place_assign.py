"""The rewrite of augmented assignments: all operators, all values, one evaluation of everything."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import CloneBefore, OutOfPlaceAssign, OutOfPlaceCall, Span


def cast(span: Span) -> OutOfPlaceAssign:
    return OutOfPlaceAssign(span, cast=True)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "**"])
@pytest.mark.parametrize("value", ["y + a", "y * a", "-y", "y ** 2", "(y)", "y if i else a", "y.abs()", "y - a - b"])
def test_an_arithmetic_operator_keeps_its_right_side_whole(operator: str, value: str) -> None:
    text = f"y = y.abs() + 2\n⟦x {operator}= {value}⟧\n"
    source, _ = marked(text)
    result = rewrite(text, OutOfPlaceAssign)
    assert f"x = x {operator} " in result
    assert outcome(result) == outcome(source)


@pytest.mark.parametrize("operator", ["&", "|", "^", "<<", ">>"])
@pytest.mark.parametrize("value", ["q & 3", "q | 4", "q ^ 5", "q << 1", "q + 1", "~q", "q if i else 2"])
def test_a_bitwise_operator_keeps_its_right_side_whole(operator: str, value: str) -> None:
    text = f"p, q = torch.arange(6), torch.arange(6) % 3\n⟦p {operator}= {value}⟧\n"
    source, _ = marked(text)
    assert outcome(rewrite(text, OutOfPlaceAssign)) == outcome(source)


CASES = {
    "a quotient of a sum": ("⟦x /= a + b⟧\n", "x = x / (a + b)\n"),
    "a power of a negative": ("⟦x **= -y⟧\n", "x = x ** -y\n"),
    "a difference of a difference": ("⟦x -= a - b⟧\n", "x = x - (a - b)\n"),
    "a conditional expression": ("⟦x += y if i else a⟧\n", "x = x + (y if i else a)\n"),
    "a tuple": ("t = (1,)\n⟦t += 2, 3⟧\n", "t = (1,)\nt = t + (2, 3)\n"),
    "a starred tuple": ("t = (1,)\n⟦t += *[2], 3⟧\n", "t = (1,)\nt = t + (*[2], 3)\n"),
    "a walrus": ("⟦x += (q := 3)⟧\n", "x = x + (q := 3)\n"),
    "an attribute": ("⟦self.h *= 2⟧\n", "self.h = self.h * 2\n"),
    "a container's slot": ("⟦states[0] *= 2⟧\n", "states[0] = states[0] * 2\n"),
    "a target in parentheses": ("⟦(x) += 1⟧\n", "(x) = x + 1\n"),
    "an index with effects": (
        "turn = iter([1, 0])\n⟦states[next(turn)] += a⟧  # c\n",
        "turn = iter([1, 0])\nindex = next(turn)\nstates[index] = states[index] + a  # c\n",
    ),
    "an owner and an index with effects": (
        "self.s = states\n⟦see(self).s[see(1)] += see(a)⟧\n",
        "self.s = states\nowner = see(self).s\nindex = see(1)\nowner[index] = owner[index] + see(a)\n",
    ),
    "no spaces": ("⟦x+=a⟧\n", "x=x+a\n"),
    "many spaces": ("⟦x  +=  a⟧\n", "x  = x +  a\n"),
    "a line continuation": ("⟦x += \\\n    a - b⟧\n", "x = x + \\\n    (a - b)\n"),
    "a value over lines": (
        "⟦x += (\n    a  # one\n    + b  # two\n)⟧\n",
        "x = x + (\n    a  # one\n    + b  # two\n)\n",
    ),
    "a one-line suite": ("if i: ⟦x += 1⟧; y = 2\n", "if i: x = x + 1; y = 2\n"),
    "a for loop on one line": ("for n in range(3): ⟦x += n⟧\n", "for n in range(3): x = x + n\n"),
    "an else on one line": ("if not i: pass\nelse: ⟦x -= 1⟧\n", "if not i: pass\nelse: x = x - 1\n"),
    "statements between semicolons": ("p = 1; ⟦x += p⟧; q = x\n", "p = 1; x = x + p; q = x\n"),
    "neighbouring statements": ("⟦x += 1⟧\n⟦y -= x⟧\n", "x = x + 1\ny = y - x\n"),
    "a class body": (
        "class A:\n    t = torch.ones(2)\n    ⟦t += 1⟧\nz = A.t\n",
        "class A:\n    t = torch.ones(2)\n    t = t + 1\nz = A.t\n",
    ),
    "a match case": ("match i:\n    case 1: ⟦x += 1⟧\n", "match i:\n    case 1: x = x + 1\n"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_augmented_assignment_becomes_plain_with(name: str) -> None:
    text, expected = CASES[name]
    source, _ = marked(text)
    result = rewrite(text, OutOfPlaceAssign)
    assert result == expected
    after = outcome(result)
    for helper in ("index", "owner"):
        after.pop(helper, None)
    assert after == outcome(source)


def test_a_yield_stays_the_operand() -> None:
    text = "def f(x):\n    ⟦x += yield⟧\n    yield x\ng = f(x.clone())\nnext(g)\nz = g.send(y)\n"
    source, _ = marked(text)
    result = rewrite(text, OutOfPlaceAssign)
    assert "x = x + (yield)\n" in result
    assert outcome(result) == outcome(source)


def test_an_await_stays_the_operand() -> None:
    text = (
        "import asyncio\nasync def one(): return y\n"
        "async def f(x):\n    ⟦x **= await one()⟧\n    return x\nz = asyncio.run(f(a.clone()))\n"
    )
    source, _ = marked(text)
    result = rewrite(text, OutOfPlaceAssign)
    assert "x = x ** await one()\n" in result
    assert outcome(result) == outcome(source)


def test_a_lambda_gets_parentheses() -> None:
    assert rewrite("⟦x -= lambda: 0⟧\n", OutOfPlaceAssign) == "x = x - (lambda: 0)\n"


def test_matrix_multiplication_is_written_out_too() -> None:
    assert rewrite("⟦x @= a + b⟧\n", OutOfPlaceAssign) == "x = x @ (a + b)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = x.half()\n⟦x += y⟧\n", "x = x.half()\nx = (x + y).to(x.dtype)\n"),
        ("self.h = self.h.half()\n⟦self.h += y⟧\n", "self.h = self.h.half()\nself.h = (self.h + y).to(self.h.dtype)\n"),
    ],
)
def test_a_cast_keeps_the_targets_dtype(text: str, expected: str) -> None:
    source, _ = marked(text)
    assert rewrite(text, cast) == expected
    assert outcome(expected) == outcome(source)


def test_a_call_in_the_value_that_writes_the_target_comes_first() -> None:
    text = "⟦x += see(⟦x.mul_(2)⟧)⟧\n"
    source, _ = marked(text)
    result = rewrite(text, OutOfPlaceAssign, lambda span: OutOfPlaceCall(span, "{x}.mul({args})", "x"))
    assert result == "x = x.mul(2)\nx = x + see(x)\n"
    assert outcome(result) == outcome(source)


def test_a_global_target_is_declared() -> None:
    text = "def f():\n    ⟦n += 1⟧\nn = x * 1\n"
    result = rewrite(text, lambda span: OutOfPlaceAssign(span, declare="global"))
    assert result == "def f():\n    global n\n    n = n + 1\nn = x * 1\n"


def test_another_statement_is_refused() -> None:
    assert "no augmented assignment" in refusal("⟦x = 1⟧\n", OutOfPlaceAssign)


def test_two_rewrites_of_one_statement_are_refused() -> None:
    def stores(span: Span) -> object:
        from codemods.steps import FunctionalStore

        return FunctionalStore(span, "{value}", "x")

    assert "different things" in refusal("⟦⟦x[0] += 1⟧⟧\n", OutOfPlaceAssign, stores)  # type: ignore[arg-type]


def test_a_clone_can_go_before_the_rewritten_statement() -> None:
    result = rewrite("⟦⟦x += y⟧⟧\n", OutOfPlaceAssign, lambda span: CloneBefore(span, "y"))
    assert result == "y = y.clone()\nx = x + y\n"
