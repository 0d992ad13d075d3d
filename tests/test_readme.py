"""The README says what is so."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from command_line import run

from inplace_fix.settings import KEYS, parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
HEAD = "import torch\n\nx = torch.ones(3, requires_grad=True)\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_continuous_integration_runs_the_second_command() -> None:
    commands = [block.strip() for block in blocks("sh") if "venv" in block]
    assert len(commands) == 2
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == commands[1]


def test_the_first_command_prints_a_patch_of_the_bundled_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    argv = blocks("sh")[0].split("inplace-fix ")[1].split()
    ended = run(*argv)
    assert ended.status == 0
    assert ended.out.startswith("--- a/examples/legacy/")


def test_the_example_of_the_guides_is_left_alone_and_the_other_is_repaired() -> None:
    works, fails = blocks("python")
    assert run("check", "-", stdin=(HEAD + works).encode()).status == 0
    assert "y = y.add(5.0)" in run("fix", "-", stdin=(HEAD + fails).encode()).out


def test_the_settings_are_all_that_there_are() -> None:
    table = tomllib.loads(blocks("toml")[0])["tool"]["inplace-fix"]
    parse(table, ROOT / "pyproject.toml")
    assert set(table) | {"ignore"} == set(KEYS)


def test_every_option_that_is_named_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("check", "fix", "trace"):
        known = run(command, "--help").out
        for line in re.findall(rf"inplace-fix {command} [^\n`#|]*", README):
            own = line.partition(" train.py")[0]
            missing = [option for option in re.findall(r"--[a-z][a-z-]+", own) if option not in known]
            assert missing == [], line
