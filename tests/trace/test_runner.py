"""A traced program runs as Python would run it: arguments, place, status, streams and traceback are its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_fix.trace.evidence import load
from inplace_fix.trace.runner import run

pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]
FAULT = """
def main():
    y = torch.rand(3, requires_grad=True).exp()
    y.add_(1)
    y.sum().backward()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    before = _state()
    yield
    assert _state() == before


def _state() -> tuple[object, ...]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    handler = signal.getsignal(signal.SIGTERM)
    return environment, sys.argv, list(sys.path), sys.modules["__main__"], handler, os._exit, sys.excepthook


def _run(folder: Path, source: str, *arguments: str, level: str = "writes") -> int:
    (folder / "train.py").write_text(source)
    return run(["train.py", *arguments], module=False, level=level, output=folder / "e.json")


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )


def test_a_script_sees_its_arguments_its_name_and_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 3\n")
    source = """
import os, pickle, sys
import beside, torch

class Config:
    pass

if __name__ == "__main__":
    assert sys.argv == ["train.py", "--lr", "-o", "--", "x"], sys.argv
    assert os.path.basename(__file__) == "train.py" and os.path.isabs(__file__)
    assert sys.path[0] == os.path.dirname(__file__) == os.getcwd()
    assert __spec__ is None and __package__ is None
    assert sys.modules["__main__"].Config is Config
    assert type(pickle.loads(pickle.dumps(Config()))) is Config
    assert beside.value == 3
"""
    assert _run(tmp_path, source, "--lr", "-o", "--", "x") == 0


def test_a_module_runs_as_python_m_runs_it(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "part.py").write_text("value = 3\n")
    (tmp_path / "pack" / "__main__.py").write_text(
        "import sys, os\nfrom .part import value\n"
        "assert sys.argv[1:] == ['a'] and sys.argv[0] == __file__, sys.argv\n"
        "assert __name__ == '__main__' and __package__ == 'pack' and __spec__.name == 'pack.__main__'\n"
        "sys.exit(value)\n"
    )
    try:
        assert run(["pack", "a"], module=True, level="writes", output=tmp_path / "e.json") == 3
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "pack"]:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("end", "status", "words"),
    [
        ("", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit(True)", 1, ""),
        ("sys.exit('no data')", 1, "no data\n"),
        ("raise ValueError('its own')", 1, "ValueError: its own\n"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt\n"),
        ("1 +", 1, "SyntaxError: invalid syntax\n"),
    ],
)
def test_the_exit_status_and_last_words_are_the_programs(
    end: str, status: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, f"import sys, torch\ntorch.zeros(2).add_(1)\n{end}\n") == status
    error = capsys.readouterr().err
    assert (words in error) if words else not error
    assert "inplace_fix/trace" not in error


def test_a_fault_is_reported_after_the_programs_own_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, f"import torch\n{FAULT}\nprint('begin')\nmain()\n", level="full") == 1
    out, error = capsys.readouterr()
    assert out == "begin\n"
    own, _, report = error.partition("\ninplace-fix: 1 fault in this run\n")
    assert own.startswith("Traceback (most recent call last):\n")
    assert own.rstrip().splitlines()[-1].startswith("RuntimeError: one of the variables needed")
    for words in ("y.add_(1)", "train.py:5:5", "saved by ExpBackward0 as its result at train.py:4:9", "what to do:"):
        assert words in report
    assert len(load([tmp_path / "e.json"], tmp_path).faults) == 1


def test_a_second_run_adds_to_the_evidence(tmp_path: Path) -> None:
    source = "import sys, torch\nx = torch.ones(2)\nif len(sys.argv) > 1:\n    x.mul_(2)\nelse:\n    x.add_(1)\n"
    assert _run(tmp_path, source) == 0
    assert _run(tmp_path, source, "other") == 0
    evidence = load([tmp_path / "e.json"], tmp_path)
    assert sorted(fact.ops for fact in evidence.facts) == [("add_",), ("mul_",)]
    assert evidence.runs == 2


