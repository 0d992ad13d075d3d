"""Every surrounding gives the same values, errors and graph breaks with a trace as without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from surroundings import SURROUNDINGS

import inplace_fix


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def plain() -> dict[str, object]:
    return {}


@pytest.mark.parametrize("level", ["writes", "full"])
@pytest.mark.parametrize("name", SURROUNDINGS)
def test_a_program_gives_what_it_gives_without_a_trace(name: str, level: str, plain: dict[str, object]) -> None:
    program = SURROUNDINGS[name]
    if name not in plain:
        plain[name] = program()
    with inplace_fix.tracing(level, quiet=True) as run:
        traced = program()
    assert traced == plain[name]
    assert run.evidence.notes == ()
    assert program() == plain[name], "the trace left something behind"
