"""From running code to places in source: which frame is the user's, and what line and column it is at.

A site is one bytecode instruction of one code object. It costs two dictionary look-ups while the program runs; its line
and column are worked out once, when the evidence is written.
"""

from __future__ import annotations

import hashlib
import io
import linecache
import os
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from inplace_fix.nouns import Place, Span

if TYPE_CHECKING:
    from inplace_fix.trace.sampling import Sample

SKIPPED, LIBRARY, OWN = 0, 1, 2
"""torch, the standard library and this package; an installed library; the user's own tree."""

_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep
_DEEPEST = 16
INSTALLED = frozenset(("site-packages", "dist-packages"))
_Row = tuple[int | None, int | None, int | None, int | None]


class Site:
    """One instruction that did something to a tensor, with what the recorder keeps about it (see ``sampling``).

    A negative ``lasti`` stands for the whole of that line.
    """

    __slots__ = ("callers", "code", "count", "harmless", "kind", "lasti", "value", "write")

    def __init__(self, code: CodeType, lasti: int, kind: int) -> None:
        self.code = code
        self.lasti = lasti
        self.kind = kind
        self.count = 0
        self.harmless = 0
        self.callers: list[Site] = []
        self.value: Sample | None = None
        self.write: Sample | None = None


class _Code:
    """A code object seen in the run; held so that its ``id`` stays its own."""

    __slots__ = ("code", "kind", "sites")

    def __init__(self, code: CodeType, kind: int) -> None:
        self.code = code
        self.kind = kind
        self.sites: dict[int, Site] = {}


class Positions:
    """All sites of one run. Code objects are keyed by ``id``: their own hash walks through their constants
    each time.
    """

    def __init__(self, torch_root: str) -> None:
        self._codes: dict[int, _Code] = {}
        self._skipped: dict[str, bool] = {}
        self._kinds: dict[str, int] = {}
        self.sources: dict[str, str] = {}  # file name -> SHA-256 of its bytes when it was first seen
        paths = sysconfig.get_paths()
        self._torch = torch_root.rstrip(os.sep) + os.sep
        self._standard = tuple({paths["stdlib"] + os.sep, paths["platstdlib"] + os.sep})

    def site(self, frame: FrameType | None) -> Site | None:
        """The site of the innermost frame that belongs neither to torch nor to the standard library nor to the
        tracer.
        """
        codes = self._codes
        while frame is not None:
            code = frame.f_code
            entry = codes.get(id(code))
            if entry is None:
                entry = self._enter(code)
            if entry.kind:
                lasti = frame.f_lasti
                found = entry.sites.get(lasti)
                if found is None:
                    found = entry.sites[lasti] = Site(code, lasti, entry.kind)
                if entry.kind == LIBRARY and len(found.callers) < 4:
                    caller = self._own(frame.f_back)
                    if caller is not None and caller not in found.callers:
                        found.callers.append(caller)
                return found
            frame = frame.f_back
        return None

    def known(self, frame: FrameType) -> Site | None:
        """The site of a frame of the user's own tree that has been met before; None for any other frame."""
        entry = self._codes.get(id(frame.f_code))
        return entry.sites.get(frame.f_lasti) if entry is not None and entry.kind == OWN else None

    def chain(self, frame: FrameType | None) -> tuple[Site, ...]:
        """The sites of the user's own running functions, the innermost first."""
        found: list[Site] = []
        while frame is not None and len(found) < _DEEPEST:
            if self.kind(frame.f_code) == OWN:
                found.append(self.at(frame.f_code, frame.f_lasti))
            frame = frame.f_back
        return tuple(found)

    def kind(self, code: CodeType) -> int:
        """Whose code it is: ``SKIPPED``, ``LIBRARY`` or ``OWN``."""
        entry = self._codes.get(id(code))
        return entry.kind if entry is not None else self._enter(code).kind

    def at(self, code: CodeType, lasti: int) -> Site:
        """The site of one instruction, for frames that are known from a traceback."""
        entry = self._codes.get(id(code)) or self._enter(code)
        found = entry.sites.get(lasti)
        if found is None:
            found = entry.sites[lasti] = Site(code, lasti, entry.kind)
        return found

    def line(self, code: CodeType, number: int) -> Site:
        """The site of everything that one line of a code object does, for what is known by line only."""
        return self.at(code, -number)

    def all(self) -> Iterator[Site]:
        """Every site seen so far (over a copy, since other threads may go on adding)."""
        for entry in list(self._codes.values()):
            yield from list(entry.sites.values())

    def _own(self, frame: FrameType | None) -> Site | None:
        while frame is not None:
            if self.kind(frame.f_code) == OWN:
                return self.at(frame.f_code, frame.f_lasti)
            frame = frame.f_back
        return None

    def _enter(self, code: CodeType) -> _Code:
        filename = code.co_filename
        kind = self._kinds.get(filename)
        if kind is None:
            kind = self._kinds[filename] = self._classify(filename)
            if kind:
                self.sources[filename] = digest(filename)
        entry = _Code(code, kind)
        # Generated code ("<string>") may be made anew at every call; keeping it would let memory grow.
        if not filename.startswith("<"):
            self._codes[id(code)] = entry
        return entry

    def _classify(self, filename: str) -> int:
        if filename.startswith(("<ipython-input", "<stdin")):
            return OWN
        if filename.startswith("<"):
            return SKIPPED
        path = os.path.abspath(filename)
        if path.startswith((self._torch, _PACKAGE)):
            return SKIPPED
        if INSTALLED.intersection(path.split(os.sep)):
            return LIBRARY
        return SKIPPED if path.startswith(self._standard) else OWN


