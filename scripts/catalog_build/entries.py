"""One catalog entry per callable, and one more per overload where overloads differ in what they save or return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from inplace_fix.catalog.model import Op, Result
from scripts.catalog_build import dtypes, facts, recipes, signatures
from scripts.catalog_build.calls import Call
from scripts.catalog_build.facts import Facts
from scripts.catalog_build.measure import Seen
from scripts.catalog_build.signatures import Signature

FLAG = "inplace"


def entries(name: str, function: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Op]:
    """The entry of ``name``, then those of its overloads (``torch.max.dim``) where they differ."""
    current = [one for one in signatures.of(name, function) if not one.scalar_first]
    groups = _grouped(current, calls)
    observed = [(signature, facts.observe(function, signature, mine)) for signature, mine in groups]
    observed = [(signature, seen) for signature, seen in observed if seen]
    base = _widest(current)
    every = [one for _, seen in observed for one in seen]
    op = _op(name, base, every) if every else _unmeasured(name, base, current)
    op = _described(op, function, calls, base, [one for group in groups for one in group[1]], current)
    yield replace(op, out=any(signature.out for signature in current))
    parts = [(signature, _op(name, signature, seen)) for signature, seen in observed]
    if len({_essence(part) for _, part in parts}) > 1:
        for label, part in _labelled(parts):
            yield replace(part, name=f"{name}.{label}", out=op.out, kind=op.kind, out_of_place=op.out_of_place)


def _grouped(current: Sequence[Signature], calls: Sequence[Call]) -> list[tuple[Signature, list[Call]]]:
    """Calls by the first overload that they fit; overloads of the same names are one."""
    groups: dict[tuple[str, ...], tuple[Signature, list[Call]]] = {}
    for call in calls:
        for signature in current:
            if signature.bind(call.args, call.kwargs) is not None:
                groups.setdefault(signature.names, (signature, []))[1].append(call)
                break
    merged: dict[tuple[str, ...], tuple[Signature, list[Call]]] = {}
    for signature, mine in groups.values():
        merged.setdefault(_positional(signature), (signature, []))[1].extend(mine)
    return list(merged.values())


def _positional(signature: Signature) -> tuple[str, ...]:
    return tuple("input" if name == "self" else name for name in signature.names)


def _widest(current: Sequence[Signature]) -> Signature:
    if not current:
        return Signature(())
    return max(current, key=lambda one: (sum(param.kind in ("tensor", "either") for param in one.params), len(one.params)))


def _op(name: str, signature: Signature, seen: Sequence[Seen]) -> Op:
    combined: Facts = facts.combine(seen, signature.names)
    return Op(
        name=name,
        params=signature.names,
        result=combined.result,
        results=combined.results,
        saves=combined.saves,
        differentiable=combined.differentiable,
        writes=combined.writes,
        silent=combined.silent,
        random=combined.random,
        source="measured",
    )


def _essence(op: Op) -> tuple[Any, ...]:
    return (op.result, op.results, op.saves, op.differentiable)


def _labelled(parts: Sequence[tuple[Signature, Op]]) -> Iterator[tuple[str, Op]]:
    used: set[str] = set()
    shared = set.intersection(*({*signature.names} for signature, _ in parts))
    for signature, part in parts:
        label = next((name for name in signature.names if name not in shared and name not in used), "all")
        if label not in used:
            used.add(label)
            yield label, part


def _unmeasured(name: str, base: Signature, current: Sequence[Signature]) -> Op:
    returns = {signature.returns for signature in current if signature.returns}
    result = Result.FRESH
    if returns and not any("Tensor" in text or "return_types" in text for text in returns):
        result = Result.NONE if returns == {"None"} else Result.VALUE
    return Op(name=name, params=base.names, result=result, source="native_functions.yaml")


def _described(
    op: Op, function: Callable[..., Any], calls: Sequence[Call], base: Signature, bound: Sequence[Call], current: Any
) -> Op:
    leaf = op.name.rpartition(".")[2]
    if op.name.startswith("torch.Tensor.") and leaf.endswith("_") and not leaf.startswith("_"):
        changes = dtypes.can_change(leaf, calls)
        op = replace(
            op,
            kind=recipes.kind_of(leaf, changes),
            out_of_place=recipes.template_of(leaf),
            can_change_dtype=changes,
            scalar_first=signatures.scalar_first_keyword(op.name),
        )
    if FLAG in base.names:
        seen = facts.observe(function, base, bound, {FLAG: True})
        combined = facts.combine(seen, base.names)
        plain = facts.combine(facts.observe(function, base, bound, {FLAG: False}), base.names)
        op = replace(
            op,
            flag=FLAG,
            result=plain.result,
            saves=plain.saves,
            writes=combined.writes,
            inplace_saves=combined.saves,
        )
    return op
