"""Places of findings to the editor's positions and back, in the column units that were agreed with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Place, Span
from inplace_fix.report.texts import Texts
from inplace_fix.server.documents import Document, Part

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@dataclass(frozen=True)
class Ruler:
    """One text and the units that the editor counts its columns in (``utf-8``, ``utf-16`` or ``utf-32``)."""

    text: str
    encoding: str = "utf-16"

    @cached_property
    def lines(self) -> list[str]:
        """The lines as Python counts them, which are also the protocol's."""
        return split_lines(self.text)

    def position(self, row: int, column: int) -> types.Position:
        """Row from 1 and column in code points to the editor's position; what lies behind the end becomes the end."""
        lines = self.lines
        if row > len(lines):
            if not lines or lines[-1].endswith(("\n", "\r")):
                return types.Position(len(lines), 0)
            row, column = len(lines), len(lines[-1])
        codec, width = CODECS[self.encoding]
        return types.Position(row - 1, len(lines[row - 1][:column].encode(codec, "surrogatepass")) // width)

    def range(self, span: Span) -> types.Range:
        """A span to the editor's range."""
        return types.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def point(self, position: types.Position) -> tuple[int, int]:
        """The editor's position to row from 1 and column in code points; columns behind the line end become its end."""
        if position.line >= len(self.lines):
            return len(self.lines) + 1, 0
        codec, width = CODECS[self.encoding]
        line = self.lines[position.line].rstrip("\r\n").encode(codec, "surrogatepass")
        return position.line + 1, len(line[: position.character * width].decode(codec, "ignore"))


@dataclass(frozen=True)
class Locator:
    """Finds the document, open or on disk, behind each place; ``documents`` are the open ones by path."""

    encoding: str
    documents: Mapping[Path, Document]
    _rulers: dict[tuple[Path, int | None], Ruler] = field(default_factory=dict, compare=False)

    def part(self, place: Place) -> Part:
        """The text document that a place lies in; its version is None where the editor has not opened it."""
        document = self.documents.get(place.path)
        if document is not None and place.cell in document.parts:
            return document.parts[place.cell]
        return Part(from_fs_path(str(place.path)) or "", None, Texts({}).text(place))

    def ruler(self, place: Place) -> Ruler:
        """The ruler of the text that a place lies in."""
        key = (place.path, place.cell)
        if key not in self._rulers:
            self._rulers[key] = Ruler(self.part(place).text, self.encoding)
        return self._rulers[key]

    def location(self, place: Place) -> types.Location:
        """A place as the editor can jump to."""
        return types.Location(self.part(place).uri, self.ruler(place).range(place.span))

    def holds(self, place: Place, position: types.Position) -> bool:
        """Whether a position of the place's own document lies in the place or at its end."""
        span = place.span
        return (span.line, span.column) <= self.ruler(place).point(position) <= (span.end_line, span.end_column)
