"""Scratch copies of a source tree, and runs of a command in them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

SKIPPED = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache", ".ruff_cache"}
    | {".pytest_cache", ".hypothesis", ".ipynb_checkpoints"}
)
INTERPRETER = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
FLAGS_WITH_VALUE = ("-W", "-X")
ACCEPTED = "`python [FLAGS] SCRIPT|-m MODULE|-c CODE [ARGS]` or `pytest [ARGS]`, also after NAME=VALUE or `uv run`"

_START = "import sys; sys.path.insert(0, {support!r}); from inplace_fix.trace.{module} import main; del sys.path[0]; "
_CALL = "sys.exit(main(sys.argv[1:]))"


class TreeTooLargeError(Exception):
    """The tree does not fit beside itself on the scratch disk."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command taken apart: environment, words before the interpreter, the interpreter with flags, and the program."""

    environment: Mapping[str, str]
    interpreter: tuple[str, ...]
    kind: str
    target: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one run.

    ``record`` is the file of results, None where the run left none, and then ``trouble`` says why ("took longer than
    900 s"); ``ended`` tells whether it ended by itself. ``failure`` is "" for a program that ran to its end.
    """

    record: Path | None
    trouble: str = ""
    ended: bool = True
    failure: str = ""
    calls: int = 0
    rescued: int = 0
    lifted: int = 0
    files: frozenset[str] = frozenset()
    tree: Path = field(default_factory=Path)
    tail: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def loaded(self, name: str) -> bool:
        """Whether the file ``name`` (relative to the tree) was run or imported from the copy."""
        return str(self.tree / name) in self.files


def parse_command(command: str) -> Launch | str:
    """Take a command apart, or say in words why it cannot be run here."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"The command {command!r} cannot be read: {error}."
    environment = {}
    while words and ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    for index, word in enumerate(words):
        base = os.path.basename(word)
        if INTERPRETER.fullmatch(base):
            return _program(environment, tuple(words[:index]), word, words[index + 1 :], command)
        if base in ("pytest", "py.test"):
            beside = Path(word).with_name("python")
            python = str(beside) if os.sep in word else _default_python(index > 0)
            return Launch(environment, (*words[:index], python), "module", "pytest", tuple(words[index + 1 :]))
        if word.endswith(".py"):
            python = _default_python(index > 0)
            return Launch(environment, (*words[:index], python), "script", word, tuple(words[index + 1 :]))
    return f"The command {command!r} starts no Python program that can be watched; give {ACCEPTED}."


def _default_python(prefixed: bool) -> str:
    return "python" if prefixed else sys.executable


def _program(
    environment: Mapping[str, str], before: tuple[str, ...], python: str, words: Sequence[str], command: str
) -> Launch | str:
    flags: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        for option, kind in (("-m", "module"), ("-c", "code")):
            if word.startswith(option):
                target = word[2:] or (rest.pop(0) if rest else "")
                if target:
                    return Launch(environment, (*before, python, *flags), kind, target, tuple(rest))
        if not word.startswith("-"):
            return Launch(environment, (*before, python, *flags), "script", word, tuple(rest))
        flags.append(word)
        if word in FLAGS_WITH_VALUE and rest:
            flags.append(rest.pop(0))
    return f"The command {command!r} names no program; give {ACCEPTED}."


def with_torch(launch: Launch) -> Launch:
    """The launch with this process's own interpreter where a bare ``python`` finds none that has torch.

    A person types ``python`` and means the environment at hand, which is not on the search path where this tool was
    started by its full path (an editor, a CI step). An interpreter given by path, or after ``uv run``, is left alone.
    """
    word = launch.interpreter[0]
    if not INTERPRETER.fullmatch(word):
        return launch
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    found = shutil.which(word)
    if found is not None and subprocess.run([found, "-c", probe], capture_output=True).returncode == 0:
        return launch
    return replace(launch, interpreter=(sys.executable, *launch.interpreter[1:]))


class Bench:
    """A scratch folder in which a command is run on copies of a tree; only ``scratch`` is written to."""

    def __init__(self, root: Path, scratch: Path, launch: Launch, timeout: float) -> None:
        self.root = root
        self._scratch = scratch
        self._launch = launch
        self._timeout = timeout
        self._runs = 0
        self._support = scratch / "support"
        package = Path(__file__).resolve().parent
        for source in (package, package.parent / "codemods"):
            shutil.copytree(source, self._support / source.name, ignore=shutil.ignore_patterns("__pycache__"))

    def run(self, name: str, *options: str, texts: Mapping[Path, str] | None = None) -> Run:
        """Run the command on a fresh copy of the tree; ``texts`` replace files, ``options`` go to the runner."""
        self._runs += 1
        # One path for all runs: a program that prints or hashes its own path must do the same in each.
        tree = self._scratch / "tree"
        copy_tree(self.root, tree)
        try:
            for path, text in (texts or {}).items():
                place = tree / path.relative_to(self.root)
                place.write_bytes(_encoded(text, place))
            return self._run(tree, name, options)
        finally:
            shutil.rmtree(tree, ignore_errors=True)

    def compare(self, reference: Run, other: Run) -> dict[str, Any]:
        """The comparison of two records (``trace.verify_compare.Comparison``) as a dict."""
        command = self._command("verify_compare", str(reference.record), str(other.record))
        status, output, late = _watched(command, self._scratch, self._environment(), self._timeout)
        if status or late:
            raise RuntimeError(f"comparing two records failed: {output.strip()[-500:]}")
        result: dict[str, Any] = json.loads(output.splitlines()[-1])
        return result

    def _run(self, tree: Path, name: str, options: tuple[str, ...]) -> Run:
        record = self._scratch / f"{self._runs}.pt"
        told = self._scratch / f"{self._runs}.json"
        launch = self._launch
        arguments = [self._moved(argument, tree) for argument in (launch.target, *launch.arguments)]
        command = self._command(
            *("verify_run", "--out", str(record), "--told", str(told), "--root", str(self.root), "--copy", str(tree)),
            *(*options, "--", launch.kind, *arguments),
        )
        here = Path.cwd().resolve()
        folder = tree / here.relative_to(self.root) if here.is_relative_to(self.root) else tree
        status, output, late = _watched(command, folder, self._environment(tree), self._timeout)
        tail = tuple(output.splitlines()[-12:])
        if late:
            return Run(None, f"took longer than {self._timeout:g} s", ended=False, tail=tail)
        if "No module named 'torch'" in output and not told.exists():
            return Run(None, f"cannot be watched: {' '.join(launch.interpreter)} has no torch", tail=tail)
        if not told.exists() or not record.exists():
            return Run(None, f"ended with status {status} before its results could be written", tail=tail)
        facts = json.loads(told.read_text("utf-8"))
        return Run(record, tree=tree, tail=tail if facts["failure"] else (), options=options, **_typed(facts))

    def _command(self, module: str, *arguments: str) -> list[str]:
        code = _START.format(support=str(self._support), module=module) + _CALL
        return [*self._launch.interpreter, "-c", code, *arguments]

    def _moved(self, argument: str, tree: Path) -> str:
        """An argument that names a place in the tree by its full path names the same place in the copy."""
        root = str(self.root)
        return (
            argument.replace(root, str(tree)) if re.search(re.escape(root) + r"(?![^/\\:=,])", argument) else argument
        )

    def _environment(self, tree: Path | None = None) -> dict[str, str]:
        environment = {**os.environ, **self._launch.environment}
        environment.update(PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0")
        if tree is not None and environment.get("PYTHONPATH"):
            parts = environment["PYTHONPATH"].split(os.pathsep)
            environment["PYTHONPATH"] = os.pathsep.join(self._moved(part, tree) for part in parts)
        return environment


def _encoded(text: str, original: Path) -> bytes:
    """A source text in the encoding that its original declares."""
    encoding = "utf-8"
    if original.exists():
        with original.open("rb") as lines:
            encoding, _ = tokenize.detect_encoding(lines.readline)
    return text.encode("utf-8" if text.startswith("\ufeff") else encoding)


def _typed(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {**facts, "files": frozenset(facts["files"])}


def _watched(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], limit: float
) -> tuple[int, str, bool]:
    """Run to the end or to the limit; the whole family of processes ends with the first, also on Ctrl-C."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    late = False
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        late = True
        _end_family(process)
        output, _ = process.communicate()
    except BaseException:
        _end_family(process)
        process.wait()
        raise
    return process.returncode, output, late


def _end_family(process: subprocess.Popen[str]) -> None:
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGTERM)
            time.sleep(0.2)
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()


def copy_tree(root: Path, target: Path) -> None:
    """Copy a tree without version control, caches and virtual environments; links stay links to what they named.

    Raises ``TreeTooLargeError`` before anything is written where the disk would not hold the copy.
    """
    files = list(_files(root))
    size = sum(path.lstat().st_size for path in files)
    free = shutil.disk_usage(target.parent).free
    if size > 0.8 * free:
        raise TreeTooLargeError(
            f"{root} holds {size / 1e9:.1f} GB and the scratch disk has {free / 1e9:.1f} GB free; "
            "verify from a folder that holds the program alone."
        )
    target.mkdir(parents=True)
    for path in files:
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            named = os.path.realpath(path)
            inside = Path(named).is_relative_to(root)
            place.symlink_to(target / Path(named).relative_to(root) if inside else named)
        elif path.is_dir():
            place.mkdir(exist_ok=True)
        else:
            shutil.copy2(path, place)


def _files(folder: Path) -> Iterator[Path]:
    """Files, links and empty folders below a folder."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink():
            yield path
        elif entry.is_dir():
            if entry.name not in SKIPPED and not (path / "pyvenv.cfg").exists():
                yield path
                yield from _files(path)
        elif entry.is_file():
            yield path
