"""Lines of styled pieces, written plain or, on a terminal, in colour."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TextIO

Piece = tuple[str, str]
"""A text and its style: "" or one of the keys of STYLES."""

Line = Sequence[Piece]

STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "strong": "bold",
    "frame": "blue",
    "second": "cyan",
    "removed": "red",
    "added": "green",
    "quiet": "dim",
}
CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {127: 0x2421}


def coloured(stream: TextIO) -> bool:
    """Whether to write colours: on a terminal that can, unless NO_COLOR is set; FORCE_COLOR turns them on anywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def write(lines: Iterable[Line], stream: TextIO) -> None:
    """Write lines to a stream. Control characters from the quoted source show as symbols, so they steer no terminal."""
    if not coloured(stream):
        for line in lines:
            stream.write("".join(text for text, _ in line).translate(CONTROLS) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, force_terminal=True, highlight=False, soft_wrap=True)
    for line in lines:
        pieces = [(text.translate(CONTROLS), STYLES.get(style, "")) for text, style in line]
        console.print(Text.assemble(*pieces))
