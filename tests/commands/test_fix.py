"""``inplace-fix fix`` from arguments to files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from command_line import FAULT, REPAIRED, RIGHT, notebook, run
from findings import finding

from inplace_fix.engine import FileResult

BOTH = FAULT + FAULT.replace("add_(5.0)", "mul_(5.0)")
SAFE_HALF = REPAIRED + FAULT.replace("add_(5.0)", "mul_(5.0)")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_file_is_repaired_and_a_second_run_changes_nothing() -> None:
    path = write("m.py", FAULT)
    ended = run("fix", "m.py")
    assert (ended.status, ended.out) == (0, "")
    assert path.read_text() == REPAIRED
    assert "m.py:5:1: IPF001 `y.add_(5.0)` overwrites" in ended.err
    assert "Repaired 1 fault in 1 file." in ended.err
    before = path.stat()
    assert "Nothing to repair." in run("fix", "m.py").err
    assert path.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize(
    "convert",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.removesuffix("\n").encode(),
        lambda text: b"# coding: latin-1\ns = '\xe9'\t\n" + text.encode("latin-1"),
    ],
    ids=["byte order mark", "CRLF", "no line end", "latin-1"],
)
def test_every_other_byte_stays(convert) -> None:  # type: ignore[no-untyped-def]
    path = write("m.py", convert(FAULT))
    patch = run("fix", "--dry-run", "m.py").raw
    assert run("fix", "m.py").status == 0
    assert path.read_bytes() == convert(REPAIRED)
    path.write_bytes(convert(FAULT))
    subprocess.run(["git", "apply"], input=patch, check=True)
    assert path.read_bytes() == convert(REPAIRED)


def test_a_dry_run_prints_the_patch_alone_and_changes_nothing() -> None:
    path = write("m.py", FAULT)
    ended = run("fix", "--dry-run", "m.py")
    assert ended.status == 1
    assert ended.out.startswith("--- a/m.py\n+++ b/m.py\n@@ ")
    assert path.read_text() == FAULT
    assert "m.py:5:1: IPF001" in ended.err
    assert "Apply it with: inplace-fix fix m.py" in ended.err
    assert run("fix", "--dry-run", write("right.py", RIGHT)).status == 0


def test_a_patch_file_holds_the_patch_and_nothing_else_is_changed() -> None:
    path = write("m.py", FAULT)
    ended = run("fix", "--patch", "p.diff", "m.py")
    assert (ended.status, ended.out, path.read_text()) == (1, "", FAULT)
    assert "Apply it with: git apply p.diff" in ended.err
    subprocess.run(["git", "apply", "p.diff"], check=True)
    assert path.read_text() == REPAIRED
    assert run("fix", "--patch", "none/p.diff", write("n.py", FAULT)).status == 2


def test_what_is_silenced_or_left_out_is_not_repaired() -> None:
    text = FAULT.replace("y.add_(5.0)", "y.add_(5.0)  # inplace-fix: ignore[IPF001] wanted")
    path = write("m.py", text)
    other = write("tests/m.py", FAULT)
    write("inplace-fix.toml", 'per-file-ignores = {"tests/" = ["IPF001"]}\n')
    assert run("fix").status == 0
    assert (path.read_text(), other.read_text()) == (text, FAULT)


def test_a_baseline_protects_known_findings_from_repair() -> None:
    path = write("m.py", FAULT)
    run("check", "--write-baseline", "base.json")
    path.write_text(BOTH)
    assert run("fix", "--baseline", "base.json").status == 0
    assert path.read_text() == FAULT + REPAIRED.replace("y.add(5.0)", "y.mul(5.0)")


def test_only_changed_lines_are_repaired_on_request() -> None:
    path = write("m.py", FAULT)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    path.write_text(BOTH)
    assert run("fix", "--diff-from", "HEAD").status == 0
    assert path.read_text() == FAULT + REPAIRED.replace("y.add(5.0)", "y.mul(5.0)")


def test_standard_input_comes_out_repaired_in_its_own_bytes() -> None:
    data = b"\xef\xbb\xbf" + FAULT.replace("\n", "\r\n").encode()
    ended = run("fix", "--stdin-filename", "m.py", "-", stdin=data)
    assert ended.status == 0
    assert ended.raw == b"\xef\xbb\xbf" + REPAIRED.replace("\n", "\r\n").encode()
    assert run("fix", "-", stdin=RIGHT.encode()).out == RIGHT
    dry = run("fix", "--dry-run", "--stdin-filename", "m.py", "-", stdin=FAULT.encode())
    assert dry.out.startswith("--- a/m.py\n")
    bad = run("fix", "-", stdin=b"x = (")
    assert (bad.status, bad.raw) == (2, b"x = (")


def test_a_notebook_is_repaired_and_its_outputs_stay() -> None:
    head, tail = FAULT.split("y.add_")
    path = write("n.ipynb", notebook(head, "%time\ny.add_" + tail))
    patch = run("fix", "--dry-run", "n.ipynb").raw
    assert run("fix", "n.ipynb").status == 0
    after = notebook(head, "%time\ny = y.add" + tail)
    assert path.read_text() == after
    path.write_text(notebook(head, "%time\ny.add_" + tail))
    subprocess.run(["git", "apply"], input=patch, check=True)
    assert path.read_text() == after


def test_bad_files_are_told_and_the_others_are_repaired() -> None:
    write("bad.py", "x = (")
    path = write("m.py", FAULT)
    ended = run("fix", ".")
    assert ended.status == 2
    assert "bad.py:1: " in ended.err
    assert path.read_text() == REPAIRED


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    closed, path = write("closed.py", FAULT), write("m.py", FAULT)
    access = os.access
    monkeypatch.setattr(os, "access", lambda file, mode: Path(file).name != "closed.py" and access(file, mode))
    ended = run("fix", ".")
    assert ended.status == 2
    assert "closed.py: cannot be written: the file is read-only; it was left as it was" in ended.err
    assert "Repaired 1 fault in 1 file." in ended.err
    assert (closed.read_text(), path.read_text()) == (FAULT, REPAIRED)


LEFT = """import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
seen = [y]
y.add_(5.0)
(seen[0] * y).sum().backward()
"""


def test_a_repair_that_rests_on_an_assumption_is_left_unless_asked_for() -> None:
    path = write("m.py", FAULT + LEFT)
    ended = run("fix", "--output-format", "json", "m.py")
    assert ended.status == 1
    assert path.read_text() == REPAIRED + LEFT
    assert [entry["location"]["row"] for entry in json.loads(ended.out)] == [12]
    assert "inplace-fix fix --dry-run --unsafe-fixes m.py" in ended.err
    assert run("fix", "--unsafe-fixes", "m.py").status == 0
    assert path.read_text() == REPAIRED + LEFT.replace("x.exp()", "x.exp().clone()")


@pytest.mark.parametrize(("flag", "row"), [("--dry-run", 2), ("--exit-zero", 4)])
def test_what_is_left_is_counted_in_the_rows_of_the_file_as_the_command_leaves_it(
    flag: str, row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("m.py", "x.add_(1)\nz.add_(1)\n")
    applied, left = finding(path, 1, 0, 9, replacement="x = 1\nx = x\nx"), finding(path, 2)
    result = FileResult(
        path,
        path.read_text(),
        (applied, left),
        "x = 1\nx = x\nx\nz.add_(1)\n",
        (applied,),
        (finding(path, 4),),
    )
    monkeypatch.setattr("inplace_fix.engine.fix", lambda files, options, texts: iter([result]))
    ended = run("fix", flag, "--output-format", "concise", "m.py")
    assert f"m.py:{row}:1: error IPF001" in ended.out + ended.err
    assert f"m.py:{6 - row}:1: " not in ended.out + ended.err


def test_answers_choose_what_is_repaired() -> None:
    path = write("m.py", BOTH)
    ended = run("fix", "--interactive", "m.py", stdin=b"y\nn\n")
    assert ended.err.count("Repair this?") == 2
    assert path.read_text() == SAFE_HALF
    path.write_text(BOTH)
    run("fix", "--interactive", "m.py", stdin=b"q\n")
    assert path.read_text() == BOTH


def test_lines_edited_by_hand_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("m.py", BOTH)
    monkeypatch.setattr("inplace_fix.commands.choose.open_editor", lambda content: "y = y + 5.0  # mine\n")
    run("fix", "--interactive", "m.py", stdin=b"e\ny\n")
    mine = FAULT.replace("y.add_(5.0)", "y = y + 5.0  # mine")
    assert path.read_text() == mine + REPAIRED.replace("y.add(5.0)", "y.mul(5.0)")


@pytest.mark.parametrize(
    ("status", "code", "written"),
    [("same", 0, True), ("close", 0, True), ("different", 1, False), ("cannot run", 2, False)],
)
def test_only_a_proof_that_holds_lets_a_file_be_written(
    status: str, code: int, written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inplace_fix import verify

    asked = []

    def prove(command: str, changed: dict[Path, str], root: Path) -> verify.Verdict:
        asked.append((command, changed, root))
        return verify.Verdict(status, "so it is.")

    monkeypatch.setattr(verify, "verify", prove)
    path = write("m.py", FAULT)
    ended = run("fix", "--verify", "python m.py", "m.py")
    assert asked == [("python m.py", {Path.cwd() / "m.py": REPAIRED}, Path.cwd())]
    assert ended.status == code
    assert path.read_text() == (REPAIRED if written else FAULT)
    assert f"verified: {status}. so it is." in ended.err
    assert ("Nothing was written" in ended.err) is not written
