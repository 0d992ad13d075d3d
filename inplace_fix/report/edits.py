"""The text edits of a fix applied to a text, and the lines they change."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Edit


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; the edits must not overlap and must all be of this text."""
    lines = split_lines(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(row: int, column: int) -> int:
        return min(starts[min(row - 1, len(lines))] + column, len(text))

    for edit in sorted(edits, key=lambda edit: edit.place.span, reverse=True):
        span = edit.place.span
        start, end = offset(span.line, span.column), offset(span.end_line, span.end_column)
        text = text[:start] + edit.content + text[end:]
    return text


def changed_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, str]]:
    """What a mini-diff shows: ``("-", row, line)`` with rows of the old text, ``("+", row, line)`` of the new."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    rows: list[tuple[str, int, str]] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            rows += [("-", head + 1 + i, before[i].rstrip("\r\n")) for i in range(a, b)]
            rows += [("+", head + 1 + i, after[i].rstrip("\r\n")) for i in range(c, d)]
    return rows
