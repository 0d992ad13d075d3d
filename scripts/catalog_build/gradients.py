"""Functions that write to the gradients of what they are given: ``clip_grad_norm_`` and its like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.nn import utils

from inplace_fix.catalog.model import Op, Result

# Arguments after the parameters.
_CALLS: dict[str, tuple[Any, ...]] = {
    "torch.nn.utils.clip_grad_norm": (0.1,),
    "torch.nn.utils.clip_grad_norm_": (0.1,),
    "torch.nn.utils.clip_grad_value_": (0.1,),
    "torch.nn.utils.clip_grads_with_norm_": (0.1, torch.tensor(10.0)),
}


def measured(op: Op) -> Op:
    """The entry with what a run on parameters with gradients showed; unchanged for any other function."""
    if op.name not in _CALLS:
        return op
    parameter = torch.nn.Parameter(torch.ones(3))
    parameter.grad = torch.ones(3)
    before = parameter._version, parameter.grad._version, parameter.detach().clone(), parameter.grad.clone()
    function: Callable[..., Any] = getattr(utils, op.name.rpartition(".")[2])
    result = function([parameter], *_CALLS[op.name])
    written = f"{op.params[0]}.grad"
    assert not torch.equal(before[3], parameter.grad), op.name
    assert torch.equal(before[2], parameter), op.name
    assert parameter._version == before[0], op.name
    return replace(
        op,
        result=Result.NONE if result is None else Result.FRESH,
        writes=(written,),
        silent=parameter.grad._version == before[1],
        source="written",
    )
