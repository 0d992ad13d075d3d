"""What a repair changes, side by side; for a finding without one, the source around its places."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Edit, Finding, Place
from inplace_fix.report import edits
from inplace_fix.report.review.code import Row, marked, rows
from inplace_fix.report.texts import Texts, shown

CONTEXT = 3  # unchanged lines around a change
ALIKE = 0.6  # lines that share less are shown as wholly different
WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Side:
    """One line on one side; ``number`` is None where the other side has a line and this one has none."""

    number: int | None = None
    row: Row = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pair:
    """A line before and after; ``kind`` is equal, change, or gap where lines are left out."""

    kind: str
    old: Side = field(default_factory=Side)
    new: Side = field(default_factory=Side)


@dataclass(frozen=True, slots=True)
class Panel:
    """The pairs of one file or cell; ``two`` says whether there is a side after."""

    title: str
    two: bool
    pairs: list[Pair]


class Sheets:
    """The coloured lines of the texts that a page quotes, each text coloured once."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._rows: dict[tuple[Path, int | None], list[Row]] = {}

    def rows(self, place: Place) -> list[Row]:
        """The lines of the file or cell a place lies in."""
        key = (place.path, place.cell)
        if key not in self._rows:
            self._rows[key] = rows(self.texts.text(place))
        return self._rows[key]

    def panels(self, finding: Finding) -> list[Panel]:
        """The panels of one finding."""
        groups: dict[tuple[Path, int | None], list[Edit]] = {}
        for edit in finding.fix.edits if finding.fix else ():
            groups.setdefault((edit.place.path, edit.place.cell), []).append(edit)
        if groups:
            return [Panel(title(group[0].place), True, list(self.changed(group))) for group in groups.values()]
        spots: dict[tuple[Path, int | None], list[Place]] = {}
        for place in (finding.place, *(related.place for related in finding.related)):
            spots.setdefault((place.path, place.cell), []).append(place)
        return [Panel(title(group[0]), False, list(self.around(group))) for group in spots.values()]

    def changed(self, group: Sequence[Edit]) -> Iterator[Pair]:
        """The lines that the edits of one text change, with context."""
        text = self.texts.text(group[0].place)
        new_text = edits.apply(text, group)
        old, new = split_lines(text), split_lines(new_text)
        first = min(edit.place.span.line for edit in group)
        last = max(edit.place.span.end_line for edit in group)
        # only the lines between the first and the last edit are compared: the rest is the same, and files are long
        head = max(first - 1 - CONTEXT, 0)
        tail = max(len(old) - last - CONTEXT, 0)
        old_rows, new_rows = self.rows(group[0].place), rows(new_text)
        before, after = old[head : len(old) - tail], new[head : len(new) - tail]
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for number, hunk in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
            if number:
                yield Pair("gap")
            for tag, a, b, c, d in hunk:
                for i in range(max(b - a, d - c)):
                    left, right = head + a + i, head + c + i
                    has_left, has_right = a + i < b, c + i < d
                    marks = between(old[left], new[right]) if tag != "equal" and has_left and has_right else ((), ())
                    yield Pair(
                        "equal" if tag == "equal" else "change",
                        Side(left + 1, marked(old_rows[left], marks[0])) if has_left else Side(),
                        Side(right + 1, marked(new_rows[right], marks[1])) if has_right else Side(),
                    )

    def around(self, places: Sequence[Place]) -> Iterator[Pair]:
        """The lines around places of one text, the places marked."""
        all_rows = self.rows(places[0])
        wanted = {
            number
            for place in places
            for number in range(place.span.line - CONTEXT, place.span.line + CONTEXT + 1)
            if 0 < number <= len(all_rows)
        }
        last = 0
        for number in sorted(wanted):
            if last and number > last + 1:
                yield Pair("gap")
            stretches = [columns(place, number) for place in places if place.span.line <= number <= place.span.end_line]
            kind = "found" if any(stretches) else "equal"
            yield Pair(kind, Side(number, marked(all_rows[number - 1], stretches)))
            last = number


def columns(place: Place, number: int) -> tuple[int, int]:
    """The stretch of a line that a place covers."""
    span = place.span
    return span.column if number == span.line else 0, span.end_column if number == span.end_line else 1 << 30


def between(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The words that differ in a line before and after; none where the lines have little in common."""
    before, after = WORD.findall(old), WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < ALIKE:
        return [], []
    starts, ends = [0, *accumulate(map(len, before))], [0, *accumulate(map(len, after))]
    opcodes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        [(starts[a], starts[b]) for _, a, b, _, _ in opcodes if a < b],
        [(ends[c], ends[d]) for _, _, _, c, d in opcodes if c < d],
    )


def title(place: Place) -> str:
    """The name of a file, with the cell in a notebook."""
    return shown(place.path) if place.cell is None else f"{shown(place.path)}, cell {place.cell}"
