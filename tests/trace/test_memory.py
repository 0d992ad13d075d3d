"""A trace keeps no tensor alive and does not grow with the number of steps."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as functional
from torch import nn

import inplace_fix


def _steps() -> Callable[[], None]:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 8), nn.ReLU(inplace=True), nn.BatchNorm1d(8), nn.Dropout(0.1, inplace=True), nn.Linear(8, 2)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    mean = torch.zeros(4)

    def step() -> None:
        x = torch.rand(8, 4)
        mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        window = x.numpy()[:2]
        y = (model(x) * float(window.sum())).exp() * 1
        y[:, 0] += 1
        optimizer.zero_grad()
        functional.mse_loss(y, torch.zeros(8, 2)).backward()
        for p in model.parameters():
            p.data.clamp_(-2, 2)
        optimizer.step()

    return step


def _tensors(objects: list[object]) -> int:
    # isinstance() would ask some of torch's lazy objects for their class, and they warn.
    return sum(issubclass(type(one), torch.Tensor) for one in objects)


@pytest.mark.parametrize("level", ["writes", "full"])
def test_objects_do_not_grow_over_a_thousand_steps(level: str) -> None:
    pytest.importorskip("numpy")
    step = _steps()
    with inplace_fix.tracing(level, quiet=True):
        for _ in range(150):
            step()
        gc.collect()
        before = len(gc.get_objects())
        tensors = _tensors(gc.get_objects())
        for _ in range(1000):
            step()
        gc.collect()
        after = gc.get_objects()
        assert _tensors(after) <= tensors
        # The samples of sites grow with the logarithm of the count.
        assert len(after) - before < 300


@pytest.mark.parametrize("level", ["writes", "full"])
def test_a_tensor_and_its_storage_are_freed_without_the_collector(level: str) -> None:
    gc.disable()
    try:
        with inplace_fix.tracing(level, quiet=True):
            x = torch.rand(3, requires_grad=True)
            y = (x * 2).sigmoid() * 1
            y.add_(1)
            y.data[0] = 0
            y.sum().backward()
            references = [weakref.ref(y), weakref.ref(y.untyped_storage())]
            del y
            assert [reference() for reference in references] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("level", ["writes", "full"])
def test_locals_that_were_looked_at_are_not_kept(level: str) -> None:
    gc.disable()
    try:
        with inplace_fix.tracing(level, quiet=True):
            module = nn.ReLU(inplace=True)
            y = torch.rand(3) * 1
            module(y)
            reference = weakref.ref(y.untyped_storage())
            y = torch.rand(3)
            assert reference() is None
    finally:
        gc.enable()
