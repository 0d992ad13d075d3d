"""Source excerpts with carets: the lines a finding speaks of, in a frame with their numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inplace_fix.nouns import Place
from inplace_fix.report.paint import Line, Piece
from inplace_fix.report.texts import Texts, where

TAB = "    "
NEAR = 2  # unmarked lines in between that are shown rather than cut out


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to underline, with a word beside it; ``main`` is the place of the finding itself."""

    place: Place
    label: str
    main: bool = False


def excerpts(marks: Sequence[Mark], texts: Texts, style: str) -> tuple[list[Line], int]:
    """A framed block for each file or cell with marks, the main one's first; and the width of the line numbers."""
    groups: dict[tuple[object, int | None], list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: not mark.main):
        groups.setdefault((mark.place.path, mark.place.cell), []).append(mark)
    width = len(str(max(mark.place.span.line for mark in marks)))
    lines: list[Line] = []
    for number, group in enumerate(groups.values()):
        arrow = "-->" if number == 0 else ":::"
        lines.append([(" " * width + arrow + " ", "frame"), (where(group[0].place), "")])
        lines += block(group, texts, width, style)
    return lines, width


def block(marks: Sequence[Mark], texts: Texts, width: int, style: str) -> list[Line]:
    """The marked lines of one file, in order, with short gaps filled and long ones cut."""
    by_row: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.place.span):
        by_row.setdefault(mark.place.span.line, []).append(mark)
    source = texts.lines(marks[0].place)
    bar: Line = [(" " * width + " |", "frame")]
    lines: list[Line] = [bar]
    last = 0
    for row in by_row:
        if last and row - last - 1 > NEAR:
            lines.append([("...", "frame")])
        elif last:
            lines += [numbered(between, source, width) for between in range(last + 1, row)]
        lines.append(numbered(row, source, width))
        for mark in by_row[row]:
            lines.append([(" " * width + " | ", "frame"), *carets(mark, line_at(source, row), style)])
        last = row
    lines.append(bar)
    return lines


def numbered(row: int, source: Sequence[str], width: int) -> Line:
    """One source line with its number."""
    return [(f"{row:>{width}} | ", "frame"), (line_at(source, row).replace("\t", TAB), "")]


def line_at(source: Sequence[str], row: int) -> str:
    """A line without its end, "" past the end of the file."""
    return source[row - 1].rstrip("\r\n") if 0 < row <= len(source) else ""


def carets(mark: Mark, line: str, style: str) -> Iterable[Piece]:
    """The underline of a mark and its label; a mark over several lines is underlined on its first."""
    span = mark.place.span
    end = span.end_column if span.end_line == span.line else len(line.rstrip())
    before, under = cells(line[: span.column]), max(cells(line[span.column : end]), 1)
    label = mark.label
    if span.end_line > span.line:
        label = f"{label} (to line {span.end_line})".strip()
    colour = style if mark.main else "second"
    return [(" " * before + ("^" if mark.main else "-") * under + (f" {label}" if label else ""), colour)]


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text) + text.count("\t") * (len(TAB) - 1)
    return sum(
        len(TAB)
        if c == "\t"
        else 0
        if unicodedata.combining(c)
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )
