"""Rows and columns to the editor's positions and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from inplace_fix.server.places import Ruler

TEXTS = st.text(st.sampled_from("ab é😀\n\r\f\u2028"), max_size=30)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)])
def test_columns_count_units_of_the_encoding(encoding: str, character: int) -> None:
    assert Ruler("é😀a = 1\n", encoding).position(1, 3) == Position(0, character)


@given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.data())
def test_every_place_comes_back_from_its_position(text: str, encoding: str, data: st.DataObject) -> None:
    ruler = Ruler(text, encoding)
    if not ruler.lines:
        return
    row = data.draw(st.integers(1, len(ruler.lines)))
    column = data.draw(st.integers(0, len(ruler.lines[row - 1].rstrip("\r\n"))))
    assert ruler.point(ruler.position(row, column)) == (row, column)


@pytest.mark.parametrize(("text", "end"), [("", (0, 0)), ("a\n", (1, 0)), ("a\nb😀", (1, 3))])
def test_what_lies_behind_the_end_becomes_the_end(text: str, end: tuple[int, int]) -> None:
    assert Ruler(text).position(len(text.split("\n")) + 1, 0) == Position(*end)


def test_a_position_inside_of_a_character_or_behind_its_line_does_no_harm() -> None:
    ruler = Ruler("😀a\n")
    assert ruler.point(Position(0, 1)) == (1, 0)
    assert ruler.point(Position(0, 99)) == (1, 2)
    assert ruler.point(Position(99, 0)) == (2, 0)