class Spans:
    """Works out lines and columns; keeps the decoded sources and the position tables it has read."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}
        self._tables: dict[int, tuple[CodeType, list[_Row]]] = {}

    def place(self, site: Site) -> Place:
        """The source expression of a site."""
        return Place(Path(site.code.co_filename), self.span(site.code, site.lasti))

    def span(self, code: CodeType, lasti: int) -> Span:
        """The span of one instruction; before Python 3.11 that is the whole text of its line."""
        if not hasattr(code, "co_positions"):
            return self._text_span(code.co_filename, -lasti if lasti < 0 else _line_of(code, lasti))
        known = self._tables.get(id(code))
        if known is None:
            known = self._tables[id(code)] = (code, list(code.co_positions()))
        if lasti < 0:
            return self._whole(code.co_filename, -lasti, known[1])
        index = lasti // 2
        line, end_line, column, end_column = known[1][index] if 0 <= index < len(known[1]) else (None,) * 4
        if line is None or end_line is None or column is None or end_column is None:
            return self._text_span(code.co_filename, _line_of(code, lasti))
        name = code.co_filename
        return Span(line, self._points(name, line, column), end_line, self._points(name, end_line, end_column))

    def _whole(self, name: str, line: int, table: list[_Row]) -> Span:
        """The span of all instructions that start on a line."""
        rows = [row for row in table if row[0] == line and None not in row]
        if not rows:
            return self._text_span(name, line)
        first = min(row[2] or 0 for row in rows)
        end_line, end = max((row[1] or line, row[3] or 0) for row in rows)
        return Span(line, self._points(name, line, first), end_line, self._points(name, end_line, end))

    def _text_span(self, filename: str, line: int) -> Span:
        text = self._text(filename, line)
        return Span(line, len(text) - len(text.lstrip()), line, len(text.rstrip()))

    def _points(self, filename: str, line: int, column: int) -> int:
        """Code points before a column that CPython counts in UTF-8 bytes."""
        text = self._text(filename, line)
        return column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))

    def _text(self, filename: str, line: int) -> str:
        lines = self.lines(filename)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def lines(self, filename: str) -> list[str]:
        """The decoded lines of a source, without their ends; empty where it cannot be read."""
        known = self._lines.get(filename)
        if known is None:
            known = self._lines[filename] = _read(filename)
        return known


def _line_of(code: CodeType, lasti: int) -> int:
    for start, end, number in code.co_lines():
        if number is not None and start <= lasti < end:
            return number
    return code.co_firstlineno


def digest(filename: str) -> str:
    """The SHA-256 of a source's bytes; of a notebook cell's text; "" where there is neither."""
    try:
        return hashlib.sha256(Path(filename).read_bytes()).hexdigest()
    except (OSError, ValueError):
        text = "".join(linecache.getlines(filename))
        return hashlib.sha256(text.encode()).hexdigest() if text else ""


def _read(filename: str) -> list[str]:
    try:
        raw = Path(filename).read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        # Only \n, \r\n and \r end a line of Python; str.splitlines would also split at form feeds and U+2028.
        return raw.decode(encoding).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    except (OSError, ValueError, SyntaxError):
        return [line.rstrip("\n") for line in linecache.getlines(filename)]
