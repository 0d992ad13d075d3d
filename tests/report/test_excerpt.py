"""Excerpts with carets."""

from __future__ import annotations

from pathlib import Path

from findings import place

from inplace_fix.report.excerpt import Mark, excerpts
from inplace_fix.report.texts import Texts

HERE = Path("m.py")


def drawn(text: str, *marks: Mark) -> str:
    lines, _ = excerpts(marks, Texts({(HERE, None): text}), "error")
    return "\n".join("".join(piece for piece, _ in line).rstrip() for line in lines)


def test_near_places_share_a_block_and_far_ones_are_cut_apart() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 13))
    marks = (
        Mark(place(HERE, 3, 0, 4), "", main=True),
        Mark(place(HERE, 1, 5, 6), "saved here"),
        Mark(place(HERE, 12, 0, 7), "needed here"),
    )
    assert drawn(text, *marks) == "\n".join(
        [
            "  --> m.py:3:1",
            "   |",
            " 1 | line 1",
            "   |      - saved here",
            " 2 | line 2",
            " 3 | line 3",
            "   | ^^^^",
            "...",
            "12 | line 12",
            "   | ------- needed here",
            "   |",
        ]
    )


def test_another_file_gets_a_block_of_its_own(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("def helper(x):\n")
    text = drawn("a\n", Mark(place(other, 1, 4, 10), "defined here"), Mark(place(HERE, 1), "", main=True))
    assert text.splitlines()[5:] == [
        f" ::: {other.as_posix()}:1:5",
        "  |",
        "1 | def helper(x):",
        "  |     ------ defined here",
        "  |",
    ]


def test_carets_stand_under_wide_characters_and_tabs() -> None:
    rows = drawn("\t变量.add_(1)\n", Mark(place(HERE, 1, 1, 3), "", main=True)).splitlines()
    assert rows[2:4] == ["1 |     变量.add_(1)", "  |     ^^^^"]


def test_a_place_over_several_lines_is_marked_on_its_first() -> None:
    rows = drawn("y.add_(\n  1)\n", Mark(place(HERE, 1, 0, 4, end_line=2), "", main=True)).splitlines()
    assert rows[2:4] == ["1 | y.add_(", "  | ^^^^^^^ (to line 2)"]


def test_an_empty_place_and_one_past_the_end_still_get_a_caret() -> None:
    assert "^" in drawn("a\n", Mark(place(HERE, 1, 0, 0), "", main=True))
    assert "^" in drawn("a\n", Mark(place(HERE, 9, 0, 3), "", main=True))
