"""A user's command under the recorder: the same program, the same end."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from inplace_fix.trace.verify_run import main  # noqa: E402


@pytest.fixture(autouse=True)
def _same_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what running a program as ``__main__`` changes in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "0")


def _run(tmp_path: Path, *words: str, options: tuple[str, ...] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    record, told = tmp_path / "record.pt", tmp_path / "told.json"
    assert main(["--out", str(record), "--told", str(told), *options, "--", *words]) == 0
    return torch.load(record, weights_only=True), json.loads(told.read_text())


def test_a_script_sees_its_name_arguments_and_folder(tmp_path: Path) -> None:
    (tmp_path / "verify_neighbour.py").write_text("factor = 3.0\n")
    (tmp_path / "train.py").write_text(
        "import sys, torch, verify_neighbour\n"
        "assert __name__ == '__main__' and sys.argv == ['train.py', '--n', '2', '--'], sys.argv\n"
        "assert sys.modules['__main__'].sys is sys\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "(x * verify_neighbour.factor).sum().backward()\n"
    )
    record, told = _run(tmp_path, "script", "train.py", "--n", "2", "--")
    assert told["failure"] == ""
    assert record["calls"][0]["leaves"][0]["grad"]["data"].tolist() == [3.0, 3.0]
    assert {str(tmp_path / "train.py"), str(tmp_path / "verify_neighbour.py")} <= set(told["files"])
    sys.modules.pop("verify_neighbour")


def test_a_module_runs_as_main(tmp_path: Path) -> None:
    (tmp_path / "runnable.py").write_text(
        "import torch\nif __name__ == '__main__':\n    torch.ones(1, requires_grad=True).sum().backward()\n"
    )
    _, told = _run(tmp_path, "module", "runnable")
    assert (told["failure"], told["calls"]) == ("", 1)
    assert str(tmp_path / "runnable.py") in told["files"]


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("raise ValueError('no data')", "ValueError: no data"),
        ("import sys; sys.exit(3)", "exit status 3"),
        ("import sys; sys.exit(0)", ""),
        ("pass", ""),
    ],
)
def test_the_end_of_the_program_is_told(tmp_path: Path, code: str, failure: str) -> None:
    _, told = _run(tmp_path, "code", code)
    assert told["failure"] == failure


FAULTY = "import torch; x = torch.zeros(2, requires_grad=True); y = x.exp(); y.mul_(5); y.sum().backward()"


def test_under_the_oracle_a_faulty_program_runs_to_its_end(tmp_path: Path) -> None:
    _, plain = _run(tmp_path, "code", FAULTY)
    record, kept = _run(tmp_path, "code", FAULTY, options=("--oracle",))
    assert "modified by an inplace operation" in plain["failure"]
    assert (kept["failure"], kept["rescued"]) == ("", 1)
    assert record["calls"][0]["leaves"][0]["grad"]["data"].tolist() == [5.0, 5.0]


def test_a_program_that_sets_no_seed_repeats_itself(tmp_path: Path) -> None:
    code = "import torch, random; x = torch.rand(3, requires_grad=True); (x * random.random()).sum().backward()"
    first, _ = _run(tmp_path, "code", code)
    second, _ = _run(tmp_path, "code", code)
    assert first["calls"][0]["roots"][0]["digest"] == second["calls"][0]["roots"][0]["digest"]


def test_imports_that_would_reach_the_original_tree_reach_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, factor in (("tree", 1.0), ("copy", 2.0)):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "moved_module.py").write_text(f"factor = {factor}\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "tree" / "src")])
    code = "import torch, moved_module as m; (torch.ones(1, requires_grad=True) * m.factor).sum().backward()"
    record, _ = _run(
        tmp_path, "code", code, options=("--root", str(tmp_path / "tree"), "--copy", str(tmp_path / "copy"))
    )
    assert record["calls"][0]["roots"][0]["data"].item() == 2.0
    sys.modules.pop("moved_module")
