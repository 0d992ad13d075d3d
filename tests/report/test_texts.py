"""Quoted lines and shown names."""

from __future__ import annotations

from pathlib import Path

import pytest
from findings import place

from inplace_fix.nouns import Place, Span
from inplace_fix.report.texts import Texts, shown, where


def test_lines_are_those_that_python_counts() -> None:
    path = Path("m.py")
    texts = Texts({(path, None): "a\x0cb\r\nc\u2028d\re"})
    assert texts.lines(place(path, 1)) == ["a\x0cb\r\n", "c\u2028d\r", "e"]
    assert [texts.line(place(path, row)) for row in (1, 3, 4)] == ["a\x0cb", "e", ""]


def test_a_file_that_is_not_at_hand_is_read_and_one_that_cannot_be_is_empty(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    texts = Texts({})
    assert texts.line(place(tmp_path / "m.py", 2)) == "x = 'é'"
    assert texts.line(place(tmp_path / "none.py", 1)) == ""


def test_a_path_below_the_current_folder_is_shown_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "a" / "m.py") == "a/m.py"
    assert shown(tmp_path.parent / "m.py") == (tmp_path.parent / "m.py").as_posix()
    assert where(place(tmp_path / "m.py", 3, 4)) == "m.py:3:5"
    assert where(Place(tmp_path / "n.ipynb", Span(3, 4, 3, 5), 2)) == "n.ipynb:cell 2:3:5"
