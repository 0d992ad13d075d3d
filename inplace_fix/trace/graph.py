"""Walks an autograd graph: which saved values are stale, and which were written to without a change of version.

Reading ``node._saved_x`` raises exactly where backward would; ``node._raw_saved_x.data`` still gives the tensor, and so
the storage with its log of writes. After a failed backward the failing node and all that had not run still hold theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import torch

from inplace_fix.trace import storages
from inplace_fix.trace.frames import local_variables
from inplace_fix.trace.storages import Entry

_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
_TENSOR = re.compile(r"\[(?:\w+\.)*(?:CPU|CUDA)?(\w+?)(?:Tensor|Type) \[([\d, ]*)\]\]")
_ITEM_SIZES = {
    **dict.fromkeys(("Bool", "Byte", "Char"), 1),
    **dict.fromkeys(("Half", "BFloat16", "Short"), 2),
    **dict.fromkeys(("Float", "Int", "ComplexHalf"), 4),
    **dict.fromkeys(("Double", "Long", "ComplexFloat"), 8),
    "ComplexDouble": 16,
}


@dataclass(frozen=True, slots=True)
class Saved:
    """A value that a node saved: ``attribute`` is its name in the backward formula (``self``, ``result``,
    ``weight``).
    """

    node: Any
    attribute: str
    tensor: torch.Tensor


@dataclass(frozen=True, slots=True)
class Stale:
    """A saved value whose version is not what it was, with PyTorch's message and the writes since, in order."""

    saved: Saved
    message: str
    writes: tuple[Entry, ...]


