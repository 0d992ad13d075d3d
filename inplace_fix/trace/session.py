"""A traced stretch of code in a program or a notebook: ``with inplace_fix.tracing() as run:``."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from inplace_fix.trace.evidence import current, merge, read, write
from inplace_fix.trace.observations import Evidence, Fault
from inplace_fix.trace.report import report

if TYPE_CHECKING:
    from inplace_fix.trace.tracer import Tracer


class tracing:  # noqa: N801 - reads as a verb in a with statement, like contextlib.suppress
    """Trace the code under ``with``; afterwards ``run.faults`` and ``run.evidence`` say what was seen.

    ``level`` is "writes" or "full". With ``output`` the evidence is also joined into that file. The report goes to
    standard error unless ``quiet`` is set. An exception passes through, explained. On the *full* level, threads that
    are already running are seen with their writes only.
    """

    def __init__(self, level: str = "writes", output: str | Path | None = None, *, quiet: bool = False) -> None:
        self._level = level
        self._output = Path(output) if output is not None else None
        self._quiet = quiet
        self._tracer: Tracer | None = None
        self._evidence: Evidence | None = None

    @property
    def evidence(self) -> Evidence:
        """What was seen so far."""
        if self._evidence is not None:
            return self._evidence
        return self._tracer.evidence() if self._tracer is not None else Evidence()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults seen so far."""
        return self.evidence.faults

    def __str__(self) -> str:
        return report(self.evidence, Path.cwd(), self._output) or "no fault was seen\n"

    def __enter__(self) -> tracing:
        from inplace_fix.trace.tracer import Tracer

        self._evidence = None
        self._tracer = Tracer(self._level)
        self._tracer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._tracer is None:
            return
        if error is not None:
            self._tracer.recorder.ended_by(error)
        self._tracer.stop()
        self._evidence = self._tracer.evidence()
        self._tracer = None
        if self._output is not None:
            root = Path.cwd()
            earlier = [current(read(self._output, root))] if self._output.exists() else []
            write(self._output, merge([*earlier, self._evidence]), root)
        if self._evidence.faults and not self._quiet:
            print(self, file=sys.stderr)
