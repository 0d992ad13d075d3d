"""Leads findings that only a run can tell through edits: the lines they stand on stay, and move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Finding, Place, Related, Span

AGAIN = "it was not repaired together with the others; trace the repaired program again"


def told_by_run(
    findings: Iterable[Finding], known: Iterable[Finding], before: Mapping[Path, str], after: Mapping[Path, str]
) -> Iterator[Finding]:
    """Of ``findings``, those that a run told and that are not among ``known``, at their places in the new texts.

    What stood on a line that was edited is left out: the edit was made for another fault of the same statement.
    A repair that was planned for the old text is not kept.
    """
    again = {(finding.place, finding.code) for finding in known}
    rows: dict[Path, dict[int, int]] = {}
    for finding in findings:
        if "traced" not in finding.evidence:
            continue
        path = finding.place.path
        if path not in rows:
            rows[path] = kept_rows(before[path], after[path])
        place = moved(finding.place, rows)
        if place is None or (place, finding.code) in again:
            continue
        related = [Related(one.message, at) for one in finding.related if (at := moved(one.place, rows)) is not None]
        reason = finding.no_fix if finding.fix is None else AGAIN
        yield replace(finding, place=place, related=tuple(related), fix=None, no_fix=reason)


def kept_rows(before: str, after: str) -> dict[int, int]:
    """The new row of every line that an edit left as it was, both counted from 1."""
    matcher = SequenceMatcher(None, split_lines(before), split_lines(after), autojunk=False)
    return {a + i + 1: b + i + 1 for a, b, size in matcher.get_matching_blocks() for i in range(size)}


def moved(place: Place, rows: Mapping[Path, Mapping[int, int]]) -> Place | None:
    """A place in the new text, None where its first line was edited; places in other files stay."""
    if place.path not in rows:
        return place
    span, row = place.span, rows[place.path].get(place.span.line)
    if row is None:
        return None
    down = row - span.line
    return replace(place, span=Span(row, span.column, span.end_line + down, span.end_column))
