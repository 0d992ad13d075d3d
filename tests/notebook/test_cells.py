"""Cells of notebook files, to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inplace_fix.notebook.cells import NotebookError, read_cells

HERE = Path("n.ipynb")


def notebook(*sources: object, **more: object) -> dict[str, object]:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


LAYOUTS = {
    "nbformat's own": lambda content: json.dumps(content, indent=1) + "\n",
    "one line": lambda content: json.dumps(content),
    "tabs": lambda content: json.dumps(content, indent="\t"),
    "CRLF": lambda content: json.dumps(content, indent=2).replace("\n", "\r\n"),
    "spaces everywhere": lambda content: json.dumps(content, separators=(" , ", " : ")),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_only_the_changed_line_of_the_changed_cell_changes(layout) -> None:  # type: ignore[no-untyped-def]
    before = layout(notebook(["x = 1\n", "y.add_(1)\n", "z"], ["y.add_(1)"], "a\nb"))
    cells = read_cells(before, HERE)
    after = cells.with_sources({1: "x = 1\ny = y.add(1)\nz"})
    assert after == before.replace('"y.add_(1)\\n"', '"y = y.add(1)\\n"', 1)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_added_lines_take_the_layout_of_the_others(layout) -> None:  # type: ignore[no-untyped-def]
    sources = [["x = 1\n", "z = 2"], "s = 1"]
    cells = read_cells(layout(notebook(*sources)), HERE)
    after = cells.with_sources({1: "x = 1\ny = 1\nz = 2", 2: "s = 2"})
    assert after == layout(notebook(["x = 1\n", "y = 1\n", "z = 2"], "s = 2"))


def test_the_spelling_of_strings_that_did_not_change_stays() -> None:
    before = '{"cells": [{"cell_type": "code", "source": ["a = \\"\\u00e9\\/\\"\\n", "b"]}]}'
    assert read_cells(before, HERE).with_sources({1: 'a = "é/"\nc'}) == before.replace('"b"', '"c"')


def test_new_text_is_escaped_only_where_the_whole_file_is() -> None:
    plain = '{"cells": [{"cell_type": "code", "source": "b"}]}'
    assert read_cells(plain, HERE).with_sources({1: "é"}) == plain.replace('"b"', '"\\u00e9"')
    other = '{"cells": [{"cell_type": "code", "source": "b"}], "title": "é"}'
    assert read_cells(other, HERE).with_sources({1: "é"}) == other.replace('"b"', '"é"')


def test_half_a_surrogate_pair_stays_an_escape() -> None:
    before = '{"cells": [{"cell_type": "code", "source": "a = \'\\ud800\'"}], "title": "é"}'
    after = read_cells(before, HERE).with_sources({1: "b = '\ud800'"})
    assert after == before.replace("a =", "b =")


def test_cells_are_numbered_among_all_and_only_code_counts() -> None:
    content = notebook("x")
    content["cells"] = [{"cell_type": "markdown", "source": "# t"}, *content["cells"]]  # type: ignore[misc]
    assert [(cell.number, cell.source) for cell in read_cells(json.dumps(content), HERE).cells] == [(2, "x")]


@pytest.mark.parametrize(
    ("metadata", "count"),
    [
        ({"language_info": {"name": "python"}}, 1),
        ({"kernelspec": {"language": "python"}}, 1),
        ({}, 1),
        ({"kernelspec": {"language": "R"}}, 0),
        ({"language_info": {"name": "julia"}}, 0),
    ],
)
def test_only_python_notebooks_have_cells(metadata: dict[str, object], count: int) -> None:
    assert len(read_cells(json.dumps(notebook("x", metadata=metadata)), HERE).cells) == count


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("", "a value is missing", 1),
        ('{"cells": [\n{"cell_type": "code",\n}]}', "a key is missing", 3),
        ('{"cells": []', "a comma is missing", 1),
        ('{"cells" []}', "a colon is missing", 1),
        ('{"cells": []}}', "follows the end", 1),
        ('{"cells": ["a\n"]}', "Invalid control character", 1),
        ("[" * 100_000, "nested too deeply", None),
        ('{"a": 1}', "no list of cells", None),
        ("[1, true, null, -2.5e3]", "no list of cells", None),
        ('{"worksheets": [], "nbformat": 3}', "format 3.*nbconvert", None),
    ],
)
def test_a_broken_notebook_is_refused_with_the_reason(text: str, words: str, line: int | None) -> None:
    with pytest.raises(NotebookError, match=words) as caught:
        read_cells(text, HERE)
    assert caught.value.line == line
