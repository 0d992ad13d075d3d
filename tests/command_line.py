"""The command line driven without processes, and small programs for it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from inplace_fix.cli import main

FAULT = """import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(5.0)
y.sum().backward()
"""
REPAIRED = FAULT.replace("y.add_(5.0)", "y = y.add(5.0)")
RIGHT = FAULT.replace("x.exp()", "x * 2.0")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left: status, standard output as bytes, standard error."""

    status: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.raw.decode("utf-8")


def run(*argv: str | Path, stdin: bytes = b"") -> Ended:
    """Run one command line in this process."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    err = io.StringIO()
    status = main([str(word) for word in argv], out, err, io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return Ended(status, out.buffer.getvalue(), err.getvalue())


def notebook(*sources: str) -> str:
    """A notebook file whose code cells hold the sources, each with an output."""
    import json

    cells = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["tensor(1.)\n"]}],
            "source": source.splitlines(keepends=True),
        }
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"
