"""Baselines, and the fingerprints they hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from findings import finding

from inplace_fix.baseline import Baseline, BaselineError, write
from inplace_fix.fingerprint import fingerprint

TEXT = "y.add_(1)\nz = 1\ny.add_(1)\n"


def test_a_baseline_knows_its_findings_after_lines_moved_and_the_tree_too(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    assert write(here / "base.json", [(finding(here / "m.py", 1), TEXT)]) == 1
    here.rename(there)
    moved = finding(there / "m.py", 3)
    base = Baseline.read(there / "base.json")
    assert not base.is_new(moved, "import torch\n\n    y.add_(1)\n")
    assert base.is_new(moved, "import torch\n\n    y.sub_(1)\n")
    assert base.is_new(replace(moved, code="IPF002"), "import torch\n\n    y.add_(1)\n")
    assert base.is_new(finding(there / "n.py", 1), TEXT)


def test_a_second_equal_line_is_new() -> None:
    first, second = (fingerprint(finding(Path("m.py"), row), TEXT, Path()) for row in (1, 3))
    assert first != second


def test_a_baseline_file_is_sorted_and_readable(tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    write(file, [(finding(tmp_path / "sub" / "m.py", row), TEXT) for row in (3, 1)])
    content = json.loads(file.read_text())
    assert [(entry["path"], entry["code"], entry["line"]) for entry in content["findings"]] == [
        ("sub/m.py", "IPF001", "y.add_(1)")
    ] * 2
    again = tmp_path / "again.json"
    write(again, [(finding(tmp_path / "sub" / "m.py", row), TEXT) for row in (1, 3)])
    assert again.read_text() == file.read_text()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no baseline"),
        ("[]", "is no baseline"),
        ('{"version": 1, "findings": [1]}', "is no baseline"),
        ('{"version": 99, "findings": []}', "has version 99"),
    ],
)
def test_another_file_is_refused_by_name(content: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    file.write_text(content)
    with pytest.raises(BaselineError, match=words) as caught:
        Baseline.read(file)
    assert str(file) in str(caught.value)
    with pytest.raises(BaselineError, match="write one with --write-baseline"):
        Baseline.read(tmp_path / "none.json")


def test_a_baseline_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="no such file or directory"):
        write(tmp_path / "none" / "base.json", [])
