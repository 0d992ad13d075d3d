"""A package rewritten with a policy, and what is counted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

LAYERS = """\
import torch


def decay(steps: int) -> torch.Tensor:
    h = torch.ones(3)
    for _ in range(steps):
        h *= 0.5
    return h


def grow(buffer: torch.Tensor) -> None:
    buffer.resize_(10)
"""


def _package(folder: Path) -> Path:
    package = folder / "layers"
    package.mkdir()
    (package / "__init__.py").write_text(LAYERS)
    return package


def _policy_all(*words: str) -> str:
    command = [sys.executable, "scripts/policy_all.py", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_sites_are_counted_as_rewritten_or_left_with_the_reason_and_the_package_is_only_read(tmp_path: Path) -> None:
    package = _package(tmp_path)
    told = _policy_all(str(package), "--into", str(tmp_path / "new"))
    assert told.splitlines()[0] == "2 sites, 1 rewritten in 1 files, 1 left"
    count, reason = told.splitlines()[1].split(maxsplit=1)
    assert (count, bool(reason)) == ("1", True)
    assert (package / "__init__.py").read_text() == LAYERS
    assert "h = h * 0.5" in (tmp_path / "new" / "layers" / "__init__.py").read_text()
