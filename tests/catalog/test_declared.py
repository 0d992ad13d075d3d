"""Measured against declared: torch's own derivative formulas must name the same saved values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from inplace_fix.catalog import Op, load

torch = pytest.importorskip("torch")

# Where one formula is not the whole story, and why.
KNOWN = {
    **dict.fromkeys(
        ("_foreach_maximum", "_foreach_minimum", "clamp_max", "clamp_min"), "the first overload takes a number"
    ),
    **dict.fromkeys(("fmod", "remainder", "lerp"), "the first overload takes a number"),
    "_foreach_norm": "declared of each tensor, measured of the list",
    "binary_cross_entropy_with_logits": "no sample gives the weights",
    "index_put": "a list of tensors that may be missing is no tensor type there",
    "native_batch_norm": "its samples are in evaluation mode",
    "polygamma": "the method's receiver is the function's second parameter",
}


def kept(op: Op) -> set[str]:
    return {save.what for save in op.saves}


def test_what_is_measured_is_what_the_formulas_say(surface: Mapping[str, Callable[..., Any]]) -> None:
    from scripts.catalog_build import declared, signatures

    compared, different = 0, {}
    for name, op in load().ops.items():
        leaf = name.removeprefix("torch.")
        if name not in surface or "." in leaf or leaf.endswith("_") or op.source == "declared" or op.overloads:
            continue
        params = tuple(signatures.Param(param) for param in op.params)
        formula = declared.entry(name, signatures.Signature(params), set())
        if formula.differentiable and op.differentiable:
            compared += 1
            if kept(op) != kept(formula) and leaf not in KNOWN:
                different[name] = (kept(op), kept(formula))
    assert different == {}
    assert compared > 200
