"""Takes the tracer's frames out of a traceback, so that the program's error reads as it would without a trace."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

_OURS = str(Path(__file__).resolve().parent) + os.sep
_DISPATCH = os.path.join("torch", "overrides.py")


def clean(error: BaseException) -> BaseException:
    """Remove our frames from an exception and from those it came from; gives the same exception."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = strip(one.__traceback__)
        pending += [one.__cause__, one.__context__]
    return error


def strip(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without our frames, and without the detour torch's functions take when a mode is on.

    With a mode, ``F.relu`` calls ``handle_torch_function``, which calls the mode, which calls ``F.relu`` again:
    only the
    last is a frame of the plain run.
    """
    kept: list[TracebackType] = []
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if filename.startswith(_OURS):
            if kept and kept[-1].tb_frame.f_code.co_filename.endswith(_DISPATCH):
                kept.pop()
                if kept:
                    kept.pop()
        else:
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for one in reversed(kept):
        result = TracebackType(result, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return result
