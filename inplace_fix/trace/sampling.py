"""What is kept of the tensors seen at one site: every different dtype, shape and flag, a few of each."""

from __future__ import annotations

from typing import Any

import torch

from inplace_fix.trace.positions import Site

_KEPT = 8


class Sample:
    """The observations of one site in one role (see ``observations.Fact``); each field keeps its values in order."""

    __slots__ = (
        "aliases",
        "count",
        "devices",
        "dtypes",
        "grad_mode",
        "inference",
        "leaf",
        "names",
        "ops",
        "parameter",
        "requires_grad",
        "shapes",
        "view",
    )

    def __init__(self) -> None:
        self.count = 0
        self.ops: dict[str, None] = {}
        self.dtypes: dict[str, None] = {}
        self.shapes: dict[tuple[int, ...], None] = {}
        self.devices: dict[str, None] = {}
        self.requires_grad: dict[bool, None] = {}
        self.leaf: dict[bool, None] = {}
        self.view: dict[bool, None] = {}
        self.parameter: dict[bool, None] = {}
        self.grad_mode: dict[bool, None] = {}
        self.inference: dict[bool, None] = {}
        self.aliases: dict[Site, None] = {}
        self.names: dict[str, None] = {}

    def due(self) -> bool:
        """Count one observation; True for the first three and then for every power of two."""
        self.count += 1
        return self.count < 4 or not self.count & (self.count - 1)

    def passes(self) -> bool:
        """Count one observation and give True, unless it is due to be looked at: then ``due`` counts it."""
        count = self.count + 1
        if count < 4 or not count & (count - 1):
            return False
        self.count = count
        return True

    def add(self, tensor: torch.Tensor, op: str) -> None:
        """Look at a tensor closely (some microseconds)."""
        _keep(self.ops, op)
        _keep(self.dtypes, str(tensor.dtype).removeprefix("torch."))
        _keep(self.shapes, tuple(_size(n) for n in tensor.shape))
        _keep(self.devices, tensor.device.type)
        _keep(self.requires_grad, tensor.requires_grad)
        _keep(self.leaf, tensor.is_leaf)
        _keep(self.parameter, isinstance(tensor, torch.nn.Parameter))
        _keep(self.grad_mode, torch.is_grad_enabled())
        inference = tensor.is_inference()
        _keep(self.inference, inference)
        if not inference:
            _keep(self.view, tensor._is_view())


def _keep(seen: dict[Any, None], value: object) -> None:
    if len(seen) < _KEPT:
        seen[value] = None


def _size(n: object) -> int:
    return n if type(n) is int else -1  # a symbolic size has no number yet


def share(storage: Any, site: Site, sample: Sample) -> None:
    """Note that ``site`` gave a tensor in ``storage``, and take over the sites that did so before."""
    holders = getattr(storage, "_inplace_fix_sites", None)
    if holders is None:
        storage._inplace_fix_sites = [site]
        return
    for other in holders:
        if other is not site:
            _keep(sample.aliases, other)
    if site not in holders and len(holders) < _KEPT:
        holders.append(site)
