"""The program's traceback without the tracer's frames."""

from __future__ import annotations

import traceback

import pytest
import torch
import torch.nn.functional as functional

import inplace_fix
from inplace_fix.trace.tracebacks import clean


def _frames(error: BaseException) -> list[tuple[str, int | None]]:
    return [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]


def _in_place() -> None:
    torch.ones(2, requires_grad=True).add_(1)


def _functional() -> None:
    functional.relu(torch.ones(2, requires_grad=True), inplace=True)


def _out_of_place() -> None:
    functional.linear(torch.ones(2, 3), torch.ones(2, 2))


def _module() -> None:
    torch.nn.Linear(2, 2)(torch.ones(1, 3))


def _backward() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    y.add_(1)
    y.sum().backward()


@pytest.mark.parametrize("level", ["writes", "full"])
@pytest.mark.parametrize("act", [_in_place, _functional, _out_of_place, _module, _backward])
def test_a_traceback_reads_as_without_a_trace(act: object, level: str) -> None:
    assert callable(act)
    with pytest.raises(RuntimeError) as plain:
        act()
    with pytest.raises(RuntimeError) as traced, inplace_fix.tracing(level, quiet=True):
        act()
    assert _frames(clean(traced.value)) == _frames(plain.value)


def test_the_causes_of_an_error_are_cleaned_too() -> None:
    def wrapping() -> None:
        try:
            _in_place()
        except RuntimeError as error:
            raise ValueError("wrapped") from error

    with pytest.raises(ValueError, match="wrapped") as caught, inplace_fix.tracing("full", quiet=True):
        wrapping()
    cause = clean(caught.value).__cause__
    assert cause is not None
    assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)][-1] == "_in_place"


def test_errors_that_refer_to_each_other_end() -> None:
    first, second = ValueError(1), ValueError(2)
    first.__context__, second.__context__ = second, first
    assert clean(first) is first
