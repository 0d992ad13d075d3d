"""The source lines that reports quote, by place, and the names under which reports show files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Place
from inplace_fix.source import SourceError, read_source


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts already at hand by path and notebook cell; other files are read when a report first quotes them."""

    known: Mapping[tuple[Path, int | None], str]
    _lines: dict[tuple[Path, int | None], list[str]] = field(default_factory=dict, compare=False)

    def lines(self, place: Place) -> list[str]:
        """The lines, with their ends, of the file or cell a place lies in; none where it cannot be read."""
        key = (place.path, place.cell)
        if key not in self._lines:
            self._lines[key] = split_lines(self.text(place))
        return self._lines[key]

    def text(self, place: Place) -> str:
        """The whole text of the file or cell a place lies in; "" where it cannot be read."""
        text = self.known.get((place.path, place.cell))
        if text is None and place.cell is None:
            try:
                text = read_source(place.path).text
            except SourceError:
                text = None
        return text or ""

    def line(self, place: Place) -> str:
        """The first line of a place without its end, "" where there is none."""
        lines = self.lines(place)
        return lines[place.span.line - 1].rstrip("\r\n") if 0 < place.span.line <= len(lines) else ""


def shown(path: Path) -> str:
    """A path as people read it: relative to the current folder where it lies below it."""
    absolute = Path(os.path.abspath(path))
    try:
        return absolute.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def where(place: Place) -> str:
    """``path:line:column``, or ``path:cell 3:line:column`` in a notebook, counted from 1."""
    cell = f"cell {place.cell}:" if place.cell is not None else ""
    return f"{shown(place.path)}:{cell}{place.span.line}:{place.span.column + 1}"
