"""The verdict over a rewrite, from real runs of a small training program."""

from __future__ import annotations

import tempfile
from pathlib import Path

import forked
import pytest

from inplace_fix import scratch
from inplace_fix.verify import Verdict, verify

pytest.importorskip("torch")

TRAIN = """\
import torch
from torch import nn
from layers import step

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())
head = nn.Linear(4, 1)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
for _ in range(2):
    loss = head(step(model(torch.randn(5, 4)))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FAULTY = "def step(y):\n    y += 1\n    return y\n"
SILENT = "def step(y):\n    y.data.add_(1)\n    return y\n"
RIGHT = "def step(y):\n    y = y + 1\n    return y\n"
COMMAND = "python train.py"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (root / "train.py").write_text(TRAIN)
    return root


@pytest.fixture(scope="module")
def forking() -> None:
    forked.start()


@pytest.fixture
def quick(forking: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forked runs in place of fresh interpreters."""
    monkeypatch.setattr(scratch, "_watched", forked.watched)


def _verified(root: Path, before: str, after: str, command: str = COMMAND) -> Verdict:
    (root / "layers.py").write_text(before)
    verdict = verify(command, {Path("layers.py"): after}, root)
    assert (root / "layers.py").read_text() == before
    assert list((root.parent / "scratch").iterdir()) == []
    return verdict


def test_a_repair_that_computes_what_was_meant_is_the_same(project: Path) -> None:
    verdict = _verified(project, FAULTY, RIGHT)
    assert verdict.status == "same"
    assert verdict.accepted
    assert any("modified by an inplace operation" in detail for detail in verdict.details)


@pytest.mark.usefixtures("quick")
def test_a_repair_that_silences_the_error_and_cuts_the_gradient_is_different(project: Path) -> None:
    verdict = _verified(project, FAULTY, "def step(y):\n    return y.detach() + 1\n")
    assert verdict.status == "different"
    assert not verdict.accepted
    assert "gradient of Sequential.0." in verdict.reason


@pytest.mark.usefixtures("quick")
def test_a_repair_that_changes_nothing_still_fails(project: Path) -> None:
    verdict = _verified(project, FAULTY, "def step(y):\n    return y.add_(1)\n")
    assert verdict.status == "still fails"
    assert "modified by an inplace operation" in verdict.reason


@pytest.mark.usefixtures("quick")
def test_a_program_that_was_silently_wrong_is_held_to_the_right_gradients(project: Path) -> None:
    kept_wrong = _verified(project, SILENT, "def step(y):\n    y.data += 1\n    return y\n")
    assert kept_wrong.status == "different"
    repaired = _verified(project, SILENT, RIGHT)
    assert repaired.status == "same"
    assert any("wrong gradients" in detail for detail in repaired.details)


@pytest.mark.usefixtures("quick")
def test_a_change_of_rounding_is_close_and_says_by_how_much(project: Path) -> None:
    verdict = _verified(project, RIGHT, "def step(y):\n    return (y * 3 + 3) / 3\n")
    assert verdict.status == "close"
    assert verdict.accepted
    assert "ulp" in verdict.reason


@pytest.mark.usefixtures("quick")
def test_a_right_program_that_the_rewrite_breaks_is_different(project: Path) -> None:
    verdict = _verified(project, RIGHT, "def step(y):\n    raise KeyError('h')\n")
    assert verdict.status == "different"
    assert "KeyError" in verdict.reason


@pytest.mark.usefixtures("quick")
def test_a_file_that_the_command_never_loads_proves_nothing(project: Path) -> None:
    (project / "layers.py").write_text(RIGHT)
    (project / "unused.py").write_text("x = 1\n")
    verdict = verify(COMMAND, {Path("unused.py"): "x = 2\n"}, project)
    assert verdict.status == "cannot run"
    assert "unused.py" in verdict.reason


@pytest.mark.usefixtures("quick")
def test_a_write_to_a_leaf_may_be_repaired_as_an_update_or_as_a_copy(project: Path) -> None:
    (project / "train.py").write_text(
        "import torch\nfrom layers import step\n"
        "x = torch.arange(4.0, requires_grad=True)\nstep(x).pow(2).sum().backward()\n"
    )
    leaf = "def step(x):\n    x.mul_(3)\n    return x\n"
    update = "import torch\ndef step(x):\n    with torch.no_grad():\n        x.mul_(3)\n    return x\n"
    assert _verified(project, leaf, update).status == "same"
    assert _verified(project, leaf, "def step(x):\n    return x * 3\n").status == "same"


@pytest.mark.usefixtures("quick")
def test_a_program_that_does_not_repeat_itself_cannot_be_judged(project: Path) -> None:
    text = "import os\ndef step(y):\n    return y + int.from_bytes(os.urandom(2), 'big')\n"
    verdict = _verified(project, text, text + "\n")
    assert verdict.status == "cannot run"
    assert "Two runs of the unchanged program differ" in verdict.reason


@pytest.mark.usefixtures("quick")
def test_a_program_without_backward_proves_nothing(project: Path) -> None:
    verdict = _verified(project, RIGHT, RIGHT + "\n", command="python -c 'import layers'")
    assert verdict.status == "cannot run"
    assert "nothing to compare" in verdict.reason


@pytest.mark.usefixtures("quick")
def test_a_test_suite_is_compared_backward_by_backward(project: Path) -> None:
    (project / "test_it.py").write_text(
        "import torch\nfrom layers import step\n"
        "def test_step():\n    step(torch.zeros(3, requires_grad=True).exp()).sum().backward()\n"
        "def test_fails_anyway():\n    torch.ones(1, requires_grad=True).sum().backward()\n    assert False\n"
    )
    verdict = _verified(project, FAULTY, RIGHT, command="python -m pytest -q -p no:cacheprovider test_it.py")
    assert verdict.status == "same"


@pytest.mark.usefixtures("quick")
def test_a_run_over_its_time_gives_no_verdict(project: Path) -> None:
    (project / "layers.py").write_text("import time\ntime.sleep(600)\n")
    verdict = verify(COMMAND, {Path("layers.py"): RIGHT}, project, timeout=2.0)
    assert verdict.status == "cannot run"
    assert "took longer than 2 s" in verdict.reason
    assert list((project.parent / "scratch").iterdir()) == []


def test_a_command_that_cannot_be_watched_and_a_file_outside_are_refused(project: Path) -> None:
    assert verify("make train", {Path("layers.py"): RIGHT}, project).status == "cannot run"
    assert verify(COMMAND, {Path("../other.py"): RIGHT}, project).status == "cannot run"
