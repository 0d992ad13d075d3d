"""Runs the user's own command in this process under the tracer, as Python itself would have run it.

The program keeps its arguments, directory, ``__main__``, streams, exit status and traceback; the report follows on
standard error. torch is not imported before the program imports it.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import io
import os
import sys
import threading
import types
from collections.abc import Sequence
from pathlib import Path

from inplace_fix.trace import evidence as files
from inplace_fix.trace.keeper import Keeper
from inplace_fix.trace.process import Traced
from inplace_fix.trace.report import report
from inplace_fix.trace.tracebacks import clean

LEVELS = ("writes", "full")


def run(command: Sequence[str], *, module: bool, level: str, output: Path) -> int:
    """Run ``command`` (a script or a module's name, then its arguments) and leave evidence in ``output``.

    Gives the program's own exit status, or 2 with a message where there is nothing to run, torch is missing, or
    ``output`` is a file that is no evidence.
    """
    root = Path.cwd()
    reason = _refusal(command, module, level) or refusal(output, root)
    if reason:
        print(f"inplace-fix trace: {reason}", file=sys.stderr)
        return 2
    traced = Traced(Keeper(output, root, os.getpid()), level)
    traced.begin()
    try:
        status = _execute(command, module, traced)
    finally:
        traced.end()
    if traced.forked:  # the program forked, and this is its child coming home
        traced.exiting(status)
        return status
    try:
        seen = traced.keeper.finish()
    except OSError as error:
        print(
            f"inplace-fix trace: cannot write {output}: {error.strerror or error}; choose another -o FILE",
            file=sys.stderr,
        )
        return status or 2
    text = report(seen, root, output)
    if not text and not seen.facts:
        text = "inplace-fix: no tensor was seen in this run, so the evidence is empty\n"
    if text:
        sys.stdout.flush()
        print(f"\n{text}", file=sys.stderr, end="")
    return status


def refusal(output: Path, root: Path) -> str:
    """Why no evidence can be written to ``output``, or torch cannot be traced, in words; "" where all is well."""
    if output.is_dir() or (output.exists() and not output.is_file()):
        return f"{output} is not a file; choose another one for the evidence"
    if output.exists() and output.stat().st_size:
        try:
            files.read(output, root)
        except files.EvidenceError as error:
            return f"{error}; it was left as it is: remove it, or choose another file for the evidence"
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed for this Python; a traced run needs it: pip install 'inplace-fix[trace]'"
    return ""


def _refusal(command: Sequence[str], module: bool, level: str) -> str:
    if not command:
        return "nothing to run; give a script, or -m and a module, with its arguments"
    if level not in LEVELS:
        return f"unknown level {level!r}; choose writes or full"
    if not module and not Path(command[0]).exists():
        return f"there is no file {command[0]}; give the path of a script, or -m and a module's name"
    return ""


def _execute(command: Sequence[str], module: bool, traced: Traced) -> int:
    before = sys.modules["__main__"], sys.argv, list(sys.path)
    try:
        try:
            program, code = _prepare_module(command) if module else _prepare_script(command)
            sys.modules["__main__"] = program
            exec(code, program.__dict__)
            status = 0
        except SystemExit as error:
            status = _status(error.code)
        except BaseException as error:
            traced.ended_by(error)
            clean(error)
            sys.excepthook(type(error), error, error.__traceback__)
            status = 130 if isinstance(error, KeyboardInterrupt) else 1
        _join_threads()
        return status
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before


def _prepare_script(command: Sequence[str]) -> tuple[types.ModuleType, types.CodeType]:
    """The ``__main__`` module and code of a script, or of a directory that holds a ``__main__.py``."""
    sys.argv = list(command)
    path = os.path.abspath(command[0])
    first = os.path.dirname(path)
    if os.path.isdir(path):
        first, path = path, os.path.join(path, "__main__.py")
    if not sys.flags.safe_path if hasattr(sys.flags, "safe_path") else True:
        sys.path[0:1] = [first]
    with io.open_code(path) as stream:
        code = compile(stream.read(), path, "exec", dont_inherit=True)
    program = _main_module(path, None, importlib.machinery.SourceFileLoader("__main__", path))
    return program, code


def _prepare_module(command: Sequence[str]) -> tuple[types.ModuleType, types.CodeType]:
    """As ``python -m``: the module's code, or its ``__main__`` where it is a package."""
    sys.path[0:1] = [os.getcwd()]
    sys.argv = ["-m", *command[1:]]
    spec = importlib.util.find_spec(command[0])
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{command[0]}.__main__")
    loader = spec.loader if spec is not None else None
    code = loader.get_code(spec.name) if spec is not None and isinstance(loader, importlib.abc.InspectLoader) else None
    if spec is None or code is None:
        raise ModuleNotFoundError(f"No module named {command[0]}", name=command[0])
    sys.argv[0] = spec.origin or command[0]
    return _main_module(spec.origin, spec, loader), code


def _main_module(path: str | None, spec: importlib.machinery.ModuleSpec | None, loader: object) -> types.ModuleType:
    program = types.ModuleType("__main__")
    program.__dict__.update(
        __file__=path,
        __builtins__=builtins,
        __spec__=spec,
        __loader__=loader,
        __package__=spec.parent if spec is not None else None,
        __cached__=spec.cached if spec is not None else None,
        __annotations__={},
    )
    return program


def _status(code: object) -> int:
    """The exit status of ``sys.exit(code)``; anything but a number is printed, as Python does."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _join_threads() -> None:
    """Wait for the program's threads, as Python does before it ends; they still belong to the run."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