def nodes(roots: Iterable[Any]) -> Iterator[Any]:
    """Every node of the graph behind ``roots``, each once."""
    stack = [root for root in roots if root is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        yield node
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                stack.append(following)


def roots_of(outputs: Any) -> list[Any]:
    """The nodes that a backward over ``outputs`` (tensors or gradient edges) starts from."""
    listed = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    found = []
    for output in listed:
        node = output.grad_fn if isinstance(output, torch.Tensor) else getattr(output, "node", None)
        if node is not None:
            found.append(node)
    return found


_attributes: dict[type, tuple[tuple[str, str], ...] | None] = {}


def attributes(node: Any) -> tuple[tuple[str, str], ...] | None:
    """The (``_saved_x``, ``_raw_saved_x``) pairs of a node's type; None for the node of a custom Function."""
    kind = type(node)
    if kind not in _attributes:
        if hasattr(kind, "saved_tensors"):
            _attributes[kind] = None
        else:
            names = [name for name in dir(kind) if name.startswith("_saved_") and hasattr(kind, "_raw" + name)]
            _attributes[kind] = tuple((name, "_raw" + name) for name in names)
    return _attributes[kind]


def raw_values(node: Any) -> Iterator[tuple[str, Any]]:
    """The values that a node holds, unread, as (attribute, SavedTensor); those behind hooks of the program are
    left out.

    Reading a value behind a hook would run the hook: a checkpoint would compute its block again.
    """
    pairs = attributes(node)
    if pairs is None:
        try:
            raws = node._raw_saved_tensors or ()
        except RuntimeError:
            return
        for raw in raws:
            if raw.unpack_hook is None:
                yield "saved_tensors", raw
        return
    for name, raw_name in pairs:
        try:
            raw = getattr(node, raw_name)
        except RuntimeError:
            continue
        for one in raw if isinstance(raw, (tuple, list)) else (raw,):
            if one is not None and one.unpack_hook is None:
                yield name.removeprefix("_saved_"), one


def tensor_of(raw: Any) -> torch.Tensor | None:
    """The tensor in a SavedTensor, without the check of its version; None once it was released."""
    try:
        data = raw.data
    except RuntimeError:
        return None
    return data if isinstance(data, torch.Tensor) else None


def stale(outputs: Any) -> list[Stale]:
    """Every saved value in the graph that a backward would refuse."""
    found: list[Any] = []
    for node in nodes(roots_of(outputs)):
        for attribute, message in _mismatches(node):
            found.extend(_explained(node, attribute, message))
    return found


def refused(node: Any, attribute: str) -> bool:
    """Whether PyTorch itself would refuse a value of a node, or cannot give it any more."""
    try:
        getattr(node, attribute if attribute == "saved_tensors" else "_saved_" + attribute)
    except RuntimeError:
        return True
    return False


def versions(message: str) -> tuple[int, int] | None:
    """The version a message found and the one it expected; None where it is about something else."""
    match = _VERSIONS.search(message)
    return (int(match[1]), int(match[2])) if match else None


def stale_in(traceback: TracebackType | None) -> list[Stale]:
    """Stale values of nodes that the functions of a traceback hold: a checkpoint reads its inputs from such a node."""
    found: list[Any] = []
    while traceback is not None:
        for value in local_variables(traceback.tb_frame):
            if hasattr(type(value), "_raw_saved_tensors") and hasattr(type(value), "next_functions"):
                for attribute, message in _mismatches(value):
                    found.extend(_explained(value, attribute, message))
        traceback = traceback.tb_next
    return found


def writers(recent: Iterable[Any], message: str) -> tuple[Entry, ...]:
    """The writes that a message about versions can mean, when no node shows the value; () where that is not clear.

    ``recent`` are weak references to the storages written to last.
    """
    found = versions(message)
    if found is None:
        return ()
    have, want = found
    size = _bytes_of(message)
    candidates = {}
    for reference in recent:
        storage = reference()
        if storage is None or (size is not None and storage.nbytes() != size):
            continue
        log = [entry for entry in storages.log_of(storage).values() if entry.before >= want and not entry.silent]
        if log and max(entry.after for entry in log) == have:
            candidates[storage._cdata] = tuple(sorted(log, key=lambda entry: entry.tick))
    return next(iter(candidates.values())) if len(candidates) == 1 else ()


def _bytes_of(message: str) -> int | None:
    """The memory of the tensor that a message speaks of (``[torch.FloatTensor [3, 4]]``), where it can be told."""
    match = _TENSOR.search(message)
    size = _ITEM_SIZES.get(match[1]) if match else None
    if match is None or size is None:
        return None
    return size * math.prod(int(number) for number in match[2].split(",") if number.strip())


def _mismatches(node: Any) -> Iterator[tuple[str, str]]:
    pairs = attributes(node)
    if pairs is None:
        if all(raw.unpack_hook is None for _, raw in _all_raw(node)):
            try:
                _ = node.saved_tensors
            except RuntimeError as error:
                yield "saved_tensors", str(error)
        return
    for name, raw_name in pairs:
        try:
            raw = getattr(node, raw_name)
            listed = raw if isinstance(raw, (tuple, list)) else (raw,)
            if any(one.unpack_hook is not None for one in listed):
                continue
            getattr(node, name)
        except RuntimeError as error:
            yield name.removeprefix("_saved_"), str(error)


def _all_raw(node: Any) -> list[tuple[str, Any]]:
    try:
        return [("saved_tensors", raw) for raw in node._raw_saved_tensors or ()]
    except RuntimeError:
        return []


def _explained(node: Any, attribute: str, message: str) -> Iterator[Stale]:
    found = versions(message)
    if found is None:
        return  # released, since that node has run
    have, want = found
    for name, raw in raw_values(node):
        tensor = tensor_of(raw)
        if name != attribute or tensor is None or storages.version_of(tensor) != have:
            continue
        storage = storages.storage_of(tensor)
        writes = [
            entry
            for entry in (storages.log_of(storage).values() if storage is not None else ())
            if entry.before >= want and entry.after <= have and not entry.silent
        ]
        yield Stale(Saved(node, attribute, tensor), message, tuple(sorted(writes, key=lambda entry: entry.tick)))
