"""The mode of the *full* level: sees every torch operation of its thread, and notes what it gave and where.

Inside ``__torch_function__`` the mode is off, so nothing that is asked of a tensor here comes back to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, handle_torch_function

from inplace_fix.trace import storages
from inplace_fix.trace.reading import Reads
from inplace_fix.trace.recorder import Recorder, Started
from inplace_fix.trace.sampling import Sample, share
from inplace_fix.trace.stamps import Stamps

Handler = Callable[[FrameType, Any, tuple[Any, ...], dict[str, Any]], Any]
"""Calls the function itself: (calling frame, function, arguments, keywords) to the function's result."""


def calling(wrapper: Callable[..., Any]) -> Handler:
    """The handler that calls a function's wrapper in its place."""

    def handler(frame: FrameType, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return wrapper(*args, **kwargs)

    return handler


_DISPATCH = handle_torch_function.__code__


class FullMode(TorchFunctionMode):
    """Notes the node number, the result's facts and ``out=`` writes; ``handlers`` look closer at single functions."""

    def __init__(self, recorder: Recorder, stamps: Stamps, reads: Reads, handlers: dict[Any, Handler]) -> None:
        super().__init__()
        self.reads = reads
        self.recorder = recorder
        self.stamps = stamps
        self.handlers = handlers

    def __torch_function__(
        self, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if torch.compiler.is_dynamo_compiling() or not self.recorder.live:
            return func(*args, **(kwargs or {}))
        if self.reads.count:
            self.reads.look(func, args, kwargs, sys._getframe(1))
        handler = self.handlers.get(func)
        if handler is not None:
            result = handler(sys._getframe(1), func, args, kwargs or {})
        elif kwargs:
            if kwargs.get("out") is not None:
                return self._with_out(func, args, kwargs)
            result = func(*args, **kwargs)
        else:
            try:
                result = func(*args)
            except RuntimeError as error:
                self._failed(args, error)
                raise
        if isinstance(result, torch.Tensor):
            self._gave(func, result, bool(args) and result is args[0])
        elif type(result) in (tuple, list) and result and isinstance(result[0], torch.Tensor):
            self._gave(func, result[0], False)
        return result

    def _gave(self, func: Any, result: torch.Tensor, receiver: bool) -> None:
        """Note the nodes that were made, and the value where user code itself called the operation."""
        frame: FrameType | None = sys._getframe(2)
        if frame is not None and frame.f_code is _DISPATCH:
            frame = frame.f_back.f_back if frame.f_back is not None else None  # torch's Python function and its caller
        if frame is None:
            return
        positions = self.recorder.positions
        if not positions.kind(frame.f_code):
            # Inside torch: a module's or an optimizer's own steps are no expressions of the program.
            if self.stamps.fresh():
                site = positions.site(frame)
                if site is not None:
                    self.stamps.mark(site)
            return
        site = positions.site(frame)
        if site is None:
            return
        self.stamps.mark(site)
        if receiver:
            return  # the wrapper of the in-place operation has noted what is to be known
        sample = site.value
        if sample is None:
            sample = site.value = Sample()
        if sample.due():
            sample.add(result, getattr(func, "__name__", "?"))
            storage = storages.storage_of(result)
            if storage is not None:
                share(storage, site, sample)

    def _failed(self, args: tuple[Any, ...], error: RuntimeError) -> None:
        site = self.recorder.positions.site(sys._getframe(2))
        if site is not None:
            self.recorder.failed(site, [one for one in args if isinstance(one, torch.Tensor)], error)

    def _with_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        recorder = self.recorder
        out = kwargs["out"]
        listed = [one for one in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(one, torch.Tensor)]
        frame = sys._getframe(2)
        op = f"{getattr(func, '__name__', '?')}(out=)"
        started: list[Started | None] = [recorder.begin(frame, one, op, ()) for one in listed]
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if started and started[0] is not None:
                recorder.refused(started[0], listed[0], error)
            raise
        for one, receiver in zip(started, listed, strict=True):
            if one is not None:
                recorder.wrote(one, receiver)
        return result
