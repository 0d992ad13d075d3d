"""One call, watched: what it saves for backward, writes and returns, by storage.

Arguments are cloned for every run and made to require grad as a mask says; saved tensors are seen with
``saved_tensors_hooks`` and matched to arguments and results by storage. A saved tensor that matches neither is private
to the operation: no code can reach it, so it is not reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.autograd.graph import saved_tensors_hooks

from inplace_fix.catalog.model import Result

MAX_FULL_MASKS = 3

# What a sample that does not fit a callable, a dtype or a layout raises.
MISFITS = (
    RuntimeError,
    TypeError,
    ValueError,
    IndexError,
    NotImplementedError,
    AttributeError,
    AssertionError,
    ZeroDivisionError,
    OverflowError,
    BufferError,
)


@dataclass(frozen=True)
class Seen:
    """What one run of one call showed; names are parameter names, ``result`` or ``result[k]``.

    ``trivial`` marks runs on empty or single-element tensors, ``other_layout`` those on changed strides, ``parallel``
    those that return one tensor per tensor of a list.
    """

    mask: frozenset[str]
    tensors: frozenset[str]
    saved: frozenset[str]
    written: frozenset[str]
    silent: bool
    requires_grad: bool
    relation: Result
    results: int
    random: bool
    trivial: bool
    other_layout: bool = False
    parallel: bool = False


def seed() -> None:
    """Start the CPU's random numbers anew; ``torch.manual_seed`` would format a stack trace for every accelerator."""
    torch.default_generator.manual_seed(0)


def storage_of(tensor: torch.Tensor) -> int | None:
    """An identity for the tensor's memory, None where it has none (sparse)."""
    if tensor.layout is not torch.strided:
        return None
    return int(tensor.untyped_storage()._cdata)


def leaves(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in nested lists, tuples and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)


