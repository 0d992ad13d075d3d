"""Runs a generated program plainly or under the oracle, and compares outcomes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch

from inplace_fix.trace.oracle import Oracle
from inplace_fix.trace.verify_lift import LeafWrites

AUTOGRAD_ERRORS = (
    "modified by an inplace operation",
    "in-place operation",
    "is a view and",
    "A view was created in",
    "functions with out=... arguments don't support automatic differentiation",
    "the derivative for 'inplace version of",
)


@dataclass(frozen=True)
class Outcome:
    """Loss and values, gradients, or the message with which the program stopped."""

    values: tuple[torch.Tensor, ...] = ()
    gradients: tuple[torch.Tensor | None, ...] = ()
    error: str = ""
    rescued: int = 0

    @property
    def refused(self) -> bool:
        """Whether autograd stopped the program."""
        return any(mark in self.error for mark in AUTOGRAD_ERRORS)


def run(text: str, oracle: Oracle | None = None) -> Outcome:
    """Run ``program()`` of a source text; any exception becomes the outcome's error."""
    space: dict[str, object] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, "<generated>", "exec"), space)
            if oracle is None:
                loss, gradients, values = space["program"]()  # type: ignore[operator]
            else:
                with oracle:
                    loss, gradients, values = space["program"]()  # type: ignore[operator]
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {error}")
    return Outcome((loss.detach(), *values), tuple(gradients), rescued=oracle.rescued if oracle else 0)


def meanings(text: str, plain: Outcome) -> list[Outcome]:
    """What a program that ran to ``plain`` means.

    One that autograd accepts means what it computes when saved values are kept, which is ``plain`` itself unless it is
    silently wrong. One that autograd refuses means that with leaf writes as updates, or as writes to a copied leaf.
    """
    if not plain.error:
        return [run(text, Oracle(lift=False))]
    runs = [run(text, Oracle(lift=True, leaf=leaf)) for leaf in LeafWrites]
    return [outcome for outcome in runs if not outcome.error]


def same_bits(one: torch.Tensor | None, two: torch.Tensor | None) -> bool:
    """Equal in size, dtype and value; NaN equals NaN."""
    if one is None or two is None:
        return one is two
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    return bool(((one == two) | (one.isnan() & two.isnan())).all())


def close(one: torch.Tensor | None, two: torch.Tensor | None, tolerance: float = 1e-6) -> bool:
    """Equal to ``tolerance`` of the largest value; NaN equals NaN, and a missing gradient is one of zeros."""
    if one is None or two is None:
        left = one if two is None else two
        return left is None or not bool(left.any())
    if one.shape != two.shape:
        return False
    one, two = one.double(), two.double()
    equal = (one == two) | (one.isnan() & two.isnan())
    gap = torch.where(equal, torch.zeros_like(one), (one - two).abs())
    scale = torch.nan_to_num(two.abs(), nan=0.0, posinf=0.0).max()
    return bool(gap.max() <= tolerance * scale)


def agrees(found: Outcome, reference: Outcome, tolerance: float = 1e-6) -> bool:
    """Whether values agree bit for bit and gradients to the tolerance."""
    return (
        len(found.values) == len(reference.values)
        and all(same_bits(one, two) for one, two in zip(found.values, reference.values, strict=True))
        and all(close(one, two, tolerance) for one, two in zip(found.gradients, reference.gradients, strict=True))
    )
