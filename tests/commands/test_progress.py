"""The progress bar."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from inplace_fix.commands.progress import MANY, tracked
from inplace_fix.engine import FileResult


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "total", "drawn"),
    [(Terminal(), MANY, True), (Terminal(), MANY - 1, False), (io.StringIO(), MANY, False)],
)
def test_a_bar_is_drawn_for_many_files_on_a_terminal_and_every_result_comes(
    stream: io.StringIO, total: int, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    results = [FileResult(Path(f"{number}.py"), "") for number in range(total)]
    assert list(tracked(iter(results), total, stream)) == results
    assert ("Reading" in stream.getvalue()) is drawn
