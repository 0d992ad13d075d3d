"""Files of one repair are written together or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_fix.commands import write as module
from inplace_fix.commands.write import Change, joined, write_changes
from inplace_fix.source import SourceError, replace_file


def change(path: Path, *others: Path) -> Change:
    return Change(path, b"old", b"new", "new", frozenset({frozenset({path, *others})}))


def test_changes_that_a_repair_joins_form_one_group() -> None:
    a, b, c, d, e = (Path(name) for name in "abcde")
    groups = joined([change(a, b), change(b), change(c), change(d, e), change(e, c)])
    assert [[member.path for member in group] for group in groups] == [[a, b], [c, d, e]]


def test_where_one_file_fails_its_group_is_put_back_and_the_others_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (tmp_path / name for name in ("1.py", "2.py", "3.py"))
    for path in (first, second, third):
        path.write_bytes(b"old")

    def failing(path: Path, data: bytes) -> None:
        if path == second:
            raise SourceError(path, "cannot be written: no space left on device")
        replace_file(path, data)

    monkeypatch.setattr(module, "replace_file", failing)
    problems = write_changes([change(first, second), change(second, first), change(third)])
    assert [path.read_bytes() for path in (first, second, third)] == [b"old", b"old", b"new"]
    assert {problem.path: problem.message for problem in problems} == {
        second: "cannot be written: no space left on device",
        first: f"was left as it was: {second} belongs to the same repair and could not be written",
    }


def test_an_interrupt_puts_the_group_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "1.py", tmp_path / "2.py"
    for path in (first, second):
        path.write_bytes(b"old")

    def interrupted(path: Path, data: bytes) -> None:
        if path == second:
            raise KeyboardInterrupt
        replace_file(path, data)

    monkeypatch.setattr(module, "replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_changes([change(first, second), change(second, first)])
    assert first.read_bytes() == b"old"


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(b"newer")
    (problem,) = write_changes([change(path)])
    assert "changed on disk" in problem.message
    assert path.read_bytes() == b"newer"
