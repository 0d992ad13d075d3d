"""Whether the out-of-place twin of an in-place method can give another dtype than the receiver has."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from scripts.catalog_build import measure
from scripts.catalog_build.calls import Call

DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.complex64,
)
CALLS = 12


def can_change(leaf: str, calls: Sequence[Call]) -> bool:
    """Whether a call that runs in place gives another dtype out of place, over pairs of dtypes."""
    method = getattr(torch.Tensor, leaf)
    twin = getattr(torch.Tensor, leaf.rstrip("_"), None)
    if twin is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return any(_differs(method, twin, call) for call in _cast_calls(calls))


def _cast_calls(calls: Sequence[Call]) -> Iterator[Call]:
    for call in calls[:CALLS]:
        first = call.args[0]
        if not isinstance(first, torch.Tensor) or not first.numel():
            continue
        for receiver, other in itertools.product(DTYPES, DTYPES):
            for only_floats in (True, False):
                yield _cast(call, receiver, other, only_floats)


def _cast(call: Call, receiver: torch.dtype, other: torch.dtype, only_floats: bool) -> Call:
    """The call with all values 1: only dtypes matter, and some kernels never end for large negative bfloat16."""

    def change(tensor: torch.Tensor) -> torch.Tensor:
        floating = tensor.is_floating_point() or tensor.is_complex()
        return torch.ones_like(tensor, dtype=other) if floating or not only_floats else tensor

    rest = measure.replaced(call.args[1:], change)
    first = torch.ones_like(call.args[0], dtype=receiver)
    return Call((first, *rest), measure.replaced(dict(call.kwargs), change))


def _differs(method: Any, twin: Any, call: Call) -> bool:
    receiver = call.args[0].detach()
    try:
        method(receiver.clone(), *call.args[1:], **call.kwargs)
        result = twin(receiver, *call.args[1:], **call.kwargs)
    except measure.MISFITS:
        return False
    return isinstance(result, torch.Tensor) and bool(result.dtype != receiver.dtype)
