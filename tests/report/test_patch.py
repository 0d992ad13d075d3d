"""Patches, judged by what git makes of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inplace_fix.report.patch import patch

BOM = b"\xef\xbb\xbf"
LONG = b"".join(b"line %d\n" % n for n in range(60))

CHANGES = {
    "one line": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "no line end before and after": (b"a\nb", b"a\nB"),
    "line end gained": (b"a\nb", b"a\nb\n"),
    "line end lost": (b"a\nb\n", b"a\nb"),
    "last line stays without end": (b"a\nb\nc\nd\ne", b"A\nb\nc\nd\ne"),
    "CRLF": (b"a\r\nb\r\n", b"a\r\nB\r\n"),
    "CR alone": (b"a\rb\rc", b"a\rB\rc"),
    "byte order mark": (BOM + b"a\nb\n", BOM + b"A\nb\n"),
    "latin-1": (b"# coding: latin-1\nx = '\xe9'\n", b"# coding: latin-1\ny = '\xe9'\n"),
    "emptied": (b"a\n", b""),
    "from empty": (b"", b"a\n"),
    "far apart": (LONG, LONG.replace(b"line 3\n", b"").replace(b"line 50\n", b"line 50\nmore\nand more\n")),
    "first line": (LONG, b"new\n" + LONG),
    "last line": (LONG, LONG + b"new\n"),
    "equal lines": (b"a\n" * 20, b"a\n" * 9 + b"b\n" + b"a\n" * 11),
}


def git(folder: Path, *words: str, data: bytes | None = None) -> bytes:
    done = subprocess.run(["git", *words], cwd=folder, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES.keys())
def test_git_apply_makes_the_new_bytes_of_the_old(old: bytes, new: bytes, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_bytes(old)
    git(tmp_path, "apply", data=patch(file, old, new, tmp_path))
    assert file.read_bytes() == new


@pytest.mark.parametrize("name", ["a b.py", "ü.py", 'quo"te.py', "tab\t.py", "back\\slash.py", "sub/m.py"])
def test_any_name_of_a_file_is_understood(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"a\n")
    git(tmp_path, "apply", data=patch(file, b"a\n", b"b\n", tmp_path))
    assert file.read_bytes() == b"b\n"


def test_git_takes_it_in_the_folder_where_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "sub"
    below.mkdir()
    git(tmp_path, "init", "-q")
    inside, beside = below / "m.py", tmp_path / "other dir" / "n.py"
    beside.parent.mkdir()
    for file in (inside, beside):
        file.write_bytes(b"a\n")
    monkeypatch.chdir(below)
    whole = patch(Path("m.py"), b"a\n", b"b\n") + patch(Path("../other dir/n.py"), b"a\n", b"b\n")
    assert b"--- a/m.py\n" in whole
    git(below, "apply", data=patch(Path("m.py"), b"a\n", b"b\n"))
    assert inside.read_bytes() == b"b\n"
    git(tmp_path, "apply", data=patch(Path("../other dir/n.py"), b"a\n", b"b\n"))
    assert beside.read_bytes() == b"b\n"


def test_nothing_changed_is_no_patch(tmp_path: Path) -> None:
    assert patch(tmp_path / "m.py", b"a\n", b"a\n") == b""


def test_hunks_hold_three_lines_around_a_change(tmp_path: Path) -> None:
    made = patch(tmp_path / "m.py", LONG, LONG.replace(b"line 30\n", b"new\n"), tmp_path).decode()
    assert made.splitlines()[2:] == [
        "@@ -28,7 +28,7 @@",
        *(f" line {n}" for n in (27, 28, 29)),
        "-line 30",
        "+new",
        *(f" line {n}" for n in (31, 32, 33)),
    ]


lines = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d\r"]), max_size=14).map(b"\n".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=lines, new=lines)
def test_git_apply_takes_every_patch(old: bytes, new: bytes, tmp_path: Path) -> None:
    made = patch(tmp_path / "m.py", old, new, tmp_path)
    (tmp_path / "m.py").write_bytes(old)
    if made:
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
        subprocess.run(["git", "apply"], cwd=tmp_path, input=made, check=True, capture_output=True, env=environment)
    assert (tmp_path / "m.py").read_bytes() == new
