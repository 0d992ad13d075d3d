"""Tracing in the processes that a traced program starts: ``spawn`` workers, ``torchrun`` ranks, plain subprocesses.

They learn of the run from the environment. Forked processes need none of this: they are traced from their birth.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from inplace_fix.trace.keeper import Keeper
from inplace_fix.trace.process import Traced
from inplace_fix.trace.tracebacks import clean

VARIABLE = "INPLACE_FIX_TRACE"
_STARTUP = str(Path(__file__).resolve().parent / "startup")


def announce(keeper: Keeper, level: str) -> Callable[[], None]:
    """Put what a child needs to know into the environment; gives what takes it out again."""
    before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
    os.environ[VARIABLE] = json.dumps(
        {"output": str(keeper.output), "root": str(keeper.root), "pid": keeper.root_pid, "level": level}
    )
    path = before["PYTHONPATH"]
    os.environ["PYTHONPATH"] = _STARTUP + (os.pathsep + path if path else "")

    def withdraw() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    return withdraw


def announced() -> bool:
    """Whether this process belongs to a run that is traced already."""
    return VARIABLE in os.environ


def begin(settings: str) -> None:
    """Trace this process as a part of the run that ``settings`` tells of."""
    told = json.loads(settings)
    traced = Traced(Keeper(Path(told["output"]), Path(told["root"]), int(told["pid"])), told["level"], first=False)
    traced.begin()
    atexit.register(traced.keeper.save)
    _watch_errors(traced)
    if "--multiprocessing-fork" in sys.argv:
        _watch_worker(traced)


def _watch_errors(traced: Traced) -> None:
    """Explain the exception that ends the process, and show its traceback without our frames."""
    show = sys.excepthook

    def uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        traced.ended_by(error)
        clean(error)
        show(kind, error, error.__traceback__)

    sys.excepthook = uncaught


def _watch_worker(traced: Traced) -> None:
    """A worker of multiprocessing handles its errors itself, so its status tells how it ended."""
    from multiprocessing import process

    original = getattr(process.BaseProcess, "_bootstrap", None)
    if original is None:
        return

    @functools.wraps(original)
    def bootstrap(worker: Any, *args: Any, **kwargs: Any) -> Any:
        status = original(worker, *args, **kwargs)
        traced.exiting(status)
        return status

    process.BaseProcess._bootstrap = bootstrap  # type: ignore[attr-defined]
