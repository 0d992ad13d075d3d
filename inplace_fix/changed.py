"""The lines that changed since a git revision, so that a review sees only what it brought in."""

from __future__ import annotations

import difflib
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Finding, Place
from inplace_fix.refusal import RefusalError
from inplace_fix.source import SourceError, decode

NO_FILE = 128  # git's exit status for a path that the revision does not hold


class ChangesError(RefusalError):
    """Changes that cannot be known: no git, no repository, or no such revision."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Compares texts with what a revision holds under the same path.

    ``convert`` turns the bytes of the old file into the text that findings count rows in.
    """

    revision: str
    convert: Callable[[bytes, Path], str]
    _old: dict[Path, list[str] | None] = field(default_factory=dict, compare=False)
    _rows: dict[Path, tuple[str, set[int]]] = field(default_factory=dict, compare=False)

    @staticmethod
    def since(revision: str, convert: Callable[[bytes, Path], str] | None = None) -> Changes:
        """Check the revision once. Raises ChangesError."""
        answer = _git(Path.cwd(), "rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}")
        if answer.returncode:
            inside = not _git(Path.cwd(), "rev-parse", "--git-dir").returncode
            words = f"git knows no revision {revision!r}" if inside else "this is no git repository"
            raise ChangesError(f"--diff-from {revision}: {words}")
        return Changes(revision, convert or (lambda data, path: decode(data, path).text))

    def touches(self, finding: Finding, text: str) -> bool:
        """Whether the finding, or a place it speaks of in the same file, lies on a line that changed."""
        rows = self.rows(finding.place.path, text)
        places = [finding.place, *(related.place for related in finding.related)]
        return any(_overlap(place, rows) for place in places if place.path == finding.place.path)

    def rows(self, path: Path, text: str) -> set[int]:
        """The rows of ``text`` that are not in the revision; all of them where it does not hold the file."""
        last = self._rows.get(path)
        if last is None or last[0] != text:
            if path not in self._old:
                self._old[path] = self._lines(path)
            last = self._rows[path] = (text, _new_rows(self._old[path], split_lines(text)))
        return last[1]

    def _lines(self, path: Path) -> list[str] | None:
        folder = Path(os.path.abspath(path)).parent
        shown = _git(folder, "show", f"{self.revision}:./{path.name}")
        if shown.returncode == NO_FILE:
            return None
        if shown.returncode:
            raise ChangesError(f"--diff-from {self.revision}: git cannot show {path}: {shown.stderr.decode().strip()}")
        try:
            return split_lines(self.convert(shown.stdout, path))
        except SourceError:
            return None


def _new_rows(old: list[str] | None, new: list[str]) -> set[int]:
    if old is None:
        return set(range(1, len(new) + 1))
    rows: set[int] = set()
    for tag, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            rows |= set(range(start + 1, end + 1))
    return rows


def _overlap(place: Place, rows: set[int]) -> bool:
    return any(row in rows for row in range(place.span.line, place.span.end_line + 1))


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    command: Sequence[str] = ["git", "-C", str(folder), *words]
    try:
        return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise ChangesError(f"git cannot be run: {error.strerror}") from None
