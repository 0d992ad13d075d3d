"""The words after a report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from findings import finding

from inplace_fix.engine import Problem
from inplace_fix.nouns import Applicability, Finding, Severity
from inplace_fix.report import repairs, summary
from inplace_fix.report.paint import Line

HERE = Path("m.py")
SAFE = finding(HERE, 1, replacement="z")
UNSAFE = finding(HERE, 2, replacement="z", applicability=Applicability.UNSAFE)
ADVICE = finding(HERE, 3, severity=Severity.NOTE)
NOTE = finding(HERE, 4, severity=Severity.NOTE, replacement="z")


def text(lines: Iterable[Line]) -> list[str]:
    return ["".join(piece for piece, _ in line) for line in lines]


def test_a_problem_is_one_line_with_its_place() -> None:
    assert text([summary.problem_line(Problem(HERE, "a\n b", 3))]) == ["m.py:3: a b"]
    assert text([summary.problem_line(Problem(HERE, "a"))]) == ["m.py: a"]


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([], ["No in-place fault found (4 files checked)."]),
        (
            [SAFE, UNSAFE, ADVICE],
            [
                "Found 2 errors, 1 note in 1 file (4 files checked).",
                "1 can be repaired safely (with --unsafe-fixes 2): inplace-fix fix --dry-run src shows the patch.",
            ],
        ),
        (
            [UNSAFE],
            [
                "Found 1 error in 1 file (4 files checked).",
                "1 can be repaired under a stated assumption: "
                "inplace-fix fix --dry-run --unsafe-fixes src shows the patch.",
            ],
        ),
        (
            [ADVICE],
            [
                "Found 1 note in 1 file (4 files checked).",
                "None can be repaired automatically; each says above what to change, "
                "inplace-fix explain IPF001 says more.",
            ],
        ),
    ],
)
def test_a_check_ends_with_what_was_found_and_what_to_do_next(findings: list[Finding], words: list[str]) -> None:
    assert text(summary.found(findings, 4, "src")) == words


def test_statistics_count_rules_and_their_fixes_with_the_most_frequent_first() -> None:
    other = finding(HERE, 4, code="IPF000", name="other")
    assert text(summary.statistics([other, SAFE, UNSAFE, ADVICE])) == [
        "     3 IPF001 saved-tensor-overwritten (fix: 1 safe, 1 unsafe, 1 none)",
        "     1 IPF000 other (fix: 1 none)",
    ]


def test_each_repair_is_told_with_its_reason() -> None:
    found = finding(HERE, 1, why="it is gone", replacement="z")
    assert text(repairs.applied([found])) == [
        f"m.py:1:1: IPF001 {found.message}",
        "    why: it is gone",
        "    safe fix: write to a new tensor",
    ]


@pytest.mark.parametrize(
    ("outcome", "patch_file", "words"),
    [
        (repairs.Outcome([SAFE, UNSAFE], 1, []), None, ["Repaired 2 faults in 1 file."]),
        (repairs.Outcome([], 0, []), None, ["Nothing to repair."]),
        (repairs.Outcome([NOTE], 1, []), None, ["Rewrote 1 place in 1 file."]),
        (repairs.Outcome([], 1, []), None, ["Wrote your own edits in 1 file."]),
        (
            repairs.Outcome([SAFE], 1, [], patch=True),
            None,
            ["The patch repairs 1 fault in 1 file.", "Apply it with: inplace-fix fix src"],
        ),
        (
            repairs.Outcome([SAFE], 1, [], patch=True),
            Path("p.diff"),
            ["The patch repairs 1 fault in 1 file, in p.diff.", "Apply it with: git apply p.diff"],
        ),
        (repairs.Outcome([SAFE], 1, [], refused=True), None, ["Nothing was written: the proof did not hold."]),
        (
            repairs.Outcome([], 0, [UNSAFE, ADVICE]),
            None,
            [
                "2 findings left: 1 with a fix that rests on an assumption, 1 that needs a person.",
                "See the assumptions with: inplace-fix fix --dry-run --unsafe-fixes src",
            ],
        ),
    ],
)
def test_a_fix_ends_with_what_was_done_what_is_left_and_what_to_do_next(
    outcome: repairs.Outcome, patch_file: Path | None, words: list[str]
) -> None:
    assert text(repairs.summary(outcome, "src", patch_file)) == words


def test_a_verdict_is_told_with_its_details() -> None:
    told = text(repairs.verdict("different", "3 of 10 values differ.", ["Worst: loss."], False))
    assert told == ["verified: different. 3 of 10 values differ.", "    Worst: loss."]
