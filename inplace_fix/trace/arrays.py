"""Writes through NumPy arrays that share a tensor's memory: no torch function is called and no version moves.

While such an array and its tensor both live, a checksum of the memory is compared at each line that the user's code
executes, for small arrays and within a budget; after that, and for larger ones, before each backward only.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
import zlib
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch

from inplace_fix.trace import storages
from inplace_fix.trace.full import Handler
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.positions import OWN, Site
from inplace_fix.trace.recorder import Recorder, Started
from inplace_fix.trace.storages import Entry

_BY_LINE = 1 << 20  # bytes
_BY_BACKWARD = 1 << 23
_LINES = 20_000
_BYTES = 1 << 29
_WATCHES = 64


class _Watch:
    """One shared piece of memory; dead when the array or the tensor's storage is."""

    __slots__ = ("array", "checksum", "handed", "size", "storage")

    def __init__(self, storage: Any, array: Any, handed: Site) -> None:
        self.storage = weakref.ref(storage)
        self.array = weakref.ref(array)
        self.handed = handed
        self.size = int(storage.nbytes())
        self.checksum = _checksum(storage, self.size)

    def changed(self) -> bool | None:
        """Whether the memory changed since it was last asked; None once nothing can write to it any more."""
        storage = self.storage()
        if storage is None or self.array() is None:
            return None
        now = _checksum(storage, self.size)
        before, self.checksum = self.checksum, now
        return now != before


class SharedArrays:
    """The watches of one run, and the line tracing that finds who wrote."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._watches: list[_Watch] = []
        self._lines = _LINES
        self._bytes = _BYTES
        self._previous: tuple[CodeType, int] | None = None
        self._tracing = False
        self._nothing = torch.empty(0)

    def handlers(self) -> dict[Any, Handler]:
        """For the methods that hand out an array, and the functions that take one in without copying."""
        found: dict[Any, Handler] = dict.fromkeys((torch.Tensor.numpy, torch.Tensor.__array__), self._handed_out)
        found.update(dict.fromkeys((torch.as_tensor, torch.asarray), self._taken_in))
        return found

    def install(self, patches: Patches) -> None:
        """Wrap ``from_numpy``, which passes no mode, and learn of torch's own writes to watched memory."""
        original = torch.from_numpy

        def from_numpy(array: Any) -> torch.Tensor:
            result = original(array)
            self._watch(result, array, sys._getframe(1))
            return result

        from_numpy.__doc__ = original.__doc__
        patches.set(torch, "from_numpy", from_numpy)
        self._recorder.noted.append(self._written_by_torch)

    def look(self, outputs: Any, backward: Site | None) -> None:
        """Before a backward: a change whose line was not seen is put down to where the memory was shared."""
        for watch in self._changed():
            self._note(watch, watch.handed, "numpy (its line was not seen)")

    def refresh(self) -> None:
        """After a backward, which may have written to watched gradients."""
        self._changed()

    def stop(self) -> None:
        """End line tracing."""
        self._watches.clear()
        self._end()

    def _handed_out(self, frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        self._watch(args[0], result, frame)
        return result

    def _taken_in(self, frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        source = args[0] if args else None
        interface = getattr(source, "__array_interface__", None)
        if isinstance(interface, dict) and isinstance(result, torch.Tensor) and not isinstance(source, torch.Tensor):
            address = interface.get("data", (None,))[0]
            if address is not None and result.device.type == "cpu" and address == result.data_ptr():
                self._watch(result, source, frame)
        return result

    def _watch(self, tensor: torch.Tensor, array: Any, frame: FrameType) -> None:
        storage = storages.storage_of(tensor)
        site = self._recorder.positions.site(frame)
        if storage is None or site is None or tensor.device.type != "cpu" or not 0 < storage.nbytes() <= _BY_BACKWARD:
            return
        while getattr(array, "base", None) is not None and type(array.base) is type(array):
            array = array.base
        self._watches = [one for one in self._watches if one.storage() is not None and one.array() is not None]
        if len(self._watches) >= _WATCHES:
            return
        try:
            watch = _Watch(storage, array, site)
        except (TypeError, ValueError):
            return  # an array type that cannot be referred to weakly
        self._watches.append(watch)
        if watch.size <= _BY_LINE:
            self._begin(frame)

    def _written_by_torch(self, entry: Entry, receiver: torch.Tensor, storage: Any, started: Started) -> None:
        if self._watches:
            self._changed()

    def _changed(self) -> list[_Watch]:
        if not self._watches:
            return []
        found, alive = [], []
        for watch in self._watches:
            changed = watch.changed()
            if changed is not None:
                alive.append(watch)
                self._bytes -= watch.size
            if changed:
                found.append(watch)
        self._watches = alive
        return found

    def _note(self, watch: _Watch, site: Site, op: str) -> None:
        storage = watch.storage()
        if storage is None:
            return
        self._recorder.tick += 1
        entry = storages.note(storage, site)
        entry.op, entry.tick, entry.silent = op, self._recorder.tick, True
        for told in self._recorder.noted:
            if told != self._written_by_torch:
                told(entry, self._nothing, storage, Started(site, op, 0, entry.tick, None, None, silent=True))

    # -- lines -----------------------------------------------------------------------------------------------------

    def _begin(self, frame: FrameType | None) -> None:
        """Trace lines from here on, unless a debugger or a coverage tool does so already."""
        if self._tracing or self._lines <= 0 or self._bytes <= 0 or sys.gettrace() is not None:
            return
        self._tracing = True
        self._previous = None
        while frame is not None:
            if self._recorder.positions.kind(frame.f_code) == OWN:
                if self._previous is None:
                    self._previous = (frame.f_code, frame.f_lineno)
                frame.f_trace = self._line
            frame = frame.f_back
        sys.settrace(self._call)

    def _end(self) -> None:
        if self._tracing:
            self._tracing = False
            if sys.gettrace() == self._call:
                sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if self._recorder.positions.kind(frame.f_code) != OWN:
            return None
        return self._line(frame, event, argument)

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if not self._tracing:
            return None
        changed = self._changed()
        if changed and self._previous is not None:
            site = self._recorder.positions.line(*self._previous)
            for watch in changed:
                self._note(watch, site, "numpy")
        if event == "return":
            caller = frame.f_back
            while caller is not None and self._recorder.positions.kind(caller.f_code) != OWN:
                caller = caller.f_back
            self._previous = (caller.f_code, caller.f_lineno) if caller is not None else None
        else:
            self._previous = (frame.f_code, frame.f_lineno)
        self._lines -= 1
        if not self._watches or self._lines <= 0 or self._bytes <= 0:
            self._end()
            return None
        return self._line


def _checksum(storage: Any, size: int) -> int:
    return zlib.crc32((ctypes.c_char * size).from_address(storage.data_ptr()))