def replaced(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same nesting with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: replaced(item, change) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(replaced(item, change) for item in value)
    return value


def masks(names: list[str]) -> Iterator[frozenset[str]]:
    """Sets of parameters that require grad: all of them for up to three, else singles, all, and all but one."""
    if len(names) <= MAX_FULL_MASKS:
        for size in range(1, len(names) + 1):
            for chosen in itertools.combinations(names, size):
                yield frozenset(chosen)
        return
    for name in names:
        yield frozenset([name])
    yield frozenset(names)
    for name in names:
        yield frozenset(names) - {name}


def can_require_grad(value: Any) -> bool:
    """Whether every tensor in a parameter's value could require grad."""
    found = list(leaves(value))
    return bool(found) and all(tensor.is_floating_point() or tensor.is_complex() for tensor in found)


def run(
    function: Callable[..., Any],
    bound: Mapping[str, Any],
    call: Callable[[Mapping[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]],
    mask: frozenset[str],
    layout: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> Seen:
    """Run once with the masked parameters requiring grad.

    ``call`` turns bound parameters into arguments; ``layout`` gives the first tensor other strides.
    """
    copies: dict[int, torch.Tensor] = {}

    def prepared(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
        def prepare(tensor: torch.Tensor) -> torch.Tensor:
            if id(tensor) not in copies:
                copy = _copy(tensor, name in mask)
                copies[id(tensor)] = layout(copy) if layout is not None and not copies else copy
            return copies[id(tensor)]

        return prepare

    values = {name: replaced(value, prepared(name)) for name, value in bound.items()}
    named = [(name, tensor) for name, value in values.items() for tensor in leaves(value)]
    before = [(tensor._version, tensor.detach().clone()) for _, tensor in named]
    packed: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        packed.append(tensor)
        return tensor

    before_nodes = {id(tensor): tensor.grad_fn for _, tensor in named}
    args, kwargs = call(values)
    state = torch.get_rng_state()
    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = function(*args, **kwargs)
    if hasattr(result, "__next__"):
        result = tuple(result)
    random = not torch.equal(state, torch.get_rng_state())
    moved = {name for (name, tensor), (version, _) in zip(named, before, strict=True) if tensor._version != version}
    changed = {
        name
        for (name, tensor), (_, value) in zip(named, before, strict=True)
        if name not in moved and _differ(tensor, value)
    }
    outputs = list(leaves(result))
    first = named[0][1] if named else None
    own = set(before_nodes)
    listed = next(iter(values.values()), None)
    parallel = (
        isinstance(result, (list, tuple)) and isinstance(listed, (list, tuple)) and len(result) == len(listed) > 1
    )
    recorded = [tensor for tensor in outputs if id(tensor) not in own or not (moved | changed)]
    recorded += [tensor for name, tensor in named if name in moved and tensor.grad_fn is not before_nodes[id(tensor)]]
    written = frozenset(moved | changed)
    return Seen(
        mask=mask,
        tensors=frozenset(name for name, tensor in named if tensor.numel()),
        saved=_saved(packed, named, result, moved, parallel),
        written=written,
        silent=bool(changed),
        requires_grad=any(tensor.requires_grad for tensor in recorded),
        relation=_relation(result, outputs, first, values),
        results=len(result) if isinstance(result, (list, tuple)) and outputs else 1,
        random=random,
        trivial=_trivial(named, outputs),
        other_layout=layout is not None,
        parallel=parallel,
    )


def transposed(tensor: torch.Tensor) -> torch.Tensor:
    """The same values with the last two dimensions swapped in memory."""
    return tensor.mT.contiguous().mT if tensor.dim() > 1 else tensor


def strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same values at every second address."""
    return torch.stack([tensor, tensor], dim=-1).select(-1, 0) if tensor.dim() else tensor


def _copy(tensor: torch.Tensor, requires_grad: bool) -> torch.Tensor:
    """A clone with the layout of the original; a differentiable one is no leaf, so that it may be written to."""
    copy = tensor.detach().clone()
    return copy.requires_grad_().clone() if requires_grad else copy


def _differ(tensor: torch.Tensor, value: torch.Tensor) -> bool:
    if tensor.layout is not torch.strided or tensor.shape != value.shape or tensor.dtype != value.dtype:
        return False
    return not torch.equal(torch.nan_to_num(tensor.detach()), torch.nan_to_num(value))


def _trivial(named: list[tuple[str, torch.Tensor]], outputs: list[torch.Tensor]) -> bool:
    if not named or not all(tensor.numel() for _, tensor in named):
        return True
    first = named[0][1]
    return first.dim() == 0 or first.numel() < 2 or not all(tensor.numel() for tensor in outputs)


def _saved(
    packed: list[torch.Tensor], named: list[tuple[str, torch.Tensor]], result: Any, moved: set[str], parallel: bool
) -> frozenset[str]:
    """Names of what was packed.

    A saved argument whose version moved holds what the operation wrote: the result. ``parallel``: the results go with
    the tensors of a list, so that their positions say nothing.
    """
    inputs: dict[int | None, str] = {}
    for name, tensor in named:
        inputs.setdefault(storage_of(tensor), name)
    results: dict[int | None, str] = {}
    if isinstance(result, torch.Tensor):
        results[storage_of(result)] = "result"
    elif isinstance(result, (list, tuple)):
        for position, item in enumerate(result):
            for tensor in leaves(item):
                results.setdefault(storage_of(tensor), "result" if parallel else f"result[{position}]")
    found = set()
    for tensor in packed:
        storage = storage_of(tensor)
        if storage is None or not tensor.numel():
            continue
        if storage in inputs and inputs[storage] not in moved:
            found.add(inputs[storage])
        elif storage in inputs:
            found.add(results.get(storage, "result"))
        elif storage in results:
            found.add(results[storage])
    return frozenset(found)


def _relation(
    result: Any, outputs: list[torch.Tensor], first: torch.Tensor | None, values: Mapping[str, Any]
) -> Result:
    if not outputs:
        if type(result).__module__ == "numpy" or type(result).__name__ == "PyCapsule":
            return Result.ARRAY
        return Result.NONE if result is None else Result.VALUE
    if first is None:
        return Result.ARRAY if any(_looks_into(outputs[0], value) for value in values.values()) else Result.FRESH
    if any(output is first for output in outputs):
        return Result.SAME
    shared = [
        output for output in outputs if storage_of(output) is not None and storage_of(output) == storage_of(first)
    ]
    if not shared:
        same_address = first.layout is torch.strided and first.numel() and outputs[0].layout is torch.strided
        return Result.ARRAY if same_address and outputs[0].data_ptr() == first.data_ptr() else Result.FRESH
    view = shared[0]
    if first.requires_grad and not view.requires_grad and view.dtype == first.dtype:
        return Result.DETACHED if _shares_version(view, first) else Result.UNVERSIONED
    if any(_repeats(one) for one in shared) and not _repeats(first):
        return Result.EXPANDED
    if isinstance(result, (list, tuple)):
        return Result.VIEWS if _forbids_writes(view) else Result.SINGLE_VIEWS
    if _overlaps(view) and not _overlaps(first):
        return Result.OVERLAPPING
    return Result.VIEW


def _looks_into(tensor: torch.Tensor, value: Any) -> bool:
    """Whether a tensor shows the memory of an array or a buffer."""
    if not isinstance(value, (np.ndarray, bytearray)) or not tensor.numel():
        return False
    before = bytes(value)
    tensor.view(torch.uint8).bitwise_not_()
    return bytes(value) != before


def _shares_version(view: torch.Tensor, first: torch.Tensor) -> bool:
    version = first._version
    with torch.no_grad():
        view.zero_()
    return first._version != version


def _forbids_writes(view: torch.Tensor) -> bool:
    if not view.requires_grad or view.numel() == 0:
        return False
    try:
        view.mul_(1)
    except RuntimeError as error:
        return "multiple views" in str(error)
    return False


def _repeats(tensor: torch.Tensor) -> bool:
    return any(size > 1 and stride == 0 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _overlaps(tensor: torch.Tensor) -> bool:
    """Whether more elements are shown than the span of addresses holds."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.numel() > span
