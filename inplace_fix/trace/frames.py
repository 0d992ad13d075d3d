"""Reads local variables of running frames without leaving a trace in them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any


def local_variables(frame: FrameType, names: Iterable[str] | None = None) -> list[Any]:
    """The values of some local variables, or of all; names that are not bound yet are left out.

    Before Python 3.13 ``f_locals`` is a snapshot that stays with the frame and would keep tensors alive: it is emptied.
    """
    found = frame.f_locals
    wanted = found if names is None else [name for name in names if name in found]
    values = [found[name] for name in wanted]
    _forget(frame)
    return values


def names_of(frame: FrameType, value: object) -> list[str]:
    """The local names that are bound to this very object."""
    found = [name for name, one in list(frame.f_locals.items()) if one is value]
    _forget(frame)
    return found


def _forget(frame: FrameType) -> None:
    # Of a module's or a class's body f_locals is the namespace itself.
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        frame.f_locals.clear()
