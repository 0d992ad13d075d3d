"""Comments that silence findings."""

from __future__ import annotations

from pathlib import Path

import pytest
from findings import finding

from inplace_fix.suppress import sift, suppressions

HERE = Path("m.py")


def silenced(text: str, line: int, code: str = "IPF001") -> bool:
    return suppressions(text).silencing(finding(HERE, line, code=code)) is not None


@pytest.mark.parametrize(
    "comment",
    [
        "# inplace-fix: ignore[IPF001]",
        "# inplace-fix: ignore[IPF001] the caller clones",
        "# inplace-fix: ignore[IPF002, ipf001]",
        "# inplace-fix: ignore[saved-tensor-overwritten]",
        "# inplace-fix: ignore",
        "#inplace-fix:ignore[IPF001]",
        "# noqa: E501 # inplace-fix: ignore[IPF001] # type: ignore",
    ],
)
def test_a_comment_on_the_line_silences(comment: str) -> None:
    assert silenced(f"y.add_(1)  {comment}\n", 1)


@pytest.mark.parametrize(
    "text",
    [
        "y.add_(1)  # inplace-fix: ignore[IPF002]\n",
        "y.add_('# inplace-fix: ignore[IPF001]')\n",
        "y.add_(1)\nz = 1  # inplace-fix: ignore[IPF001]\n",
        "y.add_(1)  # inplace-fix: ignored[IPF001]\n",
    ],
)
def test_other_codes_lines_and_strings_silence_nothing(text: str) -> None:
    assert not silenced(text, 1)


STATEMENT = "y.add_({a}\n    f(1),{b}\n    alpha=2,{c}\n){d}\n"


@pytest.mark.parametrize(("where", "rows"), [("a", [1, 2, 3, 4]), ("b", [2]), ("c", [3]), ("d", [1, 2, 3, 4])])
def test_first_and_last_row_speak_of_the_statement_and_a_row_between_of_itself(where: str, rows: list[int]) -> None:
    slots = dict.fromkeys("abcd", "") | {where: "  # inplace-fix: ignore[IPF001]"}
    text = STATEMENT.format(**slots)
    assert [row for row in range(1, 5) if silenced(text, row)] == rows


def test_a_comment_on_a_row_of_its_own_speaks_of_the_next_statement() -> None:
    text = "x = 1\n# inplace-fix: ignore[IPF001] known\ny.add_(\n    1)\nz.add_(1)\n"
    assert [row for row in range(1, 6) if silenced(text, row)] == [3, 4]


def test_the_comment_at_a_compound_statement_speaks_of_its_head_alone() -> None:
    text = "for i in x.add_(1):  # inplace-fix: ignore[IPF001]\n    y.add_(1)\n"
    assert silenced(text, 1)
    assert not silenced(text, 2)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_file_comment_silences_everywhere(ending: str) -> None:
    text = ending.join(['"""Doc."""', "# inplace-fix: ignore-file[IPF001] generated", "y.add_(1)", ""])
    assert silenced(text, 3)
    assert not silenced(text, 3, "IPF002")


def test_a_text_that_cannot_be_tokenised_has_no_comments() -> None:
    assert suppressions("x = '''\n# inplace-fix: ignore\n").items == ()


def test_findings_are_sifted_and_idle_comments_told() -> None:
    text = (
        "y.add_(1)  # inplace-fix: ignore[IPF001, IPF002] why\n"
        "z = 1  # inplace-fix: ignore[IPF001]\n"
        "u.add_(1)\n"
        "v = 1  # inplace-fix: ignore[IPF777]\n"
        "w = 1  # inplace-fix: ignroe[IPF001]\n"
    )
    kept, idle = sift([finding(HERE, 1), finding(HERE, 3)], text, HERE, lambda code: code != "ipf777")
    assert [f.place.span.line for f in kept] == [3]
    assert [(f.place.span.line, f.message.split(";")[0]) for f in idle] == [
        (1, "this comment silences IPF002 where nothing of the kind is found"),
        (2, "this comment silences IPF001 where nothing of the kind is found"),
        (5, "`# inplace-fix: ignroe[IPF001]` cannot be read"),
    ]
    assert text.splitlines()[1][idle[1].place.span.column :] == "# inplace-fix: ignore[IPF001]"


def test_a_comment_used_by_its_rule_name_is_not_idle() -> None:
    text = "y.add_(1)  # inplace-fix: ignore[saved-tensor-overwritten]\nz.add_(1)  # inplace-fix: ignore\n"
    assert sift([finding(HERE, 1), finding(HERE, 2)], text, HERE, lambda code: True) == ([], [])
