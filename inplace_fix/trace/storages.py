"""The log of writes that hangs on a storage: it is seen through every view, ``detach()`` and ``.data``, and dies with it."""

from __future__ import annotations

from typing import Any

import torch

from inplace_fix.trace.positions import Site

Geometry = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Offset, shape and strides of a tensor in its storage, in elements."""

_SITES = 64


class Entry:
    """The last write that one site did to one storage.

    ``before`` and ``after`` are the receiver's versions; they are equal for a write that bumps none. ``tick`` orders
    writes and saves. ``regions`` are the memory ranges of the last few writes, in bytes from the start of the storage,
    empty where they were not noted. ``made_at`` is where the module was made whose ``inplace=True`` wrote. ``swapped``
    is the identity of the tensor whose ``.data`` was set. ``via`` is "optimizer" where torch.optim wrote.
    ``chain`` is the user's call stack where that was noted, the innermost site first.
    """

    __slots__ = ("after", "before", "chain", "made_at", "op", "regions", "silent", "site", "swapped", "tick", "via")

    def __init__(self, site: Site) -> None:
        self.site = site
        self.op = ""
        self.before = 0
        self.after = 0
        self.tick = 0
        self.silent = False
        self.swapped = 0
        self.via = ""
        self.chain: tuple[Site, ...] = ()
        self.made_at: Site | None = None
        self.regions: list[tuple[Geometry, int]] = []


def storage_of(tensor: torch.Tensor) -> Any | None:
    """The untyped storage of a tensor, through functorch's wrappers; None where it has none (sparse, symbolic)."""
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        pass
    functorch = torch._C._functorch
    try:
        while functorch.is_functorch_wrapped_tensor(tensor):
            tensor = functorch.get_unwrapped(tensor)
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None


def version_of(tensor: torch.Tensor) -> int | None:
    """The tensor's version; None for inference tensors, which have none."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return None


def log_of(storage: Any) -> dict[Site, Entry]:
    """The writes noted on a storage, empty where there are none."""
    log: dict[Site, Entry] | None = getattr(storage, "_inplace_fix_writes", None)
    return log if log is not None else {}


def note(storage: Any, site: Site, made_at: Site | None = None) -> Entry:
    """The entry of ``site`` in the storage's log, made where there is none; each module that writes has its own."""
    log: dict[Site, Entry] | None = getattr(storage, "_inplace_fix_writes", None)
    if log is None:
        log = storage._inplace_fix_writes = {}
    key = made_at or site
    entry = log.get(key)
    if entry is None:
        if len(log) >= _SITES:
            del log[min(log, key=lambda old: log[old].tick)]
        entry = log[key] = Entry(site)
        entry.made_at = made_at
    return entry


def geometry(tensor: torch.Tensor) -> tuple[Geometry, int] | None:
    """Where a tensor lies in its storage, with its element size; None for a tensor without strides."""
    try:
        return (tensor.storage_offset(), tuple(tensor.shape), tensor.stride()), tensor.element_size()
    except (NotImplementedError, RuntimeError):
        return None


def target(receiver: torch.Tensor, index: object) -> tuple[Geometry, int] | None:
    """Where ``receiver[index] = ...`` writes; all of the receiver where the index is a tensor or a list."""
    parts = index if isinstance(index, tuple) else (index,)
    if all(part is Ellipsis or part is None or isinstance(part, (int, slice)) for part in parts):
        try:
            with torch.no_grad():
                return geometry(receiver.detach()[index])  # type: ignore[index]
        except (IndexError, RuntimeError, TypeError):
            pass
    return geometry(receiver)


def overlap(a: tuple[Geometry, int], b: tuple[Geometry, int]) -> bool:
    """Whether two tensors of one storage can share a byte; exact for small tensors, by range for large ones."""
    low_a, high_a = _range(*a)
    low_b, high_b = _range(*b)
    if high_a <= low_b or high_b <= low_a:
        return False
    if _count(a[0]) > 65536 or _count(b[0]) > 65536:
        return True
    return not _bytes(*a).isdisjoint(_bytes(*b))


def overlaps_itself(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether two different indices of a tensor reach one element (stride 0, or ``unfold`` with a step below its size)."""
    dims = sorted((stride, size) for size, stride in zip(shape, strides, strict=True) if size > 1)
    reach = 0
    for stride, size in dims:
        if stride <= reach:
            break
        reach += stride * (size - 1)
    else:
        return False
    count = 1
    for _, size in dims:
        count *= size
    if count > 65536:
        return any(stride == 0 for stride, _ in dims)
    offsets = _offsets((0, shape, strides))
    return len(set(offsets)) < len(offsets)


def _count(where: Geometry) -> int:
    count = 1
    for size in where[1]:
        count *= size
    return count


def _range(where: Geometry, size: int) -> tuple[int, int]:
    offset, shape, strides = where
    if 0 in shape:
        return offset * size, offset * size
    last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    return offset * size, (last + 1) * size


def _offsets(where: Geometry) -> list[int]:
    offset, shape, strides = where
    found = [offset]
    for size, stride in zip(shape, strides, strict=True):
        found = [base + stride * index for base in found for index in range(size)]
    return found


def _bytes(where: Geometry, size: int) -> set[int]:
    if size == 1:
        return set(_offsets(where))
    return {start * size + byte for start in _offsets(where) for byte in range(size)}
