"""Python source as lines of coloured pieces, for a page: pieces can be cut at any column, and nothing stays hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType

from inplace_fix.report.paint import CONTROLS

# what would reorder or hide the text around it in a browser shows as its number
HIDDEN = {code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x200E, 0x200F)}
UNFIT = (*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)  # which no page may hold
SHOWN: dict[int, str | int] = {**CONTROLS, **HIDDEN, **dict.fromkeys(UNFIT, 0xFFFD)}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one line: its text, the kind of token as Pygments abbreviates it, and whether it is marked."""

    text: str
    kind: str
    marked: bool = False


Row = list[Piece]


def visible(text: str) -> str:
    """The text with control characters as symbols."""
    return text.translate(SHOWN)


def rows(text: str) -> list[Row]:
    """The lines of a source, without their ends, in pieces. An unfinished source is coloured as far as it goes."""
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    found: list[Row] = [[]]
    for kind, value in lexer.get_tokens(text):
        name = short(kind)
        for number, part in enumerate(value.split("\n")):
            if number:
                found.append([])
            if part:
                found[-1].append(Piece(part, name))
    return found


def short(kind: _TokenType) -> str:
    """Pygments' abbreviation of a kind of token, or of the nearest kind above it that has one."""
    known = (one for one in reversed(kind.split()) if one in STANDARD_TYPES)
    return STANDARD_TYPES[next(known)]


def marked(row: Sequence[Piece], stretches: Iterable[tuple[int, int]]) -> Row:
    """The row with the stretches between columns marked, pieces cut where a stretch begins or ends."""
    wanted = sorted(stretches)
    return [piece for piece in cut(row, {column for pair in wanted for column in pair}, wanted) if piece.text]


def cut(row: Sequence[Piece], borders: set[int], wanted: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """The pieces of a row, none across a border."""
    start = 0
    for piece in row:
        end = start + len(piece.text)
        points = sorted({start, end, *(b for b in borders if start < b < end)})
        for a, b in pairwise(points):
            yield Piece(piece.text[a - start : b - start], piece.kind, any(s <= a and b <= e for s, e in wanted))
        start = end
