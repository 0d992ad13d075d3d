"""The replacement of an expression by text."""

from __future__ import annotations

import pytest
from rewritten import refusal, rewrite

from codemods.steps import CloneExpression, ReplaceExpression, Span


def by(text: str):
    def make(span: Span) -> ReplaceExpression:
        return ReplaceExpression(span, text)

    return make


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("z = ⟦x⟧\n", "y + 1", "z = y + 1\n"),
        ("z = ⟦x⟧.sum()\n", "y + 1", "z = (y + 1).sum()\n"),
        ("z = ⟦x⟧ * 2\n", "y + 1", "z = (y + 1) * 2\n"),
        ("z = ⟦x⟧ + 2\n", "y * 1", "z = y * 1 + 2\n"),
        ("z = 2 - ⟦x⟧\n", "y - 1", "z = 2 - (y - 1)\n"),
        ("f(⟦x⟧)\n", "y if a else b", "f(y if a else b)\n"),
        ("f(*⟦x⟧)\n", "y or z", "f(*y or z)\n"),
        ("f(p=⟦x⟧)\n", "(y := 1)", "f(p=(y := 1))\n"),
        ("z = ⟦x⟧\n", "(y := 1)", "z = (y := 1)\n"),
        ("z = ⟦x⟧.real\n", "1", "z = (1).real\n"),
        ("z = a and ⟦x⟧\n", "b or c", "z = a and (b or c)\n"),
        ("z = ⟦(x)⟧\n", "y + 1", "z = (y + 1)\n"),
        ("z = (\n    ⟦x⟧  # c\n)\n", "y + 1", "z = (\n    y + 1  # c\n)\n"),
        ("for r in ⟦x⟧: pass\n", "a, b", "for r in (a, b): pass\n"),
        ("z = [⟦x⟧ for q in r if ⟦w⟧]\n", "a if b else c", "z = [(a if b else c) for q in r if (a if b else c)]\n"),
    ],
)
def test_an_expression_is_replaced_with_the_parentheses_it_needs(text: str, new: str, expected: str) -> None:
    assert rewrite(text, by(new)) == expected


def test_text_that_is_no_expression_is_refused() -> None:
    assert "no expression" in refusal("z = ⟦x⟧\n", by("y +"))


def test_a_target_is_not_replaced() -> None:
    assert "no value" in refusal("⟦x⟧ = 1\n", by("y"))


def test_a_step_inside_what_is_replaced_is_refused() -> None:
    assert "another step" in refusal("z = ⟦f(⟦x⟧)⟧\n", by("y"), CloneExpression)
