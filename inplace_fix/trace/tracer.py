"""Puts the recorder into torch and takes it out again; imported only once torch is there."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable

from inplace_fix.trace import compiled, warned, writes
from inplace_fix.trace.aliasing import Aliasing
from inplace_fix.trace.arrays import SharedArrays
from inplace_fix.trace.backward import Backward
from inplace_fix.trace.build import evidence_of
from inplace_fix.trace.full import FullMode, calling
from inplace_fix.trace.hazards import Hazards
from inplace_fix.trace.held import HeldValues
from inplace_fix.trace.observations import Evidence
from inplace_fix.trace.packing import install_function_saves, install_hooks
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.reading import Reads
from inplace_fix.trace.recorder import Recorder
from inplace_fix.trace.silent import SilentWrites
from inplace_fix.trace.stamps import Stamps
from inplace_fix.trace.statements import Statements

LEVELS = ("writes", "full")


class Tracer:
    """One recording: ``start`` before the code to look at, ``stop`` after it, ``evidence`` at any time."""

    def __init__(self, level: str) -> None:
        if level not in LEVELS:
            raise ValueError(f"unknown level {level!r}; choose one of {', '.join(LEVELS)}")
        self.recorder = Recorder(full=level == "full")
        self._patches = Patches()
        self._stamps = Stamps(self.recorder)
        self.backward = Backward(self.recorder, self._stamps)
        self._mode: FullMode | None = None
        self._cancel: Callable[[], None] = lambda: None
        self._arrays: SharedArrays | None = None

    def start(self) -> None:
        """Wrap torch's entry points; on the *full* level also enter the mode in this thread."""
        recorder, patches = self.recorder, self._patches
        stamps, backward = self._stamps, self.backward
        warned.install(patches)
        wrappers = writes.install(recorder, patches)
        recorder.origins.install(patches)
        backward.install(patches)
        silent: SilentWrites | None = None
        if recorder.full:
            statements = Statements()
            Hazards(recorder, statements).install(patches)
            reads = Reads()
            aliasing = Aliasing(recorder, reads)
            aliasing.install()
            HeldValues(recorder, reads, statements).install()
            silent = SilentWrites(recorder, stamps, aliasing)
            silent.install(patches)
            install_hooks(recorder, silent, patches)
            arrays = self._arrays = SharedArrays(recorder)
            arrays.install(patches)
            backward.before += [arrays.look, silent.look]
            backward.after.append(arrays.refresh)
            handlers = {
                **{function: calling(wrapper) for function, wrapper in wrappers.items()},
                **silent.handlers(),
                **aliasing.handlers(),
                **arrays.handlers(),
            }
            self._mode = FullMode(recorder, stamps, reads, handlers)
            self._mode.__enter__()  # type: ignore[no-untyped-call]
            self._enter_threads(lambda: FullMode(recorder, stamps, reads, handlers))
        install_function_saves(recorder, patches, silent)
        self._cancel = compiled.install(FullMode, patches)

    def stop(self) -> None:
        """Leave torch as it was; wrappers that somebody kept pass their calls through."""
        self.recorder.live = False
        self._cancel()
        if self._mode is not None:
            self._mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
            self._mode = None
        if self._arrays is not None:
            self._arrays.stop()
        self._patches.undo()

    def _enter_threads(self, mode: Callable[[], FullMode]) -> None:
        """Modes belong to a thread: threads that start from now on enter their own."""
        original = getattr(threading.Thread, "_bootstrap_inner", None)
        if original is None:
            return

        @functools.wraps(original)
        def bootstrap(thread: threading.Thread) -> None:
            with mode():
                original(thread)

        self._patches.set(threading.Thread, "_bootstrap_inner", bootstrap)

    def evidence(self) -> Evidence:
        """What was seen so far."""
        return evidence_of(self.recorder)
