"""Which part of a storage a tensor, or a store into a tensor, covers; and whether two parts can share memory."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch

_EXACT = 65536
"""Tensors of more elements are compared by range only."""


class Region(NamedTuple):
    """A tensor's elements in its storage, all in elements of ``size`` bytes.

    ``index`` narrows them to what ``tensor[index] = ...`` writes; it is worked out only when somebody asks.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    size: int
    index: Any = None


def region_of(tensor: torch.Tensor, index: object = None) -> Region | None:
    """Where a tensor lies, or what a store at ``index`` covers; None where that cannot be told (symbolic sizes)."""
    try:
        return Region(tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.element_size(), index)  # type: ignore[arg-type]
    except (NotImplementedError, RuntimeError):
        return None


def narrowed(region: Region) -> Region:
    """The region with its index applied; all of it where the index is no number, slice, ellipsis or None."""
    if region.index is None:
        return region
    whole = region._replace(index=None)
    parts = list(region.index) if isinstance(region.index, tuple) else [region.index]
    if any(
        isinstance(part, bool) or not (part is None or part is ... or isinstance(part, (int, slice))) for part in parts
    ):
        return whole
    taken = sum(part is not None and part is not ... for part in parts)
    if ... in parts:
        at = parts.index(...)
        parts[at : at + 1] = [slice(None)] * (len(region.shape) - taken)
    offset = region.offset
    shape: list[int] = []
    strides: list[int] = []
    dim = 0
    for part in parts:
        if part is None:
            continue
        if dim >= len(region.shape):
            return whole
        size, stride = region.shape[dim], region.strides[dim]
        if isinstance(part, int):
            offset += (part + size if part < 0 else part) * stride
        else:
            start, stop, step = part.indices(size)
            offset += start * stride
            shape.append(len(range(start, stop, step)))
            strides.append(stride * step)
        dim += 1
    return Region(offset, (*shape, *region.shape[dim:]), (*strides, *region.strides[dim:]), region.size)


def overlap(a: Region, b: Region) -> bool:
    """Whether two regions of one storage can share a byte; exact for small ones, by range for large ones."""
    a, b = narrowed(a), narrowed(b)
    low_a, high_a = _range(a)
    low_b, high_b = _range(b)
    if high_a <= low_b or high_b <= low_a:
        return False
    if max(_count(a), _count(b)) > _EXACT or (_dense(a) and _dense(b)):
        return True
    return not _bytes(a).isdisjoint(_bytes(b))


def overlaps_itself(region: Region) -> bool:
    """Whether two different indices of a tensor reach one element (stride 0, or ``unfold`` with a step below
    its size).
    """
    dims = sorted((stride, size) for size, stride in zip(region.shape, region.strides, strict=True) if size > 1)
    reach = 0
    for stride, size in dims:
        if stride <= reach:
            break
        reach += stride * (size - 1)
    else:
        return False
    if math.prod(size for _, size in dims) > _EXACT:
        return any(stride == 0 for stride, _ in dims)
    offsets = _offsets(region)
    return len(set(offsets)) < len(offsets)


def _count(region: Region) -> int:
    return math.prod(region.shape)


def _dense(region: Region) -> bool:
    low, high = _range(region)
    return _count(region) * region.size == high - low


def _range(region: Region) -> tuple[int, int]:
    if 0 in region.shape:
        return region.offset * region.size, region.offset * region.size
    last = region.offset + sum((n - 1) * stride for n, stride in zip(region.shape, region.strides, strict=True))
    return region.offset * region.size, (last + 1) * region.size


def _offsets(region: Region) -> list[int]:
    found = [region.offset]
    for size, stride in zip(region.shape, region.strides, strict=True):
        found = [base + stride * index for base in found for index in range(size)]
    return found


def _bytes(region: Region) -> set[int]:
    return {start * region.size + byte for start in _offsets(region) for byte in range(region.size)}