def test_what_cannot_be_run_is_refused_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "e.json"

    def refused(command: list[str], output: Path = output, level: str = "writes") -> str:
        assert run(command, module=False, level=level, output=output) == 2
        return capsys.readouterr().err

    (tmp_path / "train.py").write_text("raise SystemExit('it ran')\n")
    assert "there is no file missing.py" in refused(["missing.py"])
    assert "nothing to run" in refused([])
    assert "unknown level 'all'" in refused(["train.py"], level="all")
    assert "is not a file" in refused(["train.py"], tmp_path)
    message = refused(["train.py"], tmp_path / "train.py")
    assert "train.py is not an evidence file" in message
    assert "it was left as it is" in message
    assert (tmp_path / "train.py").read_text() == "raise SystemExit('it ran')\n"


def test_a_module_that_is_not_there_ends_as_python_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["no.such"], module=True, level="writes", output=tmp_path / "e.json") == 1
    assert "No module named" in capsys.readouterr().err


def test_without_torch_the_message_says_how_to_install_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert _run(tmp_path, "") == 2
    assert "pip install 'inplace-fix[trace]'" in capsys.readouterr().err


def test_a_program_without_tensors_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, "print('hello')\n") == 0
    assert "no tensor was seen in this run" in capsys.readouterr().err


def test_threads_of_the_program_are_waited_for(tmp_path: Path) -> None:
    source = """
import threading, time, torch

def work():
    time.sleep(0.2)
    x = torch.ones(2)
    x.add_(1)

threading.Thread(target=work).start()
"""
    assert _run(tmp_path, source) == 0
    assert [fact.ops for fact in load([tmp_path / "e.json"], tmp_path).facts] == [("add_",)]


def test_a_thread_is_seen_on_the_full_level(tmp_path: Path) -> None:
    source = f"""
import threading, torch
{FAULT}
def work():
    try:
        main()
    except RuntimeError:
        pass

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    assert _run(tmp_path, source, level="full") == 0
    (fault,) = load([tmp_path / "e.json"], tmp_path).faults
    assert fault.saved is not None
    assert fault.saved.span.line == 5


@pytest.mark.parametrize("level", ["writes", "full"])
def test_output_errors_and_status_are_those_of_a_run_without_trace(level: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        f"""
import os, sys
assert "torch" not in sys.modules, "too early for the program's own settings"
os.environ["OMP_NUM_THREADS"] = "1"
import torch
import torch.nn.functional as F
{FAULT}
torch.manual_seed(0)
x = torch.rand(3)
x.add_(1, torch.ones(3))
F.dropout(x, 0.5, inplace=True)
print(x, torch.rand(2), sys.argv, os.getcwd())
try:
    F.relu(torch.rand(2, requires_grad=True), inplace=True)
except RuntimeError as error:
    print(error)
main()
"""
    )
    plain = _start(tmp_path, "train.py", "--n", "3")
    traced = _start(tmp_path, "-m", "inplace_fix.trace", "--level", level, "-o", "e.json", "train.py", "--n", "3")
    out, error = plain.communicate(timeout=120)
    out_traced, error_traced = traced.communicate(timeout=120)
    assert out_traced == out
    assert error_traced.startswith(error)
    assert traced.returncode == plain.returncode == 1


def _wait_for(line: str, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == line


WAITING = f"""
import os, signal, sys, time, torch
{FAULT}
try:
    main()
except RuntimeError:
    pass
print("ready", flush=True)
"""


@pytest.mark.parametrize(
    ("end", "number", "status"),
    [
        ("time.sleep(60)", signal.SIGTERM, -signal.SIGTERM),
        ("time.sleep(60)", signal.SIGINT, 130),
        ("time.sleep(60)", signal.SIGKILL, -signal.SIGKILL),
        ("os._exit(4)", None, 4),
    ],
    ids=["terminated", "interrupted", "killed", "os._exit"],
)
def test_what_was_seen_is_kept_however_the_process_ends(
    end: str, number: signal.Signals | None, status: int, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(WAITING + end + "\n")
    process = _start(tmp_path, "-m", "inplace_fix.trace", "-o", "e.json", "train.py")
    _wait_for("ready", process)
    if number is not None:
        time.sleep(0.1)
        process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == status
    output = tmp_path / "e.json"
    if number == signal.SIGKILL:
        (output,) = tmp_path.glob("e.json.*.part")
    assert [fault.kind for fault in load([output], tmp_path).faults] == ["saved-tensor"]
