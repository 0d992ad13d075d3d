"""The forms run through LibCST's own command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def libcst(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "libcst.tool", "codemod", "--no-format", "--hide-progress", *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )


def test_a_form_runs_by_its_full_name(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_bytes(b"y = x.exp()\r\nx.add_(1)  # c\r\n")
    done = libcst(
        tmp_path,
        *("-x", "codemods.out_of_place_call.OutOfPlaceCallCommand", "--line", "2"),
        *("--template", "{x}.add({args})", "--target", "x", "model.py"),
    )
    assert done.returncode == 0, done.stderr
    assert file.read_bytes() == b"y = x.exp()\r\nx = x.add(1)  # c\r\n"


def test_a_form_runs_by_its_short_name_where_the_settings_name_the_package(tmp_path: Path) -> None:
    (tmp_path / ".libcst.codemod.yaml").write_text("modules: ['codemods']\nformatter: []\n")
    file = tmp_path / "model.py"
    file.write_text("act = nn.ReLU(inplace=True)\nx += 1\n")
    done = libcst(tmp_path, "drop_flag.DropFlagCommand", "--line", "1", "model.py")
    assert done.returncode == 0, done.stderr
    assert file.read_text() == "act = nn.ReLU()\nx += 1\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--line", "3"], "no augmented assignment begins at line 3"),
        (["--line", "1"], "choose one with --column (one of 1, 9)"),
    ],
)
def test_a_place_that_names_no_single_construct_fails_with_the_reason(
    tmp_path: Path, words: list[str], reason: str
) -> None:
    file = tmp_path / "model.py"
    file.write_text("x += 1; y += 1\n")
    done = libcst(tmp_path, "-x", "codemods.out_of_place_assign.OutOfPlaceAssignCommand", *words, "model.py")
    assert done.returncode == 1
    assert reason in done.stderr
    assert file.read_text() == "x += 1; y += 1\n"


def test_a_construct_that_cannot_be_rewritten_fails_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("def f():\n    x.add_(1)\n")
    done = libcst(
        tmp_path,
        *(
            "-x",
            "codemods.clone_before.CloneBeforeCommand",
            "--line",
            "2",
            "--column",
            "5",
            "--target",
            "x",
            "model.py",
        ),
    )
    assert done.returncode == 1
    assert "would become a new variable" in done.stderr
    assert file.read_text() == "def f():\n    x.add_(1)\n"
