"""Colour where it is wanted, and nothing that steers a terminal."""

from __future__ import annotations

import io

import pytest

from inplace_fix.report import paint


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "colour"),
    [
        (io.StringIO(), {}, False),
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_go_to_terminals_that_want_them(
    stream: io.StringIO, environment: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert paint.coloured(stream) is colour


def test_the_coloured_text_is_the_plain_one_with_codes_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    paint.write([[("error[X]", "error"), (" [bold]not markup[/bold] " + "long " * 60, "")]], stream)
    assert "\x1b[1;31merror[X]\x1b[0m" in stream.getvalue()
    assert " [bold]not markup[/bold] " + "long " * 60 + "\n" in stream.getvalue()


def test_control_characters_of_the_source_show_as_symbols() -> None:
    stream = io.StringIO()
    paint.write([[("a\x1b[2Jb\x07\tc\rd\x7f", "")]], stream)
    assert stream.getvalue() == "a␛[2Jb␇\tc␍d␡\n"
