"""Real calls of torch's callables, collected once for the tests that run them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

Calls = Mapping[str, Sequence[Any]]


@pytest.fixture(scope="session")
def surface() -> dict[str, Callable[..., Any]]:
    """Every public callable of the installed torch; skips where torch or what op_db needs is missing."""
    pytest.importorskip("torch")
    pytest.importorskip("expecttest")
    from scripts.catalog_build.surface import callables

    return callables()


@pytest.fixture(scope="session")
def calls(surface: dict[str, Callable[..., Any]]) -> Calls:
    """The sample calls of the catalog's own build, by qualified name."""
    from scripts.catalog_build import calls as collecting
    from scripts.catalog_build import written

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collecting.collect(surface, written.lines())
