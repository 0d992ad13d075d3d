"""The forms run through LibCST's own command line."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest
from libcst.codemod import CodemodContext

from codemods.clone_before import CloneBeforeCommand
from codemods.clone_expression import CloneExpressionCommand
from codemods.command import StepCommand
from codemods.drop_flag import DropFlagCommand
from codemods.functional_store import FunctionalStoreCommand
from codemods.list_and_stack import ListAndStackCommand
from codemods.no_grad import NoGradCommand
from codemods.out_argument import OutArgumentCommand
from codemods.out_of_place_assign import OutOfPlaceAssignCommand
from codemods.out_of_place_call import OutOfPlaceCallCommand
from codemods.replace_expression import ReplaceExpressionCommand
from codemods.scalar_first import ScalarFirstCommand

ROOT = Path(__file__).parents[2]


def tool(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "libcst.tool", "codemod", "--no-format", "--hide-progress", *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )


def run(command: type[StepCommand], source: str, words: list[str]) -> str:
    """Run a command as LibCST's tool does, in this process."""
    parser = argparse.ArgumentParser()
    command.add_args(parser)
    made = command(CodemodContext(), **vars(parser.parse_args(words)))
    return made.transform_module(cst.parse_module(source)).code


@pytest.mark.parametrize(
    ("command", "source", "words", "expected"),
    [
        (
            OutOfPlaceCallCommand,
            "def f():\n    x.add_(1).sub_(x)\n",
            ["--template", "{x}.add({args})", "--target", "x", "--declare", "global", "--line", "2"],
            "def f():\n    global x\n    x = x.add(1)\n    x.sub_(x)\n",
        ),
        (
            OutOfPlaceCallCommand,
            "x.add_(1).sub_(x)\n",
            ["--template", "{x}.sub({args})", "--target", "x", "--cast", "--line", "1", "--end-column", "17"],
            "x = x.add_(1).sub(x).to(x.dtype)\n",
        ),
        (OutOfPlaceAssignCommand, "x += 1\n", ["--line", "1", "--cast"], "x = (x + 1).to(x.dtype)\n"),
        (CloneBeforeCommand, "x += 1\n", ["--line", "1", "--target", "x"], "x = x.clone()\nx += 1\n"),
        (CloneExpressionCommand, "y = f(x)\n", ["--line", "1", "--column", "7"], "y = f(x.clone())\n"),
        (
            FunctionalStoreCommand,
            "x[m] = v\n",
            ["--line", "1", "--template", "torch.where({index}, {value}, {x})", "--target", "x"],
            "x = torch.where(m, v, x)\n",
        ),
        (
            NoGradCommand,
            "x += 1\n",
            ["--line", "1", "--torch", ""],
            "import torch\n\nwith torch.no_grad():\n    x += 1\n",
        ),
        (DropFlagCommand, "f(x, True)\n", ["--line", "1", "--position", "1", "--target", "x"], "x = f(x)\n"),
        (OutArgumentCommand, "f(x, out=c)\n", ["--line", "1", "--target", "c"], "c = f(x)\n"),
        (OutArgumentCommand, "f(x, out=c)\n", ["--line", "1", "--target", "c", "--copy"], "c.copy_(f(x))\n"),
        (
            ListAndStackCommand,
            "out = z()\nfor t in r: out[t] = h\n",
            ["--line", "2", "--buffer", "out", "--creation", "1:1-1:10", "--store", "2:13-2:23"],
            "out_rows = []\nfor t in r: out_rows.append(h)\nout = torch.stack(out_rows)\n",
        ),
        (ScalarFirstCommand, "f(x, 2, y)\n", ["--line", "1", "--position", "1"], "f(x, y, alpha=2)\n"),
        (
            ReplaceExpressionCommand,
            "y = x * 2\n",
            ["--line", "1", "--column", "5", "--text", "a + b"],
            "y = (a + b) * 2\n",
        ),
    ],
)
def test_every_form_is_a_command(command: type[StepCommand], source: str, words: list[str], expected: str) -> None:
    assert run(command, source, words) == expected
    assert command.DESCRIPTION.endswith(".")


def test_a_form_runs_by_its_full_name(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_bytes(b"y = x.exp()\r\nx.add_(1)  # c\r\n")
    done = tool(
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
    done = tool(tmp_path, "drop_flag.DropFlagCommand", "--line", "1", "model.py")
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
    done = tool(tmp_path, "-x", "codemods.out_of_place_assign.OutOfPlaceAssignCommand", *words, "model.py")
    assert done.returncode == 1
    assert reason in done.stderr
    assert file.read_text() == "x += 1; y += 1\n"


def test_a_construct_that_cannot_be_rewritten_fails_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("def f():\n    x.add_(1)\n")
    done = tool(
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
