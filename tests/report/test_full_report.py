"""The full text report, and the concise one."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from findings import finding, place

from inplace_fix.nouns import Applicability, Certainty, Edit, Finding, Place, Severity, Span
from inplace_fix.report import paint
from inplace_fix.report.concise import finding_line
from inplace_fix.report.full import finding_lines, sureness
from inplace_fix.report.texts import Texts

HERE = Path("m.py")
TEXT = "y = x.exp()\ny.add_(1)\ny.sum().backward()\n"


def text_of(found: Finding) -> str:
    stream = io.StringIO()
    paint.write(finding_lines(found, Texts({(HERE, None): TEXT})), stream)
    return stream.getvalue()


def test_a_finding_is_told_in_the_order_what_where_why_what_to_do() -> None:
    found = finding(HERE, 2, 0, 9, saved=place(HERE, 1, 4, 11), why="it is gone", replacement="y = y.add(1)")
    assert text_of(found) == (
        "error[IPF001] saved-tensor-overwritten: `y.add_(1)` overwrites the result that `x.exp()` saved for backward\n"
        " --> m.py:2:1\n"
        "  |\n"
        "1 | y = x.exp()\n"
        "  |     ------- saved here\n"
        "2 | y.add_(1)\n"
        "  | ^^^^^^^^^\n"
        "  |\n"
        "  = why: it is gone\n"
        "  = sure: certain, on a path that was followed through the source\n"
        "  = fix (safe): write to a new tensor\n"
        "2 - y.add_(1)\n"
        "2 + y = y.add(1)\n"
        "\n"
    )


def test_a_finding_without_fix_says_why_there_is_none() -> None:
    assert "= no fix: the caller relies on the write\n" in text_of(
        finding(HERE, 2).with_fix(None, "the caller relies on the write")
    )


@pytest.mark.parametrize(
    ("applicability", "full", "concise"),
    [
        (Applicability.SAFE, "fix (safe): ", "[safe fix]"),
        (Applicability.UNSAFE, "fix (with --unsafe-fixes): ", "[unsafe fix]"),
        (Applicability.DISPLAY, "advice: ", "[advice]"),
    ],
)
def test_who_may_apply_a_fix_is_said(applicability: Applicability, full: str, concise: str) -> None:
    found = finding(HERE, 2, 0, 9, replacement="z", applicability=applicability)
    assert full in text_of(found)
    assert "".join(text for text, _ in finding_line(found)).endswith(concise)


def test_a_fix_in_two_files_names_each(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("a = 1\n")
    found = finding(HERE, 2, 0, 9, replacement="z")
    assert found.fix is not None
    more = (*found.fix.edits, Edit(Place(other, Span(1, 4, 1, 5)), "2"))
    told = text_of(replace(found, fix=replace(found.fix, edits=more)))
    assert f" : m.py\n2 - y.add_(1)\n2 + z\n  : {other.as_posix()}\n1 - a = 1\n1 + a = 2\n" in told


@pytest.mark.parametrize(
    ("certainty", "evidence", "words"),
    [
        (Certainty.CERTAIN, ("static",), "certain, on a path that was followed through the source"),
        (Certainty.POSSIBLE, ("static",), "possible, it hangs on something the source does not tell"),
        (Certainty.CERTAIN, ("traced",), "certain; seen in a traced run"),
        (Certainty.POSSIBLE, ("static", "traced"), "possible, it hangs on something the source does not tell; seen in"),
    ],
)
def test_it_is_said_how_sure_a_finding_is(certainty: Certainty, evidence: tuple[str, ...], words: str) -> None:
    assert sureness(replace(finding(HERE, 1, certainty=certainty), evidence=evidence)).startswith(words)


def test_the_concise_line_holds_place_severity_code_and_message_on_one_line() -> None:
    found = finding(HERE, 2, 4, severity=Severity.WARNING, message="a\n  message")
    assert "".join(text for text, _ in finding_line(found)) == "m.py:2:5: warning IPF001 a message"
