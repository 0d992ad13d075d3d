"""IPython's own lines, hidden and brought back."""

from __future__ import annotations

import ast

import pytest

from inplace_fix.notebook.magics import mask, mask_all, unmask

CELLS = {
    "plain": "x = 1\n",
    "line magic": "%matplotlib inline\nx = 1\n",
    "shell": "!pip install torch\nx = 1",
    "shell in a block": "if True:\n    !ls\n    x = 1\n",
    "help": "torch.add?\n?torch.add\nx.y??\nx = 1\n",
    "assigned": "files = !ls\nt = %timeit -o f()\nx = 1\n",
    "continued": "!ls \\\n  -l\nx = 1\n",
    "timed cell": "%%time\nx = 1\n",
    "after a blank line": "\n%%capture out\nx = 1\n",
    "cell of another language": "%%bash\necho $(ls) 'x\n",
    "in a string": "%time x = 1\ns = '''\n%d items\n'''\ny = (a\n  % b)\n",
    "a string with an escape": "%time 1\ns = '\\'' ; t = \"#'\"\nu = 1 # '''\nx = 1\n",
    "CRLF": "%time 1\r\nx = 1\r\n",
}


@pytest.mark.parametrize("source", CELLS.values(), ids=CELLS.keys())
def test_a_masked_cell_parses_has_as_many_lines_and_comes_back(source: str) -> None:
    masked = mask(source, "mark")
    ast.parse(masked.text)
    assert masked.text.count("\n") == source.count("\n")
    assert unmask(masked.text, masked.hidden) == source


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("line magic", ["x"]),
        ("assigned", ["files", "t", "x"]),
        ("timed cell", ["x"]),
        ("cell of another language", []),
        ("in a string", ["s", "y"]),
        ("a string with an escape", ["s", "t", "u", "x"]),
    ],
)
def test_python_beside_the_magic_stays_visible(name: str, kept: list[str]) -> None:
    tree = ast.parse(mask(CELLS[name], "mark").text)
    assert [
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ] == kept


def test_a_line_that_only_looks_like_a_magic_is_left() -> None:
    source = "y = (a\n%b)\n"
    assert mask(source, "mark").text == source


def test_a_hidden_line_follows_a_new_indentation() -> None:
    masked = mask("if x:\n    !ls\n", "mark")
    moved = masked.text.replace("    pass", "        pass")
    assert unmask(moved, masked.hidden) == "if x:\n        !ls\n"


def test_a_lost_line_is_noticed() -> None:
    masked = mask("%time 1\nx = 1\n", "mark")
    assert unmask("x = 1\n", masked.hidden) is None
    assert unmask(masked.text * 2, masked.hidden) is None


def test_a_whole_cell_can_be_hidden() -> None:
    source = "print 'python 2'\n  x = (\n"
    masked = mask_all(source, "mark")
    ast.parse(masked.text)
    assert unmask(masked.text, masked.hidden) == source
