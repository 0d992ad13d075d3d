"""The bundled legacy project: it fails as it is, and its patch repairs it and touches nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run

ROOT = Path(__file__).parents[1]
LEGACY = ROOT / "examples" / "legacy"
FAULTS = {
    "losses.py": ["exp /= exp.sum(dim=1, keepdim=True)"],
    "model.py": ["out += x", "weights.masked_fill_(blank, 0.0)", "nn.Dropout(0.2, inplace=True),"],
    "train.py": ["p -= learning_rate * p.grad"],
}


@pytest.fixture
def legacy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in LEGACY.glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_fault_and_nothing_else_is_named(legacy: Path) -> None:
    ended = run("check", "--isolated", "--output-format", "concise", ".")
    named = {(line.split(":")[0], int(line.split(":")[1])) for line in ended.out.splitlines()}
    wanted = {
        (name, row)
        for name, faults in FAULTS.items()
        for row, line in enumerate((legacy / name).read_text().splitlines(), 1)
        if line.strip() in faults
    }
    assert named == wanted
    assert len(wanted) == sum(map(len, FAULTS.values()))


def test_the_project_fails_and_runs_once_the_patch_is_applied(legacy: Path) -> None:
    pytest.importorskip("torch")
    command = [sys.executable, "train.py", "--epochs", "2"]
    before = subprocess.run(command, capture_output=True, text=True)
    assert "modified by an inplace operation" in before.stderr
    patch = run("fix", "--isolated", "--dry-run", ".").raw
    subprocess.run(["git", "apply"], input=patch, check=True)
    after = subprocess.run(command, capture_output=True, text=True)
    assert after.returncode == 0, after.stderr
    assert after.stdout.count("epoch") == 2
    assert run("check", "--isolated", ".").status == 0


def test_a_traced_run_confirms_what_was_read(legacy: Path) -> None:
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "inplace_fix", "trace", "-o", "seen.json", "train.py", "--epochs", "1"]
    traced = subprocess.run(command, capture_output=True, text=True)
    assert "losses.py:9:5" in traced.stderr
    ended = run("check", "--isolated", "--trace", "seen.json", "--output-format", "json", ".")
    by_place = {(Path(f["filename"]).name, f["location"]["row"]): f["evidence"] for f in json.loads(ended.out)}
    assert by_place["losses.py", 9] == ["static", "traced"]


def test_the_repair_is_proved_before_it_is_written(legacy: Path) -> None:
    pytest.importorskip("torch")
    ended = run("fix", "--isolated", "--verify", f"{sys.executable} train.py --epochs 1", ".")
    assert ended.status == 0, ended.err
    assert "verified: same." in ended.err
    assert "with torch.no_grad():" in (legacy / "train.py").read_text()
