"""Notebooks as one Python text: code cells joined in order, places led back to cells, new text put back into them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from inplace_fix.analysis.units import split_lines
from inplace_fix.engine import Problem
from inplace_fix.notebook.cells import Cells, NotebookError, read_cells
from inplace_fix.notebook.magics import Masked, mask, mask_all, unmask
from inplace_fix.nouns import Edit, Finding, Fix, Place, Related, Span
from inplace_fix.source import read_bytes

__all__ = ["Notebook", "NotebookError", "read_notebook"]

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook and its code cells as one text.

    Each cell follows a marker line; IPython's own lines, and cells that are no Python, are hidden by placeholders.
    ``masked`` are the cells as they stand in ``text``, ``ended`` the numbers of those that got a line end for it.
    """

    cells: Cells
    data: bytes
    text: str
    marker: str
    masked: tuple[tuple[int, Masked], ...]
    problems: tuple[Problem, ...] = ()

    def cell_texts(self) -> dict[int, str]:
        """The source of each code cell by number."""
        return {cell.number: cell.source for cell in self.cells.cells}

    def encoded(self, new_text: str) -> bytes:
        """The notebook's bytes with the cells of a changed text. Raises NotebookError where cell borders were lost."""
        bom = BOM if self.data.startswith(BOM) else b""
        return bom + self.cells.with_sources(self.sources(new_text)).encode("utf-8")

    def sources(self, new_text: str) -> dict[int, str]:
        """The source of each cell in a changed text, by number."""
        parts = self._parts(new_text)
        hidden = dict(self.masked)
        before = self.cell_texts()
        sources = {}
        for number, part in parts.items():
            source = unmask(part, hidden[number].hidden)
            if source is None:
                raise self._torn()
            sources[number] = source if before[number].endswith(("\n", "\r")) else source.removesuffix("\n")
        return sources

    def placed(self, finding: Finding) -> Finding:
        """The finding with all its places of this notebook in cells."""
        starts = self._starts()
        return replace(
            finding,
            place=self._in_cell(finding.place, starts),
            related=tuple(Related(r.message, self._in_cell(r.place, starts)) for r in finding.related),
            fix=self._fix_in_cells(finding.fix, starts) if finding.fix else None,
            life=tuple(replace(m, place=self._in_cell(m.place, starts)) if m.place else m for m in finding.life),
        )

    def _fix_in_cells(self, fix: Fix, starts: list[tuple[int, int]]) -> Fix:
        return replace(fix, edits=tuple(Edit(self._in_cell(edit.place, starts), edit.content) for edit in fix.edits))

    def _in_cell(self, place: Place, starts: list[tuple[int, int]]) -> Place:
        if place.path != self.cells.path or place.cell is not None:
            return place
        above = [(row, number) for row, number in starts if row < place.span.line]
        if not above:
            return place
        row, number = above[-1]
        span = place.span
        moved = Span(span.line - row, span.column, max(span.end_line - row, 1), span.end_column)
        return Place(place.path, moved, number)

    def _starts(self) -> list[tuple[int, int]]:
        """The row of each marker in the text, with the number of the cell that follows it."""
        rows = (row for row, line in enumerate(split_lines(self.text), 1) if line.startswith(self.marker))
        return list(zip(rows, (number for number, _ in self.masked), strict=True))

    def _parts(self, text: str) -> dict[int, str]:
        numbers = [number for number, _ in self.masked]
        parts: dict[int, str] = {}
        above = ""
        current: int | None = None
        for line in split_lines(text):
            if line.startswith(self.marker):
                current = numbers[len(parts)] if len(parts) < len(numbers) else None
                if current is None or line.rstrip("\r\n") != f"{self.marker}{current}":
                    raise self._torn()
                parts[current] = ""
            elif current is None:
                above += line
            else:
                parts[current] += line
        if list(parts) != numbers:
            raise self._torn()
        if above:  # an import that was added above everything belongs into the first cell, below a cell magic
            first = numbers[0]
            head = "".join(_magic_line(parts[first], dict(self.masked)[first].hidden))
            parts[first] = head + above + parts[first][len(head) :]
        return parts

    def _torn(self) -> NotebookError:
        return NotebookError(self.cells.path, "the repair ran over the border of two cells, so it was left alone")


def read_notebook(data: bytes | None, path: Path) -> Notebook:
    """A notebook from its bytes, or from disk. Raises NotebookError and SourceError.

    A cell that is no Python, not even without IPython's own lines, becomes a problem; the other cells are still used.
    """
    raw = read_bytes(path) if data is None else data
    try:
        cells = read_cells(raw.removeprefix(BOM).decode("utf-8"), path)
    except UnicodeDecodeError:
        raise NotebookError(path, "is no valid notebook: it is not UTF-8") from None
    marker = "# %% cell "
    while any(marker in cell.source for cell in cells.cells):
        marker = marker.replace("%", "%%", 1)
    stamp = marker.removeprefix("# ").replace(" cell ", " line")
    parts: list[str] = []
    masked: list[tuple[int, Masked]] = []
    problems: list[Problem] = []
    for cell in cells.cells:
        shown = mask(cell.source, f"{stamp} {cell.number}")
        error = _syntax_error(shown.text)
        if error:
            problems.append(Problem(path, f"cell {cell.number}, line {error[0]}: {error[1]}; the cell was left out"))
            shown = mask_all(cell.source, f"{stamp} {cell.number}")
        masked.append((cell.number, shown))
        parts.append(f"{marker}{cell.number}\n{shown.text}" + ("" if shown.text.endswith(("\n", "\r")) else "\n"))
    return Notebook(cells, raw, "".join(parts), marker, tuple(masked), tuple(problems))


def _syntax_error(text: str) -> tuple[int, str] | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, str(error)
    return None


def _magic_line(part: str, hidden: dict[str, str]) -> Iterator[str]:
    first = re.match(r"[^\n]*\n?", part)
    line = first.group() if first else ""
    if hidden.get(line.rstrip("\r\n").rpartition("# ")[2], "").lstrip().startswith("%%"):
        yield line
