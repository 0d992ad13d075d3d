"""Runs a user's command in this process with its results recorded, plainly or under the oracle.

    python -m inplace_fix.trace.verify_run --out FILE --told FILE [--oracle] [--lift] -- script|module|code TARGET ARGS

The random streams of Python, NumPy and torch start from a fixed seed, so that a program that sets none repeats itself.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import random
import runpy
import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path

import torch

from inplace_fix.trace.oracle import Oracle
from inplace_fix.trace.verify_lift import LeafWrites
from inplace_fix.trace.verify_record import Recorder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, write the record and (as JSON) what is told of the run, and return 0 whatever became of the program."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _options(words[: words.index("--")])
    kind, target, *rest = words[words.index("--") + 1 :]
    if options.oracle:
        os.environ["TORCH_COMPILE_DISABLE"] = "1"  # compiled code saves and writes out of the oracle's sight
    _seed(0)
    script = os.path.realpath(target) if kind == "script" else ""  # the program may change the working directory
    oracle = Oracle(lift=options.lift, leaf=LeafWrites(options.leaf)) if options.oracle else None
    recorder = Recorder()
    with recorder, oracle or contextlib.nullcontext():
        _redirect(options.root, options.copy)
        failure = run(kind, target, rest)
    # Written after the modes are left: a device or dtype that the program set as default must not reach the file.
    record = recorder.record()
    torch.save(record, options.out)
    told = {
        "failure": failure,
        "calls": len(record["calls"]),
        "rescued": oracle.rescued if oracle else 0,
        "lifted": oracle.lifted if oracle else 0,
        "files": sorted({*_loaded_files(), script or (_module_file(target) if kind == "module" else "")}),
    }
    Path(options.told).write_text(json.dumps(told), encoding="utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    return 0


def run(kind: str, target: str, arguments: Sequence[str]) -> str:
    """Run a ``script``, ``module`` or ``code`` as ``__main__`` and tell how it failed; "" where it did not.

    What Python would print of an uncaught exception goes to standard error.
    """
    sys.argv = [target if kind != "code" else "-c", *arguments]
    if sys.path[:1] == [""]:  # not so under -I and -P, which keep the program's own folder off the path
        sys.path[0] = {"module": os.getcwd(), "code": ""}.get(kind, os.path.dirname(os.path.realpath(target)))
    try:
        if kind == "module":
            runpy.run_module(target, run_name="__main__", alter_sys=True)
        else:
            _execute(kind, target)
    except SystemExit as stop:
        return "" if stop.code in (None, 0) else f"exit status {stop.code}"
    except Exception as error:
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    return ""


def _execute(kind: str, target: str) -> None:
    """As ``python TARGET`` does: a fresh ``__main__`` that stays, so that pickling and late threads find it."""
    main_module = types.ModuleType("__main__")
    sys.modules["__main__"] = main_module
    if kind == "code":
        exec(compile(target, "<string>", "exec"), main_module.__dict__)
        return
    main_module.__dict__.update(__file__=target, __cached__=None)
    exec(compile(Path(target).read_bytes(), target, "exec"), main_module.__dict__)


def _seed(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed)


def _redirect(root: str, copy: str) -> None:
    """Let imports that would reach the original tree (an editable install) reach the copy instead."""
    if not root:
        return

    def moved(path: str) -> str:
        return copy + path[len(root) :] if path == root or path.startswith(root + os.sep) else path

    sys.path[:] = [moved(entry) for entry in sys.path]
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None)
        if name.startswith("__editable__") and isinstance(mapping, dict):
            mapping.update({key: moved(value) for key, value in mapping.items()})


def _module_file(name: str) -> str:
    """The file that ``-m name`` ran, "" for code; it is not among the loaded modules under its own name."""
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
        if spec is not None and spec.origin:
            return os.path.realpath(spec.origin)
    return ""


def _loaded_files() -> set[str]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {os.path.realpath(file) for file in files if isinstance(file, str)}


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="verify_run", description=__doc__)
    parser.add_argument("--out", required=True, help="where the record goes (torch.save)")
    parser.add_argument("--told", required=True, help="where the facts about the run go (JSON)")
    parser.add_argument("--oracle", action="store_true", help="keep saved tensors at their save-time values")
    parser.add_argument("--lift", action="store_true", help="carry writes past the refusals of autograd")
    parser.add_argument("--leaf", default=LeafWrites.UPDATE.value, choices=[kind.value for kind in LeafWrites])
    parser.add_argument("--root", default="", help="the tree that must not be imported from")
    parser.add_argument("--copy", default="", help="the copy to import from instead")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
