"""A part of the catalog is measured again on the installed torch and compared with what is shipped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from inplace_fix.catalog import Op, load

torch = pytest.importorskip("torch")

EVERY = 9
ALWAYS = """
    Tensor.add Tensor.add_ Tensor.mul Tensor.mul_ Tensor.pow Tensor.max Tensor.detach Tensor.chunk Tensor.expand
    Tensor.to Tensor.__getitem__ Tensor.__getitem__.advanced Tensor.__setitem__.advanced Tensor.masked_fill_
    Tensor.copy_ where nn.functional.relu nn.functional.linear nn.functional.embedding nn.functional.batch_norm
    _foreach_exp_ _fused_sgd_ nn.init.zeros_ from_numpy
"""

pytestmark = pytest.mark.skipif(
    torch.__version__.partition("+")[0] != load().torch_version, reason="the catalog was measured with another torch"
)


def names(surface: Mapping[str, Callable[..., Any]]) -> list[str]:
    """Every ninth callable, and those that the analysis leans on."""
    return sorted({*list(surface)[::EVERY], *(f"torch.{name}" for name in ALWAYS.split())})


def test_callables_still_save_write_and_return_what_the_catalog_says(
    surface: Mapping[str, Callable[..., Any]], calls: Mapping[str, Sequence[Any]]
) -> None:
    from scripts.catalog_build import entries, gradients

    shipped = load()
    different: dict[str, tuple[Op, Op | None]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names(surface):
            for op in entries.entries(name, surface[name], calls.get(name, [])):
                measured = gradients.measured(op)
                if shipped.ops.get(op.name) != measured:
                    different[op.name] = (measured, shipped.ops.get(op.name))
    assert different == {}


@pytest.mark.parametrize(
    "leaf", ["ReLU", "Dropout", "Linear", "BatchNorm2d", "Embedding", "LSTM", "Flatten", "MSELoss"]
)
def test_modules_still_save_write_and_return_what_the_catalog_says(leaf: str) -> None:
    pytest.importorskip("expecttest")
    from scripts.catalog_build import modules

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = modules.measured(f"torch.nn.{leaf}", getattr(torch.nn, leaf))
    assert found == load().module(f"torch.nn.{leaf}")


def test_no_public_in_place_method_is_missing() -> None:
    methods = [name for name in dir(torch.Tensor) if name.endswith("_") and not name.startswith("_")]
    missing = [name for name in methods if load().method(name) is None or load().method(name).kind is None]
    assert missing == []


def test_no_module_with_a_forward_of_its_own_is_missing() -> None:
    from scripts.catalog_build.modules import all_classes

    assert [name for name, _ in all_classes() if load().module(name) is None] == []
