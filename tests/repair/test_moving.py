"""Findings that a run told, led through edits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from findings import finding, place

from inplace_fix.nouns import Finding
from inplace_fix.repair.moving import AGAIN, told_by_run

PATH = Path("train.py")
BEFORE = "import torch\ny += 1\nstep()\nloss.backward()\n"
AFTER = "import torch\n\ny = y + 1\nstep()\nloss.backward()\n"


def told(line: int, replacement: str | None = None) -> Finding:
    """A finding of a run, related to the last line."""
    one = finding(PATH, line, 0, 6, code="IPF008", saved=place(PATH, 4, 0, 4), replacement=replacement)
    return replace(one, evidence=("traced",), no_fix="" if replacement else "move the step")


def moved(*findings: Finding, known: tuple[Finding, ...] = ()) -> list[Finding]:
    return list(told_by_run(findings, known, {PATH: BEFORE}, {PATH: AFTER}))


def test_a_finding_keeps_its_statement_and_its_reason() -> None:
    (one,) = moved(told(3))
    assert one.place == place(PATH, 4, 0, 6)
    assert one.no_fix == "move the step"
    assert [related.place for related in one.related] == [place(PATH, 5, 0, 4)]


def test_a_finding_on_an_edited_line_is_gone() -> None:
    assert moved(told(2)) == []


def test_a_finding_that_the_source_shows_as_well_is_not_told_twice() -> None:
    assert moved(told(3), known=(finding(PATH, 4, 0, 6, code="IPF008"),)) == []


def test_a_finding_that_the_source_alone_told_is_for_the_next_look_at_the_source() -> None:
    assert moved(replace(told(3), evidence=("static",))) == []


def test_a_repair_planned_for_the_old_text_is_not_kept() -> None:
    (one,) = moved(told(3, replacement="pass"))
    assert one.fix is None
    assert one.no_fix == AGAIN
