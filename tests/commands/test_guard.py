"""How commands end when something goes wrong."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from inplace_fix.commands.guard import guard
from inplace_fix.refusal import RefusalError
from inplace_fix.trace.evidence import EvidenceError


def failing(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KeyboardInterrupt(), 130, "\nInterrupted; no file was left half-written.\n"),
        (RefusalError("x.toml: no"), 2, "inplace-fix: x.toml: no\n"),
        (EvidenceError("e.json: of another tree"), 2, "inplace-fix: e.json: of another tree\n"),
    ],
)
def test_expected_ends_are_one_line(error: BaseException, status: int, words: str) -> None:
    stream = io.StringIO()
    assert guard(failing(error), stream) == status
    assert stream.getvalue() == words


def test_an_unexpected_error_says_what_and_where_and_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPLACE_FIX_DEBUG", raising=False)
    stream = io.StringIO()
    assert guard(failing(ValueError("odd\nthing")), stream) == 2
    first, second = stream.getvalue().splitlines()
    assert first.startswith("inplace-fix: internal error: ValueError: odd thing at test_guard.py:")
    assert "please report" in second


def test_the_traceback_is_there_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPLACE_FIX_DEBUG", "1")
    stream = io.StringIO()
    guard(failing(ValueError("odd")), stream)
    assert stream.getvalue().startswith("Traceback ")


def test_the_status_of_a_command_that_ends_well_is_its_own() -> None:
    assert guard(lambda: 1, io.StringIO()) == 1
