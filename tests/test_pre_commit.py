"""The hooks for pre-commit, run by pre-commit itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import FAULT, REPAIRED, notebook

pytest.importorskip("pre_commit")
MANIFEST = Path(__file__).parents[1] / ".pre-commit-hooks.yaml"


def hooks() -> list[dict[str, Any]]:
    from pre_commit.clientlib import load_manifest

    return list(load_manifest(MANIFEST))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that uses the hooks as they are, but for the installation into an environment of their own."""
    local = [{**hook, "language": "system"} for hook in hooks()]
    config = {"repos": [{"repo": "local", "hooks": [_given(hook) for hook in local]}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(json.dumps(config))  # JSON is YAML
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "inplace-fix"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m inplace_fix \"$@\"\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitignore").write_text("/bin/\n/home/\n")
    (tmp_path / "fault.py").write_text(FAULT)
    (tmp_path / "fault.ipynb").write_text(notebook(FAULT))
    (tmp_path / "words.txt").write_text(FAULT)
    (tmp_path / "inplace-fix.toml").write_text('exclude = ["/old/"]\n')
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "fault.py").write_text(FAULT)
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], check=True, capture_output=True)
    return tmp_path


def _given(hook: dict[str, Any]) -> dict[str, Any]:
    keys = ("id", "name", "entry", "language", "types_or", "require_serial")
    return {key: hook[key] for key in keys}


def pre_commit(hook: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", hook]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_check_hook_fails_on_a_fault_and_names_it(repository: Path) -> None:
    ended = pre_commit("inplace-fix-check")
    assert ended.returncode == 1, ended.stderr
    assert "fault.py:5:1" in ended.stdout
    assert "fault.ipynb:cell 1:5:1" in ended.stdout
    assert "words.txt" not in ended.stdout
    assert "old/fault.py:" not in ended.stdout
    assert (repository / "fault.py").read_text() == FAULT


def test_the_fix_hook_repairs_and_then_passes(repository: Path) -> None:
    assert pre_commit("inplace-fix").returncode == 1
    assert (repository / "fault.py").read_text() == REPAIRED
    assert (repository / "fault.ipynb").read_text() == notebook(REPAIRED)
    assert (repository / "old" / "fault.py").read_text() == FAULT
    ended = pre_commit("inplace-fix")
    assert ended.returncode == 0, ended.stdout
    assert pre_commit("inplace-fix-check").returncode == 0


def test_a_hook_sees_all_files_in_one_run() -> None:
    assert all(hook["require_serial"] for hook in hooks())
