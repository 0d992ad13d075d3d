"""Finds writes that no version counter shows, by their order in time: a saved value whose storage was written to later.

Every backward is preceded by a look at its graph, once the program has done anything that can write unseen.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import torch
import torch.nn.functional

from inplace_fix.trace import graph, storages
from inplace_fix.trace.aliasing import Aliasing
from inplace_fix.trace.full import Handler
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.positions import Site
from inplace_fix.trace.recorder import Observed, Recorder, Started
from inplace_fix.trace.regions import overlap, region_of
from inplace_fix.trace.stamps import Stamps, next_number
from inplace_fix.trace.storages import Entry

_CHAINS = 4096
_STATISTICS = {"running_mean", "running_var"}
_MOVE = "move the write behind the backward, or bind a new tensor and leave the saved one as it is"

_KINDS = (
    (lambda entry: entry.swapped != 0, "data-swap", "backward reads the tensor that `.data` was set to since"),
    (
        lambda entry: entry.op.startswith("batch_norm"),
        "batch-norm-buffers",
        "batch norm in training overwrote the running statistics that a forward in evaluation mode had saved, and does "
        "not move their version counter",
    ),
    (
        lambda entry: entry.via == "optimizer",
        "optimizer-order",
        "a fused optimizer step overwrote weights that a graph still needs, and fused steps move no version counter",
    ),
    (
        lambda entry: entry.op.startswith("numpy"),
        "numpy",
        "the write went through a NumPy array that shares the tensor's memory",
    ),
    (
        lambda entry: entry.op.startswith("distributed."),
        "collective",
        "a collective operation overwrote the tensor and moves no version counter",
    ),
)
_DATA = ("data-attribute", "the write went through `.data`, which has a version counter of its own")


class SilentWrites:
    """The look before each backward, and the operations that write without saying so."""

    def __init__(self, recorder: Recorder, stamps: Stamps, aliasing: Aliasing) -> None:
        self._recorder = recorder
        self._aliasing = aliasing
        self._stamps = stamps
        self.armed = False
        self._chains: dict[int, tuple[Site, ...]] = {}

    def handlers(self) -> dict[Any, Handler]:
        """For the mode of the *full* level."""
        functional = torch.nn.functional
        found: dict[Any, Handler] = {
            functional.batch_norm: self._writing("running_mean", "running_var"),
            functional.instance_norm: self._writing("running_mean", "running_var"),
            torch.Tensor.data.__set__: self._data_set,  # type: ignore[attr-defined]
            torch.Tensor.data.__get__: self._data_read,  # type: ignore[attr-defined]
        }
        for function in (torch.batch_norm, torch.native_batch_norm, torch.instance_norm):
            found[function] = self._by_position(3, 4)
        return found

    def install(self, patches: Patches) -> None:
        """Wrap the collectives, which are no torch functions and so pass no mode."""
        self._recorder.noted.append(self._arm)
        distributed = torch.distributed
        if not distributed.is_available():
            return
        for name in ("all_reduce", "broadcast", "reduce", "recv"):
            original = getattr(distributed, name)
            wrapper = self._collective(original, name)
            for owner in (distributed, distributed.distributed_c10d):
                patches.set(owner, name, wrapper)

    def look(self, outputs: Any, backward: Site | None) -> None:
        """Report every saved value behind ``outputs`` that was overwritten unseen."""
        if not self.armed:
            return
        for node in graph.nodes(graph.roots_of(outputs)):
            stamp: tuple[Site, int] | None = None
            for attribute, raw in graph.raw_values(node):
                if attribute in _STATISTICS and getattr(node, "_saved_training", False):
                    continue  # saved, but a backward in training mode reads the batch's own statistics
                tensor = graph.tensor_of(raw)
                storage = storages.storage_of(tensor) if tensor is not None else None
                log = storages.log_of(storage) if storage is not None else None
                if not log or tensor is None:
                    continue
                stamp = stamp or self._stamps.of(node)
                if stamp is None:
                    break
                later = list(self.later(log.values(), tensor, stamp[1]))
                if later and not graph.refused(node, attribute):
                    faults = silent_faults(later, stamp[0], node.name(), attribute, backward)
                    chain = self._chains.get(node._sequence_nr(), ())
                    self._recorder.report([_told_apart(fault, later, chain) for fault in faults])

    def later(self, entries: Any, tensor: torch.Tensor, tick: int) -> Iterator[Entry]:
        """The writes to the memory of ``tensor`` after ``tick``."""
        region = region_of(tensor)
        for entry in entries:
            if entry.tick <= tick:
                continue
            if entry.swapped:
                if entry.swapped == tensor._cdata:
                    yield entry
            elif region is None or not entry.regions or any(overlap(region, one) for one in entry.regions):
                yield entry

    def _arm(self, entry: Entry, receiver: torch.Tensor, storage: Any, started: Started) -> None:
        if entry.silent:
            self.armed = True

    def _data_read(self, frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.armed = True
        result = func(*args, **kwargs)
        self._aliasing.data_read(args[0], result)
        return result

    def _data_set(self, frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        receiver = args[0]
        old = storages.storage_of(receiver)
        result = func(*args, **kwargs)
        new = storages.storage_of(receiver)
        site = self._recorder.positions.site(frame)
        if new is None or site is None or (old is not None and old._cdata == new._cdata):
            return result
        self.armed = True
        self._aliasing.data_set(receiver, args[1], site)
        self._recorder.tick += 1
        entry = storages.note(new, site)
        entry.op, entry.tick, entry.silent, entry.swapped = "data =", self._recorder.tick, True, receiver._cdata
        return result

    def _writing(self, *names: str) -> Handler:
        def handler(frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            bound = _bind(func, args, kwargs)
            return self._call(frame, func, args, kwargs, [bound.get(name) for name in names])

        return handler

    def _by_position(self, *positions: int) -> Handler:
        def handler(frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return self._call(frame, func, args, kwargs, [args[at] for at in positions if at < len(args)])

        return handler

    def _call(
        self,
        frame: FrameType,
        func: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        receivers: Sequence[object],
    ) -> Any:
        """Run an operation that may write to ``receivers``; the write is noted if their contents can have changed."""
        recorder = self._recorder
        tensors = [one for one in receivers if isinstance(one, torch.Tensor)]
        if not tensors:
            return func(*args, **kwargs)
        chain = recorder.positions.chain(frame)
        if not _is_training(func, args, kwargs):
            result = func(*args, **kwargs)
            self._keep_chain(chain)
            return result
        recorder.tick += 1
        tick = recorder.tick
        before = [storages.version_of(one) for one in tensors]
        result = func(*args, **kwargs)
        site = recorder.positions.site(frame)
        if site is not None:
            for tensor, version in zip(tensors, before, strict=True):
                silent = storages.version_of(tensor) == version
                started = Started(site, func.__name__, version, tick, None, region_of(tensor), silent=silent)
                recorder.wrote(started, tensor)
                storage = storages.storage_of(tensor)
                if storage is not None:
                    storages.note(storage, site).chain = chain
        return result

    def _keep_chain(self, chain: tuple[Site, ...]) -> None:
        """Remember from where the node was made that autograd numbered last."""
        while len(self._chains) >= _CHAINS:
            del self._chains[next(iter(self._chains))]
        self._chains[next_number() - 1] = chain

    def _collective(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        recorder = self._recorder

        def collective(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            frame = inspect.currentframe()
            recorder.tick += 1
            tick = recorder.tick
            result = original(tensor, *args, **kwargs)
            if frame is not None and frame.f_back is not None and isinstance(tensor, torch.Tensor):
                recorder.wrote_silently(frame.f_back, [tensor], f"distributed.{name}", tick)
            return result

        collective.__name__ = name
        collective.__doc__ = original.__doc__
        return collective


def silent_faults(
    writes: Sequence[Entry], saved: Site | None, node: str, attribute: str, backward: Site | None
) -> list[Observed]:
    """One fault for each kind of unseen write to one saved value."""
    kinds: dict[tuple[str, str], list[Entry]] = {}
    for entry in sorted(writes, key=lambda one: one.tick):
        kinds.setdefault(_kind(entry), []).append(entry)
    return [
        Observed(
            kind,
            "silent",
            "",
            f"the value was saved for backward and overwritten before backward read it; {why}, so PyTorch says nothing "
            "and the gradient is wrong",
            _MOVE,
            tuple(dict.fromkeys((entry.site, entry.op, entry.made_at) for entry in entries)),
            saved,
            node,
            attribute,
            backward,
        )
        for (kind, why), entries in kinds.items()
    ]


def _told_apart(fault: Observed, writes: Sequence[Entry], saved: tuple[Site, ...]) -> Observed:
    """Where one line both saved and wrote, as a layer's call does in two forward passes, name the calls that
    led there.
    """
    chain = next((entry.chain for entry in writes if entry.chain), ())
    if not chain or not saved or chain[0] is not saved[0]:
        return fault
    for wrote_from, saved_from in zip(reversed(chain), reversed(saved), strict=False):
        if wrote_from is not saved_from:
            return replace(
                fault,
                writes=tuple((wrote_from, op, made_at) for _, op, made_at in fault.writes),
                saved=saved_from,
                related=(("by both calls, in the end,", chain[0]),),
            )
    return fault


def _kind(entry: Entry) -> tuple[str, str]:
    for test, kind, why in _KINDS:
        if test(entry):  # type: ignore[no-untyped-call]
            return kind, why
    return _DATA


def _bind(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        bound = inspect.signature(func).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return {}
    bound.apply_defaults()
    return bound.arguments


def _is_training(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    bound = _bind(func, args, kwargs)
    return bool(bound.get("training", bound.get("use_input_stats", True)))
