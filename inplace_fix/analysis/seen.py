"""What runs showed of expressions, in the terms of the analysis: types for what the source leaves open."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from inplace_fix.analysis.units import Unit
from inplace_fix.nouns import Place


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The tensor that one expression gave, or wrote to, whenever it ran.

    ``ops`` are bare names of the torch operations seen (``add``, ``__getitem__``). The rest is what all executions had
    in common, None where they differed: whether it is 0-dim (``scalar``), required grad, was a leaf, a view of another
    tensor, and whether grad mode was on.
    """

    ops: tuple[str, ...]
    dtype: str | None = None
    scalar: bool | None = None
    requires: bool | None = None
    leaf: bool | None = None
    view: bool | None = None
    grad: bool | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """Glimpses by the place of the expression: ``results`` of what it gave, ``receivers`` of what it wrote to."""

    results: Mapping[Place, Glimpse]
    receivers: Mapping[Place, Glimpse]

    def result(self, unit: Unit, node: ast.AST) -> Glimpse | None:
        """The tensor that an expression gave; None where no run came by, or gave anything else."""
        return self.results.get(unit.place(node)) if hasattr(node, "end_lineno") else None

    def receiver(self, unit: Unit, node: ast.AST) -> Glimpse | None:
        """The tensor that a construct wrote to, as it was before the write."""
        return self.receivers.get(unit.place(node)) if hasattr(node, "end_lineno") else None
