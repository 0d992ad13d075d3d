"""Runs of the prover's programs in processes forked from one that has loaded torch, so that a run takes no seconds.

The parent of the forks has run no backward: autograd refuses to work in the child of a process whose engine ran.
"""

from __future__ import annotations

import importlib
import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNNERS = ("inplace_fix.trace.verify_run", "inplace_fix.trace.verify_compare")


def start() -> None:
    """Start the process that is forked; to be called before a test changes where temporary files go."""
    multiprocessing.get_context("forkserver").set_forkserver_preload([*RUNNERS, "torch._dynamo"])
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([known] if known else [])])  # for the preload alone
    try:
        forkserver.ensure_running()
    finally:
        if known is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = known


def watched(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], limit: float
) -> tuple[int, str, bool]:
    """Stands in for ``inplace_fix.scratch._watched`` for a command ``python -c START ARGUMENTS``."""
    start, arguments = command[2], list(command[3:])
    module = next(name for name in RUNNERS if f"{name} import main" in start)
    context = multiprocessing.get_context("forkserver")
    with tempfile.NamedTemporaryFile("r+", errors="replace") as output:
        process = context.Process(target=_child, args=(module, arguments, str(folder), dict(environment), output.name))
        process.start()
        process.join(limit)
        late = process.is_alive()
        if late:
            process.kill()
            process.join()
        return process.exitcode or 0, Path(output.name).read_text(errors="replace"), late


def _child(module: str, arguments: list[str], folder: str, environment: dict[str, str], output: str) -> None:
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(number, "w"), line_buffering=True) for number in (1, 2))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, "")
    sys.exit(importlib.import_module(module).main(arguments))
