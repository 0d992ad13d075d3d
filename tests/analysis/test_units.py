"""Units: lines, columns and texts of nodes as Python and people count them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from inplace_fix.analysis.units import Unit, parse, split_lines
from inplace_fix.nouns import Span

PATH = Path("folder/unit.py")


def last(unit: Unit) -> ast.expr:
    """The value of the last statement."""
    statement = unit.tree.body[-1]
    assert isinstance(statement, (ast.Expr, ast.Assign))
    return statement.value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_of_python_ends_a_line(end: str) -> None:
    assert split_lines(f"a{end}{end}b") == [f"a{end}", end, "b"]


def test_a_form_feed_ends_no_line() -> None:
    assert split_lines("a\x0cb\u2028c\n") == ["a\x0cb\u2028c\n"]


def test_columns_count_code_points_and_not_bytes() -> None:
    unit = parse(PATH, "é = '日本'; größe = f(é)\n")
    assert unit.span(last(unit)) == Span(1, 18, 1, 22)
    assert unit.segment(last(unit)) == "f(é)"


def test_columns_after_characters_outside_the_basic_plane() -> None:
    unit = parse(PATH, "s = '😀'; y = x.exp()\n")
    assert unit.segment(last(unit)) == "x.exp()"


def test_a_segment_may_span_lines_that_end_in_crlf() -> None:
    unit = parse(PATH, "y = f(\r\n    é,\r\n    2)\r\n")
    assert unit.segment(last(unit)) == "f(\r\n    é,\r\n    2)"
    assert unit.span(last(unit)) == Span(1, 4, 3, 6)


def test_a_place_names_the_file() -> None:
    unit = parse(PATH, "x\n")
    assert unit.place(last(unit)).path == PATH


def test_the_statement_of_a_node_is_the_innermost() -> None:
    unit = parse(PATH, "if a:\n    y = [f(x) for x in xs]\n")
    call = next(node for node in ast.walk(unit.tree) if isinstance(node, ast.Call))
    assert unit.segment(unit.statement(call)) == "y = [f(x) for x in xs]"  # type: ignore[arg-type]


def test_the_tree_itself_has_no_parent() -> None:
    unit = parse(PATH, "x = 1\n")
    assert unit.parent(unit.tree) is None
    assert unit.parent(unit.tree.body[0]) is unit.tree


def test_a_file_is_a_module_of_its_own_name_unless_told_otherwise() -> None:
    assert parse(PATH, "").module == "unit"
    assert parse(PATH, "", "folder.unit").module == "folder.unit"


def test_a_syntax_error_is_handed_on() -> None:
    with pytest.raises(SyntaxError):
        parse(PATH, "print 'two'\n")
