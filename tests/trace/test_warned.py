"""Warnings from inside a wrapper appear where they would without a trace, once a line of the program."""

from __future__ import annotations

import warnings

import pytest
import torch

import inplace_fix


def _expanded(times: int) -> list[tuple[str, int]]:
    """The file and line of each warning that a store into an expanded tensor gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(times):
            x = torch.zeros(1).expand(3)
            x[torch.tensor([True, False, False])] = 1.0
            x.masked_fill_(torch.tensor([True, False, False]), 2.0)
    return [(one.filename, one.lineno) for one in caught]


@pytest.mark.parametrize("level", ["writes", "full"])
def test_a_warning_names_the_programs_line(level: str) -> None:
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # the C++ side would give each warning once a process
    try:
        plain = _expanded(2)
        with inplace_fix.tracing(level, quiet=True):
            traced = _expanded(2)
    finally:
        torch.set_warn_always(before)
    assert plain
    assert traced == plain


def test_a_warning_that_is_an_error_stays_one() -> None:
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(), inplace_fix.tracing(quiet=True):
            warnings.simplefilter("error")
            with pytest.raises(UserWarning):
                torch.zeros(1).expand(3).masked_fill_(torch.tensor([True, False, False]), 2.0)
    finally:
        torch.set_warn_always(before)
