"""One traced process: when recording begins, when it is saved, and what happens in forks, at signals and at exits."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from inplace_fix.trace.importing import when_imported
from inplace_fix.trace.keeper import Keeper
from inplace_fix.trace.observations import Evidence

if TYPE_CHECKING:
    from inplace_fix.trace.tracer import Tracer


class Traced:
    """Recording of this process from the program's import of torch on.

    ``first`` is True in the process that began the run, which joins the parts of all others.
    """

    def __init__(self, keeper: Keeper, level: str, *, first: bool = True) -> None:
        self._first = first
        self.keeper = keeper
        self._level = level
        self._tracer: Tracer | None = None
        self._cancel: Callable[[], None] = lambda: None
        self._pid = os.getpid()
        self._undo: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Wait for torch, and see to it that nothing is lost when the process forks, exits or is terminated."""
        os.register_at_fork(after_in_child=self._forked)
        if self._first:
            from inplace_fix.trace.children import announce

            self._undo.append(announce(self.keeper, self._level))
        self._watch_exit()
        self._watch_termination()
        self._cancel = when_imported("torch", self._start)

    def end(self) -> None:
        """Stop recording and put everything back; the keeper still gives what was seen."""
        self._cancel()
        if self._tracer is not None:
            self._tracer.stop()
        while self._undo:
            self._undo.pop()()

    def ended_by(self, error: BaseException) -> None:
        """Tell the recorder which exception ends the program."""
        if self._tracer is not None:
            self._tracer.recorder.ended_by(error)

    def exiting(self, status: object) -> None:
        """The process ends with ``status``; where that is a failure, its errors were not really handled."""
        if self._tracer is not None and status not in (0, None):
            self._tracer.recorder.uncaught(list(self._tracer.recorder.faults))
        self.keeper.save()

    def _start(self) -> None:
        from inplace_fix.trace.tracer import Tracer

        self._tracer = Tracer(self._level)
        self._tracer.recorder.on_fault.append(self.keeper.save)
        self._tracer.start()
        self._tracer.backward.after.append(self.keeper.save_in_time)
        self.keeper.collect = self._seen

    def _seen(self) -> Evidence:
        return self._tracer.evidence() if self._tracer is not None else Evidence()

    def _forked(self) -> None:
        """In a fork: what the parent saw is the parent's to tell."""
        if self._tracer is not None:
            self._tracer.recorder.forget()

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one that recording began in."""
        return os.getpid() != self._pid

    def _leave(self, status: int) -> None:
        if self._first and not self.forked:
            self.keeper.finish()
        else:
            self.exiting(status)

    def _watch_exit(self) -> None:
        """``os._exit`` runs no handlers: it is how forked workers end."""
        original = os._exit

        def leave(status: int) -> Any:
            with contextlib.suppress(Exception):
                self._leave(status)
            original(status)

        os._exit = leave

        def undo() -> None:
            os._exit = original

        self._undo.append(undo)

    def _watch_termination(self) -> None:
        """Save when the process is asked to end, unless the program has its own way of ending."""
        try:
            if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
                return
            signal.signal(signal.SIGTERM, self._terminated)
        except ValueError:
            return  # not the main thread

        def undo() -> None:
            if signal.getsignal(signal.SIGTERM) == self._terminated:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

        self._undo.append(undo)

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(Exception):
            self._leave(0)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
