"""The bytes that LibCST drops."""

from __future__ import annotations

import pytest

from codemods.lossless import carried_over, lines, shifted
from codemods.steps import CannotRewrite, ListAndStack, Span

PLACE = Span(1, 0, 1, 1)


def test_lines_end_as_pythons_tokenizer_ends_them() -> None:
    assert lines("a\r\nb\rc\n\x0cd\u2028e") == ["a\r\n", "b\r", "c\n", "\x0cd\u2028e"]


@pytest.mark.parametrize(
    ("source", "written", "result", "expected"),
    [
        ("\x0ca\nb\n", "a\nb\n", "a\nc\n", "\x0ca\nc\n"),
        ("\x0ca\nb\n", "a\nb\n", "c\nb\n", "\x0cc\nb\n"),
        ("a\n\x0c\nb\n", "a\n\nb\n", "a\n\nc\nd\n", "a\n\x0c\nc\nd\n"),
        ("a\rb\r", "a\rb", "a\rc", "a\rc\r"),
    ],
)
def test_only_lines_that_changed_are_taken_over(source: str, written: str, result: str, expected: str) -> None:
    assert carried_over(source, written, result, PLACE) == expected


def test_a_text_with_other_lines_is_refused() -> None:
    with pytest.raises(CannotRewrite, match="as it is"):
        carried_over("a\n\n", "a\n", "b\n", PLACE)


def test_every_span_of_a_step_moves_with_its_line() -> None:
    step = ListAndStack(Span(2, 1, 3, 4), "x", Span(1, 0, 1, 5), (Span(2, 2, 2, 3), Span(3, 2, 3, 4)))
    moved = shifted(step, "x = 1\n\x0cy, z\nabcd\n", "x = 1\ny, z\nabcd\n")
    assert moved == ListAndStack(Span(2, 0, 3, 4), "x", Span(1, 0, 1, 5), (Span(2, 1, 2, 2), Span(3, 2, 3, 4)))
