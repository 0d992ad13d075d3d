"""The log of writes that hangs on a storage: it is seen through every view, ``detach()`` and ``.data``, and
dies with it.
"""

from __future__ import annotations

from typing import Any

import torch

from inplace_fix.trace.positions import Site
from inplace_fix.trace.regions import Region

_SITES = 64


class Entry:
    """The last write that one site did to one storage.

    ``before`` and ``after`` are the receiver's versions; they are equal for a write that bumps none. ``tick`` orders
    writes and saves. ``regions`` is what the last few writes covered, empty
    where that was not noted. ``made_at`` is where the module was made whose ``inplace=True`` wrote. ``swapped``
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
        self.regions: list[Region] = []


def storage_of(tensor: torch.Tensor) -> Any | None:
    """The untyped storage of a tensor, through functorch's wrappers; None where it has none (sparse, symbolic)."""
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return _storage_of_wrapped(tensor)


def _storage_of_wrapped(tensor: torch.Tensor) -> Any | None:
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
