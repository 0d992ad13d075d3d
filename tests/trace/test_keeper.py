"""Parts of a run are joined at its end, whoever wrote them, and nothing is lost when a process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fix.nouns import Place, Span
from inplace_fix.trace.evidence import read, write
from inplace_fix.trace.keeper import Keeper
from inplace_fix.trace.observations import Evidence, Fault, Write
from inplace_fix.trace.positions import digest


def _evidence(path: Path, line: int) -> Evidence:
    path.touch()
    place = Place(path, Span(line, 0, line, 4))
    fault = Fault("leaf", "raised", "", "", "", (Write(place, "add_"),))
    return Evidence((fault,), (), (), {str(path): digest(str(path))})


def _lines(evidence: Evidence) -> list[int]:
    return sorted(fault.writes[0].place.span.line for fault in evidence.faults)


def _dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    keeper = Keeper(tmp_path / "e.json", tmp_path, os.getpid())
    keeper.collect = lambda: _evidence(tmp_path / "train.py", 1)
    return keeper


def test_the_parts_of_other_processes_are_joined_and_taken_away(keeper: Keeper, tmp_path: Path) -> None:
    keeper.save()
    write(tmp_path / f"e.json.{os.getpid()}-99.part", _evidence(tmp_path / "train.py", 2), tmp_path)
    run = keeper.finish()
    assert _lines(run) == [1, 2]
    assert _lines(read(tmp_path / "e.json", tmp_path)) == [1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.json", "train.py"]


def test_an_earlier_run_is_kept_but_not_reported_again(keeper: Keeper, tmp_path: Path) -> None:
    write(tmp_path / "e.json", _evidence(tmp_path / "train.py", 5), tmp_path)
    assert _lines(keeper.finish()) == [1]
    assert _lines(read(tmp_path / "e.json", tmp_path)) == [1, 5]


def test_an_earlier_run_of_other_source_is_dropped(keeper: Keeper, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("before\n")
    write(tmp_path / "e.json", _evidence(tmp_path / "old.py", 5), tmp_path)
    (tmp_path / "old.py").write_text("after\n")
    keeper.finish()
    assert _lines(read(tmp_path / "e.json", tmp_path)) == [1]


def test_what_a_killed_run_left_is_taken_up_by_the_next(keeper: Keeper, tmp_path: Path) -> None:
    write(tmp_path / f"e.json.{_dead_process()}-7.part", _evidence(tmp_path / "train.py", 6), tmp_path)
    keeper.finish()
    assert _lines(read(tmp_path / "e.json", tmp_path)) == [1, 6]


def test_the_part_of_a_run_that_goes_on_is_left_alone(keeper: Keeper, tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        part = tmp_path / f"e.json.{other.pid}-7.part"
        write(part, _evidence(tmp_path / "train.py", 6), tmp_path)
        keeper.finish()
        assert part.exists()
        assert _lines(read(tmp_path / "e.json", tmp_path)) == [1]
    finally:
        other.communicate(b"\n")


def test_a_directory_that_cannot_be_written_ends_no_program(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    keeper = Keeper(tmp_path / "file" / "e.json", tmp_path, os.getpid())
    keeper.collect = lambda: _evidence(tmp_path / "train.py", 1)
    keeper.save()
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        keeper.finish()
