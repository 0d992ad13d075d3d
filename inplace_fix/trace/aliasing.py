"""Memory that is shared without meaning to, or not shared although it was meant to be.

``p.data = q.data`` lets two parameters share one storage; ``vector_to_parameters`` lets parameters share the vector's;
a ``reshape`` that has to copy gives a tensor whose writes never reach what it was made of.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from inplace_fix.trace import storages
from inplace_fix.trace.full import Handler
from inplace_fix.trace.positions import Site
from inplace_fix.trace.reading import Reads
from inplace_fix.trace.recorder import Observed, Recorder, Started
from inplace_fix.trace.storages import Entry

_MAYBE_COPIES = ("reshape", "flatten", "ravel", "contiguous", "reshape_as")


class _Shared:
    """A storage that ``.data =`` gave to several owners; tensors are known by identity."""

    __slots__ = ("site", "tensors", "whole", "written")

    def __init__(self, site: Site, tensors: set[int], whole: bool) -> None:
        self.site = site
        self.tensors = tensors
        self.whole = whole
        self.written: Site | None = None


class _Copy:
    """A copy that a maybe-view operation made; ``read`` turns True at the first read after a write."""

    __slots__ = ("made", "read", "writes")

    def __init__(self, made: Site) -> None:
        self.made = made
        self.read = False
        self.writes: dict[tuple[Site, str, Site | None], None] = {}


class Aliasing:
    """The checks; ``install`` hangs them on a recorder, ``handlers`` go into the mode."""

    def __init__(self, recorder: Recorder, reads: Reads) -> None:
        self._recorder = recorder
        self._reads = reads

    def install(self) -> None:
        """Begin to look at writes."""
        self._recorder.noted.append(self._wrote)

    def handlers(self) -> dict[Any, Handler]:
        """For the operations that give a view or a copy."""
        functions = [getattr(torch.Tensor, name) for name in _MAYBE_COPIES]
        functions += [torch.reshape, torch.flatten, torch.ravel]
        return dict.fromkeys(functions, self._maybe_copy)

    def data_read(self, owner: torch.Tensor, value: object) -> None:
        """``owner.data`` was read: note whose memory the result is."""
        storage = storages.storage_of(value) if isinstance(value, torch.Tensor) else None
        if storage is not None and isinstance(owner, torch.nn.Parameter):
            storage._inplace_fix_owner = owner._cdata

    def data_set(self, receiver: torch.Tensor, value: torch.Tensor, site: Site) -> None:
        """``receiver.data = value`` was done at ``site``: note with whom the memory is shared now."""
        storage = storages.storage_of(value)
        if storage is None or not isinstance(receiver, torch.nn.Parameter):
            return
        owner = getattr(storage, "_inplace_fix_owner", None)
        part = value.numel() * value.element_size() < storage.nbytes()
        shared: _Shared | None = getattr(storage, "_inplace_fix_shared", None)
        if shared is not None and (part or owner is not None):
            shared.tensors.add(receiver._cdata)
        elif owner is not None and owner != receiver._cdata:
            storage._inplace_fix_shared = _Shared(site, {owner, receiver._cdata}, True)
        elif part and owner is None:
            shared = storage._inplace_fix_shared = _Shared(site, {receiver._cdata}, False)
            self._reads.watch(storage, lambda tensor, func, frame: self._whole_read(shared, tensor, frame))

    def _wrote(self, entry: Entry, receiver: torch.Tensor, storage: Any, started: Started) -> None:
        shared: _Shared | None = getattr(storage, "_inplace_fix_shared", None)
        if shared is not None and receiver._cdata in shared.tensors:
            if shared.whole:
                self._report_shared(shared, (("and written", started.site),))
            shared.written = started.site
        copy: _Copy | None = getattr(storage, "_inplace_fix_copy", None)
        if copy is not None and len(copy.writes) < 8:
            if not copy.writes:
                self._reads.watch(storage, lambda tensor, func, frame: _has_read(copy), lambda: self._freed(copy))
            copy.writes[started.site, started.op, started.made_at] = None

    def _whole_read(self, shared: _Shared, tensor: torch.Tensor, frame: FrameType) -> None:
        """The vector itself is read after a parameter that was made a part of it was written to."""
        if shared.written is None or tensor._cdata in shared.tensors:
            return
        storage = storages.storage_of(tensor)
        if storage is None or tensor.numel() * tensor.element_size() != storage.nbytes():
            return
        site = self._recorder.positions.site(frame)
        if site is not None:
            self._report_shared(shared, (("written", shared.written), ("read again", site)))

    def _report_shared(self, shared: _Shared, related: tuple[tuple[str, Site], ...]) -> None:
        observed = Observed(
            "shared-memory",
            "silent",
            "",
            "setting .data copies nothing: the parameter and what it was set to are one memory since, and an in-place "
            "update of one changes the other",
            "copy instead: p.copy_(value) under torch.no_grad(), load_state_dict(), or .data = value.clone()",
            ((shared.site, "data =", None),),
            related=related,
        )
        if observed not in self._recorder.faults:
            self._recorder.report([observed])

    def _maybe_copy(self, frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        source = args[0] if args else None
        if isinstance(source, torch.Tensor) and isinstance(result, torch.Tensor) and result is not source:
            ours, theirs = storages.storage_of(source), storages.storage_of(result)
            if ours is not None and theirs is not None and ours._cdata != theirs._cdata:
                site = self._recorder.positions.site(frame)
                if site is not None:
                    theirs._inplace_fix_copy = _Copy(site)
        return result

    def _freed(self, copy: _Copy) -> None:
        if copy.read or not self._recorder.live:
            return
        self._recorder.report(
            [
                Observed(
                    "lost-write",
                    "silent",
                    "",
                    "the tensor is a copy here, since its source is not contiguous, and nobody read "
                    "it after the write: "
                    "the write never reached the source",
                    "write to the source itself (x.view(-1) raises where it cannot be a view), or "
                    "use the copy's result",
                    tuple(copy.writes),
                    related=(("the copy was made", copy.made),),
                )
            ]
        )


def _has_read(copy: _Copy) -> None:
    copy.read = True
