"""Where the comment goes that silences a finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from findings import finding

from inplace_fix.server.ignoring import ignored

COMMENT = "# inplace-fix: ignore[IPF001]"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("y.add_(1)\n", 1, f"y.add_(1)  {COMMENT}\n"),
        ("y.add_(1)", 1, f"y.add_(1)  {COMMENT}"),
        ("y.add_(1)\r\nz\r\n", 1, f"y.add_(1)  {COMMENT}\r\nz\r\n"),
        ("y.add_(1)  # why\n", 1, f"y.add_(1)  # why  {COMMENT}\n"),
        (
            "y.add_(1)  # inplace-fix: ignore[IPF002] known\n",
            1,
            "y.add_(1)  # inplace-fix: ignore[IPF002, IPF001] known\n",
        ),
        ("f(\n    y.add_(1),\n)\n", 2, f"f(\n    y.add_(1),  {COMMENT}\n)\n"),
        ("if x:\n    a = \\\n        y.add_(1)\n", 2, f"if x:\n    {COMMENT}\n    a = \\\n        y.add_(1)\n"),
        ('f(y.add_(1), """\ntext\n""")\n', 1, f'{COMMENT}\nf(y.add_(1), """\ntext\n""")\n'),
    ],
    ids=[
        "end of line",
        "no last line end",
        "CRLF",
        "a comment is there",
        "codes are there",
        "inside a call",
        "backslash",
        "string",
    ],
)
def test_the_comment_goes_where_it_is_read_as_one(text: str, line: int, expected: str) -> None:
    assert ignored(text, finding(Path("m.py"), line)) == expected


def test_no_comment_is_offered_where_none_can_be_read(tmp_path: Path) -> None:
    assert ignored("y.add_(\n", finding(tmp_path / "m.py", 1)) is None
