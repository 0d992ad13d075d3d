"""Edits made in a text, and the lines of a mini-diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_fix.nouns import Edit, Place, Span
from inplace_fix.report.edits import apply, changed_lines

TEXT = "aé𝔘b\r\nsecond\nthird"


def edit(span: tuple[int, int, int, int], content: str) -> Edit:
    return Edit(Place(Path("m.py"), Span(*span)), content)


@pytest.mark.parametrize(
    ("edits", "after"),
    [
        ([edit((1, 3, 1, 4), "X")], "aé𝔘X\r\nsecond\nthird"),
        ([edit((1, 0, 1, 0), "# ")], "# aé𝔘b\r\nsecond\nthird"),
        ([edit((2, 0, 3, 0), "")], "aé𝔘b\r\nthird"),
        ([edit((3, 5, 3, 5), "\nfourth")], TEXT + "\nfourth"),
        ([edit((4, 0, 4, 0), "!")], TEXT + "!"),
        ([edit((1, 0, 1, 1), "A"), edit((3, 0, 3, 1), "T"), edit((2, 0, 2, 6), "2")], "Aé𝔘b\r\n2\nThird"),
    ],
)
def test_edits_are_made_by_rows_and_code_points(edits: list[Edit], after: str) -> None:
    assert apply(TEXT, edits) == after


def test_a_mini_diff_shows_changed_lines_with_their_rows() -> None:
    old, new = ["a\n", "b\n", "c\n", "d\n"], ["a\n", "B\n", "B2\n", "c\n", "D\n"]
    assert changed_lines(old, new) == [("-", 2, "b"), ("+", 2, "B"), ("+", 3, "B2"), ("-", 4, "d"), ("+", 5, "D")]
    assert changed_lines(old, old) == []
