"""Runs a small program under a trace and reads places back as the source text they cover."""

from __future__ import annotations

import linecache
import textwrap
from dataclasses import dataclass
from pathlib import Path

import inplace_fix
from inplace_fix.trace.observations import Evidence, Fact, Fault, Place, Write

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


@dataclass(frozen=True)
class Seen:
    """What a trace saw of a program; ``error`` is what ended it."""

    evidence: Evidence
    source: str
    error: BaseException | None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults."""
        return self.evidence.faults

    @property
    def kinds(self) -> list[str]:
        """The kinds of the faults, in order."""
        return [fault.kind for fault in self.faults]

    def fault(self) -> Fault:
        """The only fault."""
        assert len(self.faults) == 1, self.faults
        return self.faults[0]

    def text(self, place: Place | None) -> str:
        """The source text of a place; only its first line where it goes over several."""
        assert place is not None
        span = place.span
        lines = self.source.split("\n")
        end = span.end_column if span.end_line == span.line else None
        return lines[span.line - 1][span.column : end]

    def writes(self, fault: Fault) -> list[str]:
        """The texts of a fault's writes."""
        return [self.text(write.place) for write in fault.writes]

    def write(self) -> Write:
        """The only write of the only fault."""
        (write,) = self.fault().writes
        return write

    def fact(self, text: str, role: str) -> Fact:
        """The fact about the expression with this text."""
        (found,) = [fact for fact in self.evidence.facts if fact.role == role and self.text(fact.place) == text]
        return found


def trace(folder: Path, body: str, level: str = "full", name: str = "program.py") -> Seen:
    """Run ``HEAD`` and ``body`` under a trace."""
    source = HEAD + textwrap.dedent(body).strip() + "\n"
    path = folder / name
    path.write_text(source, encoding="utf-8")
    linecache.checkcache()
    code = compile(source, str(path), "exec")
    run = inplace_fix.tracing(level, quiet=True)
    error: BaseException | None = None
    try:
        with run:
            exec(code, {"__name__": "program"})
    except Exception as raised:
        error = raised
    return Seen(run.evidence, source, error)
