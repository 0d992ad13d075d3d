"""Notebooks as one text, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from findings import finding, place

from inplace_fix.notebook import NotebookError, read_notebook
from inplace_fix.nouns import Place, Span
from inplace_fix.source import SourceError

HERE = Path("n.ipynb")


def data(*sources: str, bom: bytes = b"") -> bytes:
    cells: list[dict[str, object]] = [{"cell_type": "markdown", "source": "text"}]
    for source in sources:
        output = {"output_type": "stream", "text": ["1\n"]}
        cells.append({"cell_type": "code", "outputs": [output], "source": source.splitlines(keepends=True)})
    return bom + json.dumps({"cells": cells, "nbformat": 4}, indent=1).encode() + b"\n"


def row_of(text: str, line: str) -> int:
    return text.split("\n").index(line) + 1


def test_cells_become_one_text_in_order() -> None:
    notebook = read_notebook(data("x = 1", "%time 2\ny = x"), HERE)
    names: dict[str, object] = {}
    exec(notebook.text, names)
    assert names["y"] == 1


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_an_edit_comes_back_in_its_cell_and_nothing_else_changes(bom: bytes) -> None:
    before = data("x = 1", "!ls\ny = 2\n", "z = 3", bom=bom)
    notebook = read_notebook(before, HERE)
    assert notebook.encoded(notebook.text) == before
    after = notebook.encoded(notebook.text.replace("y = 2\n", "y = 2\ny = 3\n"))
    assert after == data("x = 1", "!ls\ny = 2\ny = 3\n", "z = 3", bom=bom)


def test_a_place_is_led_to_its_cell() -> None:
    notebook = read_notebook(data("x = 1", "a\nb\nc"), HERE)
    row = row_of(notebook.text, "b")
    saved = place(HERE, row_of(notebook.text, "x = 1"), 0, 5)
    moved = notebook.placed(finding(HERE, row, 0, 1, saved=saved, replacement="B"))
    assert moved.place == Place(HERE, Span(2, 0, 2, 1), 3)
    assert moved.related[0].place == Place(HERE, Span(1, 0, 1, 5), 2)
    assert moved.fix is not None
    assert moved.fix.edits[0].place == moved.place


def test_a_place_elsewhere_stays() -> None:
    notebook = read_notebook(data("x = 1"), HERE)
    elsewhere = place(Path("m.py"), 1)
    assert notebook.placed(finding(HERE, 2, saved=elsewhere)).related[0].place == elsewhere


def test_an_import_above_everything_goes_into_the_first_cell_below_its_magic() -> None:
    notebook = read_notebook(data("%%time\nx = 1", "y = 2"), HERE)
    assert notebook.encoded("import torch\n" + notebook.text) == data("%%time\nimport torch\nx = 1", "y = 2")
    other = read_notebook(data("x = 1"), HERE)
    assert other.encoded("import torch\n" + other.text) == data("import torch\nx = 1")


def test_lost_cell_borders_and_hidden_lines_are_refused() -> None:
    notebook = read_notebook(data("%time 1\nx = 1", "y = 2"), HERE)
    lines = notebook.text.splitlines(keepends=True)
    for torn in ([*lines[:3], *lines[4:]], [lines[0], *lines[2:]], lines + lines, lines[::-1]):
        with pytest.raises(NotebookError, match="border of two cells"):
            notebook.encoded("".join(torn))


def test_a_cell_that_is_no_python_is_a_problem_and_the_others_are_used() -> None:
    before = data("x = 1", "print 'old'\ny = (", "z = 3")
    notebook = read_notebook(before, HERE)
    assert [problem.message.split(":")[0] for problem in notebook.problems] == ["cell 3, line 1"]
    assert notebook.encoded(notebook.text.replace("z = 3", "z = 4")) == before.replace(b"z = 3", b"z = 4")


def test_a_source_that_holds_the_marker_confuses_nothing() -> None:
    before = data("# %% cell 2\nx = 1", "# %%%% cell 3\ny = 1")
    notebook = read_notebook(before, HERE)
    after = notebook.encoded(notebook.text.replace("y = 1", "y = 2"))
    assert after == before.replace(b"y = 1", b"y = 2")


def test_a_notebook_without_code_is_an_empty_text() -> None:
    notebook = read_notebook(data(), HERE)
    assert notebook.text == ""
    assert notebook.encoded("") == data()


def test_what_is_no_notebook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotebookError, match="not UTF-8"):
        read_notebook(b"\xff\xfe", HERE)
    with pytest.raises(SourceError, match="no such file"):
        read_notebook(None, tmp_path / "n.ipynb")
