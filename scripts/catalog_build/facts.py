"""From what single runs showed to what the catalog says of a callable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fix.catalog.model import Result, Save
from scripts.catalog_build import measure
from scripts.catalog_build.calls import Call
from scripts.catalog_build.measure import Seen
from scripts.catalog_build.signatures import Signature

# The share of ordinary samples that must save a value for "always". It is below 1 because op_db also tries rare
# arguments, such as padding="same" with an even kernel, where a convolution saves a padded copy in place of its input.
ALWAYS = 0.9


@dataclass(frozen=True)
class Facts:
    """What all runs of one callable, or of one overload, together showed."""

    result: Result
    results: int
    saves: tuple[Save, ...]
    differentiable: tuple[str, ...]
    writes: tuple[str, ...]
    silent: bool
    random: bool


def observe(
    function: Callable[..., Any], signature: Signature, calls: Sequence[Call], fixed: dict[str, Any] | None = None
) -> list[Seen]:
    """Every run of the calls that fit the overload, over the masks of ``requires_grad`` and some layouts.

    ``fixed`` sets parameters (``{"inplace": True}``) whatever the call says.
    """
    seen: list[Seen] = []
    for call in calls:
        bound = signature.bind(call.args, call.kwargs)
        if bound is None:
            continue
        bound = {**bound, **(fixed or {})}
        if any(tensor.layout is not torch.strided for tensor in measure.leaves(bound)):
            continue
        seen += _runs(function, signature, bound, frozenset(call.kwargs))
    return seen


def _runs(
    function: Callable[..., Any], signature: Signature, bound: dict[str, Any], keywords: frozenset[str]
) -> Iterable[Seen]:
    def arguments(values: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return unbind(signature, values, keywords)

    candidates = [name for name, value in bound.items() if name != "out" and measure.can_require_grad(value)]
    every = frozenset(candidates)
    plans: list[tuple[frozenset[str], Any]] = [(mask, None) for mask in (*measure.masks(candidates), frozenset[str]())]
    plans += [(every, measure.transposed), (every, measure.strided)]
    for mask, layout in plans:
        measure.seed()
        try:
            yield measure.run(function, bound, arguments, mask, layout)
        except measure.MISFITS:
            continue


def unbind(
    signature: Signature, values: Mapping[str, Any], keywords: frozenset[str] = frozenset()
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments for the call from values by parameter name.

    Those in ``keywords`` are given by keyword, and so are all after one that was left out.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    gap = False
    for param in signature.params:
        if param.name not in values:
            gap = True
        elif param.variadic:
            args.extend(values[param.name])
        elif param.keyword_only or gap or param.name in keywords:
            kwargs[param.name] = values[param.name]
            gap = gap or not param.keyword_only
        else:
            args.append(values[param.name])
    known = {param.name for param in signature.params}
    kwargs.update({name: value for name, value in values.items() if name not in known})
    return tuple(args), kwargs


def combine(seen: Sequence[Seen], names: Sequence[str]) -> Facts:
    """One statement from many runs; ``names`` are the parameters in order."""
    plain = [one for one in seen if not one.trivial] or list(seen)
    order = {name: index for index, name in enumerate(names)}

    def place(name: str) -> tuple[int, str]:
        return order.get(name, len(order)), name

    recorded = [one for one in seen if one.requires_grad and not one.other_layout]
    single = {name for one in recorded if len(one.mask) == 1 for name in one.mask}
    able = sorted(single or {name for one in recorded for name in one.mask}, key=place)
    written = {name for one in plain for name in one.written}
    counts = {one.results for one in seen}
    result = relation_of({one.relation for one in plain if one.mask} or {one.relation for one in plain})
    open_ended = result in (Result.VIEWS, Result.SINGLE_VIEWS) or any(one.parallel for one in seen)
    return Facts(
        result=result,
        results=counts.pop() if len(counts) == 1 and not open_ended else 0,
        saves=tuple(_saves([one for one in plain if not one.other_layout], able, order)),
        differentiable=tuple(able),
        writes=tuple(sorted(written, key=place)),
        silent=any(one.silent for one in plain),
        random=any(one.random for one in seen),
    )


def is_broken(leaf: str, calls: Sequence[Call]) -> bool:
    """Whether backward through the in-place method always fails for want of a derivative (``acosh_``)."""
    for call in calls:
        receiver = call.args[0]
        if not measure.can_require_grad(receiver) or not isinstance(receiver, torch.Tensor):
            continue
        try:
            result = getattr(torch.Tensor, leaf)(
                receiver.detach().clone().requires_grad_().clone(), *call.args[1:], **call.kwargs
            )
            result.sum().backward()
        except NotImplementedError as error:
            return "derivative for" in str(error)
        except measure.MISFITS:
            continue
        return False
    return False


def relation_of(kinds: set[Result]) -> Result:
    """One relation for all runs: the strongest sharing seen, or the mixed kind where some runs gave new memory."""
    mixed = {Result.FRESH} <= kinds
    for strong in (
        Result.UNVERSIONED,
        Result.DETACHED,
        Result.ARRAY,
        Result.EXPANDED,
        Result.VIEWS,
        Result.SINGLE_VIEWS,
        Result.OVERLAPPING,
    ):
        if strong in kinds:
            return strong
    if Result.VIEW in kinds:
        return Result.VIEW_OR_FRESH if mixed else Result.VIEW
    if Result.SAME in kinds:
        return Result.SAME_OR_FRESH if mixed else Result.SAME
    if mixed:
        return Result.FRESH
    return Result.VALUE if Result.VALUE in kinds else Result.NONE


def _saves(seen: Sequence[Seen], able: Sequence[str], order: dict[str, int]) -> Iterable[Save]:
    counted = [one for one in seen if one.requires_grad]
    kept = {what for one in counted for what in one.saved}
    for what in sorted(kept, key=lambda what: (what.startswith("result"), order.get(what, 99), what)):
        relevant = [one for one in counted if what.startswith("result") or what in one.tensors]
        single = {name for one in relevant if len(one.mask) == 1 and what in one.saved for name in one.mask}
        tried = {name for one in relevant if len(one.mask) == 1 for name in one.mask}
        explained = all(one.mask & single for one in relevant if what in one.saved)
        if not single or not explained:
            yield Save(what, (), always=False)
            continue
        needs = () if single >= tried else tuple(name for name in able if name in single)
        hits = [what in one.saved for one in relevant if one.mask & single]
        yield Save(what, needs, always=sum(hits) >= ALWAYS * len(hits))
