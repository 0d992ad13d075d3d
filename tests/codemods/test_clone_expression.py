"""The clone of an expression, in parentheses where precedence asks for them."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import CloneExpression

CASES = {
    "a name": ("see(⟦x⟧)\n", "see(x.clone())\n"),
    "a call": ("z = ⟦x.exp()⟧\n", "z = x.exp().clone()\n"),
    "an inner call": ("z = ⟦x.exp()⟧.sin()\n", "z = x.exp().clone().sin()\n"),
    "a subscript": ("z = ⟦x[0]⟧\n", "z = x[0].clone()\n"),
    "a sum": ("see(⟦x + y⟧)\n", "see((x + y).clone())\n"),
    "a sum in parentheses": ("z = (⟦x + y⟧) * 2\n", "z = (x + y).clone() * 2\n"),
    "a sum with its parentheses": ("z = ⟦(x + y)⟧ * 2\n", "z = (x + y).clone() * 2\n"),
    "a negation": ("z = ⟦-x⟧\n", "z = (-x).clone()\n"),
    "a power's operand": ("z = ⟦x⟧ ** 2\n", "z = x.clone() ** 2\n"),
    "a conditional expression": ("z = ⟦x if i else y⟧\n", "z = (x if i else y).clone()\n"),
    "a starred argument": ("see(*⟦x⟧)\n", "see(*x.clone())\n"),
    "a keyword argument": ("z = dict(p=⟦x⟧)\n", "z = dict(p=x.clone())\n"),
    "a loop's iterable": ("for r in ⟦x⟧: see(r)\n", "for r in x.clone(): see(r)\n"),
    "a return": ("def f(): return ⟦x⟧\nz = f()\n", "def f(): return x.clone()\nz = f()\n"),
    "a default": ("def f(p=⟦x⟧): return p\nz = f()\n", "def f(p=x.clone()): return p\nz = f()\n"),
    "a lambda's body": ("z = (lambda: ⟦x⟧)()\n", "z = (lambda: x.clone())()\n"),
    "an f-string": ("z = f'{⟦x⟧!s:>3}'\n", "z = f'{x.clone()!s:>3}'\n"),
    "no space after the keyword": ("def f(): return⟦-x⟧\nz = f()\n", "def f(): return(-x).clone()\nz = f()\n"),
    "lines in parentheses": ("z = (\n    ⟦x\n    + y⟧  # sum\n)\n", "z = (\n    x\n    + y  # sum\n).clone()\n"),
    "lines in brackets": ("z = [\n    ⟦x\n    .exp()⟧,\n]\n", "z = [\n    x\n    .exp().clone(),\n]\n"),
    "one inside another": ("z = ⟦⟦x⟧.exp()⟧\n", "z = x.clone().exp().clone()\n"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_expression_is_cloned(name: str) -> None:
    text, expected = CASES[name]
    result = rewrite(text, CloneExpression)
    assert result == expected
    assert outcome(result) == outcome(marked(text)[0])


@pytest.mark.parametrize(
    "text",
    [
        "⟦x⟧ = 1\n",
        "⟦x⟧ += 1\n",
        "for ⟦x⟧ in y: pass\n",
        "del ⟦x⟧\n",
        "see(⟦p⟧=1)\n",
        "x.⟦exp⟧()\n",
        "def ⟦f⟧(): pass\n",
        "def f(⟦p⟧): pass\n",
        "import ⟦os⟧\n",
        "with y as ⟦x⟧: pass\n",
    ],
)
def test_a_name_that_is_no_value_is_refused(text: str) -> None:
    assert "no value" in refusal(text, CloneExpression)
