"""The command line as people meet it: arguments, help, processes, start-up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import FAULT, run

import inplace_fix
from inplace_fix.cli_options import Level, Policy
from inplace_fix.engine import POLICIES

TOOL = [sys.executable, "-m", "inplace_fix"]


def test_the_version_is_told() -> None:
    assert (ended := run("--version")).status == 0
    assert ended.out == f"inplace-fix {inplace_fix.__version__}\n"


@pytest.mark.parametrize("command", ["check", "fix", "trace", "explain"])
def test_help_holds_examples(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ended = run(command, "--help")
    assert ended.status == 0
    assert "Examples: " in ended.out
    assert f"inplace-fix {command} " in ended.out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["chek"], "Did you mean 'check'"),
        (["check", "--polcy", "all"], "--policy"),
        (["check", "--policy", "strikt"], "strikt"),
        (["explain"], "Missing argument"),
        (["check", "-", "m.py"], "cannot stand beside other paths"),
        (["check", "--stdin-filename", "m.py", "m.py"], "goes with the path `-`"),
        (["fix", "--interactive", "-"], "asks on standard input"),
        (["check", "--config", "none.toml", "."], "none.toml: cannot be read"),
        (["check", "--baseline", "none.json", "."], "none.json"),
        (["check", "--diff-from", "no-such-revision", "."], "--diff-from no-such-revision"),
    ],
)
def test_wrong_use_ends_with_status_2_and_words_on_standard_error(
    argv: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    ended = run(*argv)
    assert ended.status == 2
    assert words in ended.err
    assert ended.out == ""


def test_the_choices_are_those_of_the_parts_behind() -> None:
    from inplace_fix.trace.runner import LEVELS

    assert tuple(policy.value for policy in Policy) == POLICIES
    assert tuple(level.value for level in Level) == LEVELS


def test_the_program_of_a_traced_run_keeps_its_own_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def runner(command: list[str], *, module: bool, level: str, output: Path) -> int:
        calls.append((command, module, level, output))
        return 7

    monkeypatch.setattr("inplace_fix.trace.runner.run", runner)
    assert run("trace", "train.py", "--level", "9", "-m", "--", "-o", "x").status == 7
    assert run("trace", "--level", "full", "-o", "e.json", "-m", "pkg.train", "-o", "x").status == 7
    assert calls == [
        (["train.py", "--level", "9", "-m", "--", "-o", "x"], False, "writes", Path("evidence.json")),
        (["pkg.train", "-o", "x"], True, "full", Path("e.json")),
    ]


def test_as_a_process_it_gives_status_and_streams(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(FAULT)
    done = subprocess.run(
        [*TOOL, "check", "--output-format", "concise", "m.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout.startswith("m.py:5:1: error IPF001 ")
    assert "Found 1 error in 1 file" in done.stderr


HEAVY = (
    "import sys; from inplace_fix.cli import main; status = main({argv!r}); print(sorted({names!r} & set(sys.modules)))"
)


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["--version"], {"torch", "numpy", "libcst", "rich", "pathspec", "inplace_fix.engine"}),
        (["check", "right.py"], {"torch", "numpy", "libcst", "rich", "pathspec"}),
        (["check", "--output-format", "json", "fault.py"], {"torch", "numpy", "rich"}),
    ],
)
def test_no_more_is_imported_than_a_command_needs(argv: list[str], names: set[str], tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text("import torch\n\nx = torch.ones(3)\nx.add_(1)\n")
    (tmp_path / "fault.py").write_text(FAULT)
    code = HEAVY.format(argv=argv, names=names)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(FAULT)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*TOOL, "check", "m.py"], cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_an_interrupt_ends_it_with_status_130_and_no_traceback(tmp_path: Path) -> None:
    # reading standard input waits, so the signal comes at a known point
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b"\nInterrupted; no file was left half-written.\n"


WAITING = """
import sys
from inplace_fix import cli
from inplace_fix.commands import check

class Waiting:
    def read(self):
        print("ready", flush=True)
        return sys.stdin.buffer.read()

class Stdin:
    buffer = Waiting()

sys.exit(cli.main(["check", "-"], stdin=Stdin()))
"""
