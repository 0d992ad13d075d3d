"""One catalog entry per callable, and one more per overload where overloads differ in what they save or return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from inplace_fix.catalog.model import Kind, Op, Result, Save
from scripts.catalog_build import declared, dtypes, facts, measure, recipes, signatures
from scripts.catalog_build.calls import Call
from scripts.catalog_build.measure import Seen
from scripts.catalog_build.signatures import Param, Signature

_BINARY_DUNDER = Signature((Param("self", "tensor"), Param("other", optional=True)))


@dataclass(frozen=True)
class Group:
    """The calls of one overload that give the same parameters as tensors, and what their runs showed."""

    signature: Signature
    tensors: frozenset[str]
    calls: list[Call]
    seen: list[Seen]


def entries(name: str, function: Callable[..., Any], calls: Sequence[Call]) -> Iterator[Op]:
    """The entry of ``name``, then those of its overloads (``torch.max.dim``) where they differ."""
    current = [one for one in signatures.of(name, function) if not one.scalar_first]
    current = current or [_BINARY_DUNDER if name.endswith("__") else Signature(())]
    groups = _groups(function, current, calls)
    base = _base(current, groups)
    op = (
        _op(name, base, groups)
        if groups
        else declared.entry(name, base, {one.returns for one in current if one.returns})
    )
    op = replace(op, out=any(signature.out for signature in current), variadic=_variadic(base, current))
    op = _in_place_fields(op, calls)
    if name.rpartition(".")[2] in recipes.TRANSFERS:
        op = replace(op, result=Result.SAME_OR_FRESH)
    op = _flagged(op, function, base, groups)
    parts = [] if op.flag else list(_overloads(op, groups))
    yield _hedged(op, parts)
    yield from parts


def _groups(function: Callable[..., Any], current: Sequence[Signature], calls: Sequence[Call]) -> list[Group]:
    found: dict[tuple[tuple[str, ...], frozenset[str]], Group] = {}
    for call in calls:
        fitting = _fitting(current, call)
        if fitting is None:
            continue
        signature, fitted, bound = fitting
        tensors = frozenset(
            key for key, value in bound.items() if key != "out" and next(measure.leaves(value), None) is not None
        )
        key = (_positional(signature), tensors)
        found.setdefault(key, Group(signature, tensors, [], [])).calls.append(fitted)
    for group in found.values():
        group.seen.extend(facts.observe(function, group.signature, group.calls))
    return [group for group in found.values() if group.seen]


def _fitting(current: Sequence[Signature], call: Call) -> tuple[Signature, Call, dict[str, Any]] | None:
    """The first overload that takes the call; keywords that none of them knows (of a lent call) are left out."""
    known = {name for signature in current for name in (*signature.names, "out")}
    fitted = Call(call.args, {key: value for key, value in call.kwargs.items() if key in known}, call.origin)
    for signature in current:
        bound = signature.bind(fitted.args, fitted.kwargs)
        if bound is not None:
            return signature, fitted, bound
    return None


def _positional(signature: Signature) -> tuple[str, ...]:
    return tuple("input" if name == "self" else name for name in signature.names)


def _base(current: Sequence[Signature], groups: Sequence[Group]) -> Signature:
    """The overload that stands for all: most tensors, then most used."""

    def weight(one: Signature) -> tuple[int, int, int]:
        tensors = sum(param.kind in ("tensor", "tensors", "either") for param in one.params)
        used = sum(len(group.calls) for group in groups if _positional(group.signature) == _positional(one))
        return tensors, used, len(one.params)

    return max(current, key=weight)


def _variadic(base: Signature, current: Sequence[Signature]) -> str:
    same = (one for one in current if one.names == base.names)
    return next((param.name for one in same for param in one.params if param.variadic), "")


def _op(name: str, signature: Signature, groups: Sequence[Group]) -> Op:
    seen = [_renamed(one, signature) for group in groups for one in group.seen]
    combined = facts.combine(seen, signature.names)
    origins = {call.origin for group in groups for call in group.calls}
    return Op(
        name=name,
        params=signature.names,
        result=combined.result,
        results=combined.results,
        saves=tuple(save for save in combined.saves if save.what.startswith("result") or save.what in signature.names),
        differentiable=tuple(param for param in combined.differentiable if param in signature.names),
        writes=combined.writes,
        silent=combined.silent,
        random=combined.random,
        source="op_db" if "op_db" in origins else "written",
    )


def _renamed(seen: Seen, signature: Signature) -> Seen:
    """The same run with the name that this overload has for the first parameter (some say ``self``, some ``input``)."""
    for old, new in (("self", "input"), ("input", "self")):
        if new in signature.names and old not in signature.names:
            names = {old: new}
            return replace(
                seen,
                mask=frozenset(names.get(name, name) for name in seen.mask),
                tensors=frozenset(names.get(name, name) for name in seen.tensors),
                saved=frozenset(names.get(name, name) for name in seen.saved),
                written=frozenset(names.get(name, name) for name in seen.written),
            )
    return seen


def _overloads(op: Op, groups: Sequence[Group]) -> Iterator[Op]:
    """Entries for the overloads, unless the entry itself tells everything of each."""
    groups = [group for group in groups if not all(one.trivial for one in group.seen)]
    structures: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        structures.setdefault(_positional(group.signature), []).append(group)
    if all(_tells(op, _op(op.name, group.signature, [group]), group.tensors, len(structures) > 1) for group in groups):
        return
    parts: list[tuple[Signature, list[Group], Op]] = []
    for mine in structures.values():
        signature = mine[0].signature
        whole = _op(op.name, signature, mine)
        exact = [_op(op.name, signature, [group]) for group in mine]
        if all(_tells(whole, one, group.tensors, True) for one, group in zip(exact, mine, strict=True)):
            parts.append((signature, mine, whole))
        else:
            parts += [(signature, [group], one) for one, group in zip(exact, mine, strict=True)]
    if len(parts) > 1:
        yield from _labelled(op, parts)


def _hedged(op: Op, parts: Sequence[Op]) -> Op:
    """The entry over its overloads: what only some of them save is not always saved."""
    if not parts:
        return op

    def everywhere(save: Save) -> bool:
        able = [
            part for part in parts if save.what.startswith("result") or save.what in (*part.given, *part.may_be_given)
        ]
        return all(save.what in {one.what for one in part.saves} for part in able if part.differentiable)

    saves = tuple(save if everywhere(save) else replace(save, always=False) for save in op.saves)
    return replace(op, saves=saves, overloads=tuple(part.name for part in parts))


def _tells(whole: Op, part: Op, tensors: frozenset[str], count: bool) -> bool:
    """Whether the wider entry says of calls with these tensors just what was seen of them."""
    return _told(whole, tensors) == _told(part, tensors) and not (count and whole.results != part.results)


def _told(op: Op, tensors: frozenset[str]) -> set[tuple[str, frozenset[str]]]:
    every = frozenset(op.differentiable) & tensors
    told = set()
    for save in op.saves:
        needs = (frozenset(save.needs) & tensors) if save.needs else every
        if (save.what.startswith("result") or save.what in tensors) and needs:
            told.add((save.what, needs))
    return told


def _labelled(op: Op, parts: Sequence[tuple[Signature, list[Group], Op]]) -> Iterator[Op]:
    used: set[str] = set()
    shared = set.intersection(*({*signature.names} for signature, _, _ in parts))
    structures = {_positional(signature) for signature, _, _ in parts}
    for signature, groups, part in parts:
        must = frozenset.intersection(*(group.tensors for group in groups))
        may = frozenset.union(*(group.tensors for group in groups)) - must
        own = [name for name in signature.names if name not in shared]
        given = [name for name in part.params if name in must]
        plain = "all" if len(structures) > 1 and not own else "number"
        choices = [*own, "_".join(given[1:]) or plain, "_".join(given), "none"]
        label = next(choice for choice in choices if choice and choice not in used)
        used.add(label)
        yield replace(
            part,
            name=f"{op.name}.{label}",
            given=tuple(given),
            may_be_given=tuple(name for name in part.params if name in may),
            required=tuple(param.name for param in signature.params if not param.optional),
            out=op.out,
            kind=op.kind,
            out_of_place=op.out_of_place,
            can_change_dtype=op.can_change_dtype,
            variadic=op.variadic if op.variadic in part.params else "",
        )


def _in_place_fields(op: Op, calls: Sequence[Call]) -> Op:
    """Kind, counterpart, casts and the scalar-first form of an in-place method or function."""
    namespace, _, leaf = op.name.rpartition(".")
    if leaf.startswith("_") or not recipes.is_in_place(namespace, leaf):
        return op
    changes = hasattr(torch.Tensor, leaf) and dtypes.can_change(leaf, calls)
    kind = recipes.kind_of(leaf, changes)
    return replace(
        op,
        kind=kind,
        differentiable=() if kind is Kind.FLAG else op.differentiable,
        out_of_place=recipes.template_of(namespace, leaf),
        can_change_dtype=changes,
        scalar_first=signatures.scalar_first_keyword(op.name),
        broken=hasattr(torch.Tensor, leaf) and facts.is_broken(leaf, calls),
    )


def _flagged(op: Op, function: Callable[..., Any], base: Signature, groups: Sequence[Group]) -> Op:
    """The entry of a functional whose write hangs on a flag: one set of facts with it, one without."""
    for flag, (on, off, given) in recipes.WRITE_FLAGS.items():
        if flag not in base.names:
            continue
        calls = [call for group in groups for call in group.calls if not given or given in group.tensors]
        without = facts.combine(facts.observe(function, base, calls, {flag: off}), base.names)
        inside = facts.combine(facts.observe(function, base, calls, {flag: on}), base.names)
        if not inside.writes or without.writes:
            continue
        return replace(
            op,
            flag=flag,
            flag_default=signatures.default_of(function, flag) not in (None, False),
            result=without.result,
            saves=without.saves,
            differentiable=without.differentiable,
            writes=inside.writes,
            silent=inside.silent,
            inplace_saves=inside.saves,
        )
    return op
