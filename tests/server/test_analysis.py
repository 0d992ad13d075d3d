"""One document through the engine, as the editor's side asks for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from opened import analysis, document

from inplace_fix.server.analysis import Work, analyse, fix_all
from inplace_fix.server.preferences import Preferences

FAULTY = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()\n"


def settings(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.inplace-fix]\n{text}\n", encoding="utf-8")


def test_repairs_are_worked_out_only_when_asked_for(tmp_path: Path) -> None:
    work = Work(tmp_path, Preferences(), {})
    opened = document(tmp_path / "m.py", FAULTY)
    (bare,), (repaired,) = analyse(opened, work).findings, analyse(opened, work, frozenset({4})).findings
    assert analyse(opened, work, frozenset({3})).findings == ()
    assert bare.fix is None
    assert repaired.fix is not None
    assert replace(repaired, fix=None) == bare


@pytest.mark.parametrize(
    "text", ['exclude = ["m.py"]', 'ignore = ["IPF001"]', '[tool.inplace-fix.per-file-ignores]\n"m.py" = ["IPF001"]']
)
def test_what_the_project_leaves_out_is_neither_shown_nor_repaired(tmp_path: Path, text: str) -> None:
    settings(tmp_path, text)
    (tmp_path / "m.py").write_text(FAULTY, encoding="utf-8")
    assert analysis(tmp_path / "m.py", FAULTY).findings == ()
    assert fix_all(document(tmp_path / "m.py", FAULTY), Work(tmp_path, Preferences(), {})) == {}


def test_severities_of_the_project_count(tmp_path: Path) -> None:
    settings(tmp_path, 'severity = { IPF001 = "note" }')
    (found,) = analysis(tmp_path / "m.py", FAULTY).findings
    assert found.severity == "note"


def test_a_comment_that_silences_nothing_is_found(tmp_path: Path) -> None:
    (found,) = analysis(tmp_path / "m.py", "x = 1  # inplace-fix: ignore[IPF001]\n").findings
    assert found.code == "IPF900"


@pytest.mark.parametrize("text", ["y.add_((\n", "x = 1\n  y = 2\n", "x = '\0'\n"])
def test_what_does_not_parse_is_typing_and_nothing_to_tell(tmp_path: Path, text: str) -> None:
    found = analysis(tmp_path / "m.py", text)
    assert found.problem
    assert found.typing


def test_evidence_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(FAULTY, encoding="utf-8")
    found = analysis(tmp_path / "m.py", FAULTY, Preferences(evidence=("gone.json",)))
    assert "gone.json" in found.problem
    assert not found.typing


def test_fix_all_leaves_what_a_comment_silences(tmp_path: Path) -> None:
    silenced = FAULTY.replace("y.add_(1)", "y.add_(1)  # inplace-fix: ignore[IPF001]")
    work = Work(tmp_path, Preferences(), {})
    assert fix_all(document(tmp_path / "m.py", silenced), work) == {}
    assert fix_all(document(tmp_path / "m.py", FAULTY), work) == {None: FAULTY.replace("y.add_(1)", "y = y.add(1)")}
