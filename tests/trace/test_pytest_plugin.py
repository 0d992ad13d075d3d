"""``pytest --inplace-trace=FILE`` traces the tests and reports at the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fix.trace.evidence import load

pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
import torch


def test_fails():
    y = torch.rand(3, requires_grad=True).exp()
    y.add_(1)
    y.sum().backward()


def test_expects_the_error():
    x = torch.rand(3, requires_grad=True)
    with pytest.raises(RuntimeError):
        x.add_(1)


def test_passes():
    torch.zeros(2).mul_(2)
"""


def _pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    if "inplace_fix" not in _registered():
        command += ["-p", "inplace_fix.trace.pytest_plugin"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )


def _registered() -> set[str]:
    from importlib.metadata import entry_points

    return {point.name for point in entry_points(group="pytest11")}


def test_a_failing_test_is_explained_and_an_expected_error_marked(tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(TESTS)
    ended = _pytest(tmp_path, "--inplace-trace=e.json", "--inplace-trace-level=full")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "1 failed, 2 passed" in ended.stdout
    assert "inplace-fix: 2 faults in this run" in ended.stdout
    faults = {fault.kind: fault for fault in load([tmp_path / "e.json"], tmp_path).faults}
    assert {kind: fault.caught for kind, fault in faults.items()} == {"saved-tensor": False, "leaf": True}
    assert [write.place.span.line for write in faults["saved-tensor"].writes] == [8]


def test_a_file_that_is_no_evidence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(TESTS)
    ended = _pytest(tmp_path, "--inplace-trace=test_model.py")
    assert ended.returncode == 4
    assert "is not an evidence file" in ended.stderr
    assert (tmp_path / "test_model.py").read_text() == TESTS


def test_without_the_option_nothing_of_torch_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "test_empty.py").write_text(
        "import sys\n\n\ndef test_nothing():\n    assert 'torch' not in sys.modules\n"
        "    assert 'inplace_fix.trace.process' not in sys.modules\n"
    )
    assert _pytest(tmp_path).returncode == 0
