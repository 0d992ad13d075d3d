"""Saved values behind hooks: checkpoints, ``save_on_cpu`` and the program's own switch PyTorch's version check off.

Each value is dated when it is packed; when it comes back, writes to its storage since that date are reported.
Also dates what a custom Function hands to ``save_for_backward``, since PyTorch notes versions only when forward
returns.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

import torch

from inplace_fix.trace import storages
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.positions import Site
from inplace_fix.trace.recorder import Recorder
from inplace_fix.trace.silent import SilentWrites, silent_faults
from inplace_fix.trace.stamps import stamp

_NOTES = 8
_Dates = list[tuple[int, int, "Site | None"]]


class _Packed:
    """What a pack hook gave, with when and where.

    ``dates`` is the list of dates on the value's storage at that time, ``number`` counts the values of one pair of
    hooks.
    """

    __slots__ = ("dates", "number", "site", "tick", "value")

    def __init__(self, value: object, number: int, tick: int, site: Site | None, dates: _Dates | None) -> None:
        self.value = value
        self.number = number
        self.tick = tick
        self.site = site
        self.dates = dates


def install_function_saves(recorder: Recorder, patches: Patches, silent: SilentWrites | None) -> None:
    """Date and place the saves of custom Functions."""
    context = torch.autograd.function.FunctionCtx
    original = context.save_for_backward
    frame_of = sys._getframe

    @functools.wraps(original)
    def save_for_backward(ctx: Any, *tensors: torch.Tensor) -> None:
        original(ctx, *tensors)
        if recorder.live and hasattr(ctx, "metadata"):
            site = recorder.positions.site(frame_of(1))
            if site is not None:
                stamp(ctx, site, recorder.tick)
                if silent is not None:
                    silent.armed = True

    patches.set(context, "save_for_backward", save_for_backward)


def install_hooks(recorder: Recorder, silent: SilentWrites, patches: Patches) -> None:
    """Date what passes through every pair of saved-tensor hooks made from now on."""
    hooks = torch.autograd.graph.saved_tensors_hooks
    original = hooks.__init__

    @functools.wraps(original)
    def init(self: Any, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        if torch.compiler.is_dynamo_compiling():
            original(self, pack_hook, unpack_hook)
        else:
            original(self, *_dated(recorder, silent, pack_hook, unpack_hook))

    patches.set(hooks, "__init__", init)


def _dated(
    recorder: Recorder, silent: SilentWrites, pack: Callable[..., Any], unpack: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    frame_of = sys._getframe
    numbers = itertools.count()

    @functools.wraps(pack)
    def packed(tensor: torch.Tensor) -> Any:
        storage = storages.storage_of(tensor)
        site = recorder.positions.site(frame_of(1))
        tick = recorder.tick
        number = next(numbers)
        dates = _date(storage, number, tick, site) if storage is not None else None
        return _Packed(pack(tensor), number, tick, site, dates)

    @functools.wraps(unpack)
    def unpacked(value: Any) -> Any:
        if not isinstance(value, _Packed):
            return unpack(value)
        result = unpack(value.value)
        if isinstance(result, torch.Tensor) and recorder.live:
            _check(recorder, silent, result, value)
        return result

    return packed, unpacked


def _date(storage: Any, number: int, tick: int, site: Site | None) -> _Dates:
    dates: _Dates | None = getattr(storage, "_inplace_fix_packed", None)
    if dates is None:
        dates = storage._inplace_fix_packed = []
    if len(dates) >= _NOTES:
        del dates[0]
    dates.append((number, tick, site))
    return dates


def _check(recorder: Recorder, silent: SilentWrites, result: torch.Tensor, packed: _Packed) -> None:
    storage = storages.storage_of(result)
    log = storages.log_of(storage) if storage is not None else None
    if storage is None or not log:
        return
    own: _Dates | None = getattr(storage, "_inplace_fix_packed", None)
    if own is not None and own is packed.dates:
        tick, site = packed.tick, packed.site
    else:
        # A checkpoint computed the value again, saving as many values as the first time: it dates from the second save.
        dates = [date for date in own or () if date[0] == packed.number]
        if not dates:
            return
        _, tick, site = dates[-1]
    later = list(silent.later(log.values(), result, tick))
    if later:
        recorder.report(silent_faults(later, site, "", "", None))
