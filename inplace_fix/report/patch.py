"""Unified diffs that ``git apply`` takes, made from bytes so that encodings, line ends and byte order marks survive."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

CONTEXT = 3


def patch(path: Path, old: bytes, new: bytes, folder: Path | None = None) -> bytes:
    """The diff of one file, b"" where nothing changed.

    Names are relative to ``folder`` (default: the current one), from where ``git apply`` and ``patch -p1`` take them.
    A file outside it is named from the top of its repository with git's own header, which ``git apply`` reads so.
    """
    if old == new:
        return b""
    header, name = _name(path, folder or Path.cwd())
    before, after = old.split(b"\n"), new.split(b"\n")
    hunks = b"".join(_hunk(before, after, group) for group in _groups(before, after))
    return header + b"--- " + _quoted(b"a/" + name) + b"\n+++ " + _quoted(b"b/" + name) + b"\n" + hunks


def _groups(before: Sequence[bytes], after: Sequence[bytes]) -> list[list[tuple[str, int, int, int, int]]]:
    # only the differing middle is compared: SequenceMatcher is slow on long files
    head = 0
    shortest = min(len(before), len(after)) - 1  # the last piece tells whether the file ends in a line end
    while head < shortest and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shortest - head and before[-2 - tail] == after[-2 - tail] and before[-1] == after[-1]:
        tail += 1
    head, tail = max(head - CONTEXT, 0), max(tail - CONTEXT, 0)
    matcher = difflib.SequenceMatcher(None, _lines(before, head, tail), _lines(after, head, tail))
    return [
        [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in group]
        for group in matcher.get_grouped_opcodes(CONTEXT)
    ]


def _lines(pieces: Sequence[bytes], head: int, tail: int) -> list[tuple[bytes, bool]]:
    """The lines between ``head`` and ``tail``, each with whether a line end follows; a last empty piece is no line."""
    last = len(pieces) - 1
    count = last + (1 if pieces[last] else 0) - tail
    return [(pieces[i], i < last) for i in range(head, count)]


def _hunk(before: Sequence[bytes], after: Sequence[bytes], group: Sequence[tuple[str, int, int, int, int]]) -> bytes:
    a, b, c, d = group[0][1], group[-1][2], group[0][3], group[-1][4]
    out = [f"@@ -{_range(a, b)} +{_range(c, d)} @@\n".encode()]
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            out += [_row(b" ", before, i) for i in range(i1, i2)]
        else:
            out += [_row(b"-", before, i) for i in range(i1, i2)]
            out += [_row(b"+", after, j) for j in range(j1, j2)]
    return b"".join(out)


def _row(sign: bytes, pieces: Sequence[bytes], index: int) -> bytes:
    end = b"\n" if index < len(pieces) - 1 else b"\n\\ No newline at end of file\n"
    return sign + pieces[index] + end


def _range(start: int, stop: int) -> str:
    length = stop - start
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"


def _name(path: Path, folder: Path) -> tuple[bytes, bytes]:
    absolute = Path(os.path.abspath(path))
    try:
        return b"", _bytes(absolute.relative_to(os.path.abspath(folder)))
    except ValueError:
        pass
    top = next((parent for parent in absolute.parents if (parent / ".git").exists()), None)
    if top is None:
        return b"", _bytes(absolute.relative_to(absolute.anchor))
    name = _bytes(absolute.relative_to(top))
    return b"diff --git " + _quoted(b"a/" + name).strip() + b" " + _quoted(b"b/" + name).strip() + b"\n", name


def _bytes(path: Path) -> bytes:
    return os.fsencode(path.as_posix())


def _quoted(name: bytes) -> bytes:
    """A name as git writes it: in quotes where it holds quotes or control characters; a tab ends one with spaces."""
    if any(c < 32 or c in b'"\\' or c == 127 for c in name):
        return b'"' + b"".join(_escaped(c) for c in name) + b'"'
    return name + b"\t" if b" " in name else name


def _escaped(c: int) -> bytes:
    if c in b'"\\':
        return b"\\" + bytes([c])
    return bytes([c]) if 32 <= c < 127 else b"\\%03o" % c
