"""``inplace-fix check`` from arguments to report."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from command_line import FAULT, RIGHT, notebook, run

from inplace_fix.engine import FileResult
from inplace_fix.nouns import Place, Span
from inplace_fix.trace import evidence
from inplace_fix.trace.observations import Evidence, Fact


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def found(*argv: str | Path, **more: bytes) -> list[tuple[str, int]]:
    """Code and row of what a check finds."""
    return [
        (f["code"], f["location"]["row"])
        for f in json.loads(run("check", "--output-format", "json", *argv, **more).out)
    ]


def test_a_fault_gives_status_1_and_a_right_program_0() -> None:
    assert run("check", write("fault.py", FAULT)).status == 1
    ended = run("check", write("right.py", RIGHT))
    assert (ended.status, ended.out) == (0, "")
    assert ended.err == "No in-place fault found (1 file checked).\n"


def test_exit_zero_hides_what_was_found_but_not_a_failure() -> None:
    write("fault.py", FAULT)
    assert run("check", "--exit-zero", "fault.py").status == 0
    assert run("check", "--exit-zero", "fault.py", "none.py").status == 2


def test_without_paths_the_current_folder_is_checked() -> None:
    write("sub/fault.py", FAULT)
    assert found() == [("IPF001", 5)]


BAD = {
    "python2.py": (b"print 'old'\n", "python2.py:1: "),
    "syntax.py": (b"x = 1\ny = (\n", "syntax.py:2: "),
    "encoding.py": (b"x = 1\ns = '\xe9'\n", "encoding.py:2: "),
    "cookie.py": (b"# coding: martian\n", "cookie.py:1: "),
    "null.py": (b"x = 1\n\n\0", "null.py:3: "),
    "tabs.py": (b"if 1:\n\tx = 1\n        y = 1\n", "tabs.py:3: "),
    "deep.py": (b"x = " + b"(" * 5000 + b")" * 5000, "deep.py"),
    "broken.ipynb": (b'{"cells": [\n', "broken.ipynb:2: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line_on_standard_error_and_the_others_are_done(name: str) -> None:
    data, start = BAD[name]
    write(name, data)
    write("z/fault.py", FAULT)
    ended = run("check", "--output-format", "concise", ".")
    assert ended.status == 2
    assert ended.out.startswith("z/fault.py:5:1: error IPF001")
    lines = [line for line in ended.err.splitlines() if name in line]
    assert len(lines) == 1
    assert lines[0].startswith(start)
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b"# a comment"])
def test_a_file_without_code_is_right(data: bytes) -> None:
    assert run("check", write("m.py", data)).status == 0


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + FAULT.encode(),
        FAULT.replace("\n", "\r\n").encode(),
        FAULT.replace("\n", "\r").encode(),
        b"# coding: latin-1\n" + FAULT.replace("import torch\n", "s = '\xe9'; import torch").encode("latin-1"),
    ],
)
def test_rows_are_right_in_any_encoding_and_with_any_line_end(data: bytes) -> None:
    assert found(write("m.py", data)) == [("IPF001", 5)]


def test_columns_count_code_points() -> None:
    write("m.py", FAULT.replace("y.add_(5.0)", "s = '𝔘é'; y.add_(5.0)"))
    entry = json.loads(run("check", "--output-format", "json", "m.py").out)[0]
    assert entry["location"] == {"row": 5, "column": 11}
    assert entry["filename"] == os.path.abspath("m.py")


def test_standard_input_is_checked_under_its_name() -> None:
    ended = run("check", "--stdin-filename", "model.py", "--output-format", "concise", "-", stdin=FAULT.encode())
    assert ended.status == 1
    assert ended.out.startswith("model.py:5:1: error IPF001")
    assert run("check", "--stdin-filename", "model.py", "-", stdin=b"x = (").status == 2


def test_a_notebook_is_checked_with_names_flowing_between_cells() -> None:
    head, tail = FAULT.split("y.add_")
    write("n.ipynb", notebook(head, "%time\ny.add_" + tail))
    entry = json.loads(run("check", "--output-format", "json", "n.ipynb").out)[0]
    assert (entry["cell"], entry["location"], entry["related"][0]["cell"]) == (2, {"row": 2, "column": 1}, 1)
    shown = run("check", "n.ipynb").out
    assert "--> n.ipynb:cell 2:2:1" in shown
    assert "2 - y.add_(5.0)\n2 + y = y.add(5.0)\n" in shown


def test_settings_choose_rules_files_policy_and_severity() -> None:
    write("src/fault.py", FAULT)
    write("old/fault.py", FAULT)
    write("tests/fault.py", FAULT)
    settings = write(
        "inplace-fix.toml",
        'exclude = ["/old"]\nper-file-ignores = {"tests/" = ["IPF0"]}\nseverity = {IPF001 = "note"}\n',
    )
    ended = run("check", "--output-format", "concise")
    assert ended.out.splitlines()[0].startswith("src/fault.py:5:1: note IPF001")
    assert len(ended.out.splitlines()) == 1
    assert len(found("--isolated")) == 3
    settings.write_text('ignore = ["IPF"]\n')
    assert found() == []
    assert found("--ignore", "IPF9", "src") == [("IPF001", 5)]
    settings.write_text('polcy = "all"\n')
    ended = run("check")
    assert ended.status == 2
    assert "did you mean `policy`" in ended.err


@pytest.mark.parametrize(("version", "told"), [("2.6", True), ("2.13", False), ("2.13.1", False)])
def test_another_version_of_torch_is_told(version: str, told: bool) -> None:
    write("m.py", RIGHT)
    write("inplace-fix.toml", f'torch-version = "{version}"\n')
    assert (f"`torch-version` says {version}" in run("check", "m.py").err) is told


def test_options_choose_rules_and_leave_out_files() -> None:
    write("fault.py", FAULT)
    write("other.py", FAULT)
    assert found("--select", "IPF002,IPF003") == []
    assert found("--select", "ipf001", "--exclude", "/other.py") == [("IPF001", 5)]


def test_the_strict_policy_adds_notes() -> None:
    write("m.py", "import torch\n\ndef f(x: torch.Tensor):\n    y = x * 2.0\n    y.add_(5.0)\n    return y\n")
    assert found() == []
    assert found("--policy", "strict") == [("IPF101", 5)]


def test_a_comment_silences_and_an_idle_one_is_told_without_raising_the_status() -> None:
    write("m.py", FAULT.replace("y.add_(5.0)", "y.add_(5.0)  # inplace-fix: ignore[IPF001] wanted"))
    ended = run("check", "m.py")
    assert (ended.status, ended.out) == (0, "")
    write("m.py", RIGHT.replace("y.add_(5.0)", "y.add_(5.0)  # inplace-fix: ignore[IPF001] wanted"))
    assert run("check", "m.py").status == 0
    assert found("m.py") == [("IPF900", 5)]
    assert found("--ignore", "IPF900", "m.py") == []


def test_a_baseline_lets_only_new_findings_through() -> None:
    write("m.py", FAULT)
    ended = run("check", "--write-baseline", "base.json", ".")
    assert (ended.status, ended.out) == (0, "")
    assert "holds 1 finding now" in ended.err
    write("m.py", "# moved\n" + FAULT + FAULT.replace("add_(5.0)", "mul_(5.0)"))
    assert found("--baseline", "base.json") == [("IPF001", 12)]


def test_only_changed_lines_are_reported_on_request() -> None:
    write("m.py", FAULT)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    write("m.py", FAULT + FAULT)
    write("new.py", FAULT)
    assert found("--diff-from", "HEAD") == [("IPF001", 11), ("IPF001", 5)]


@pytest.mark.parametrize("form", ["full", "concise", "json", "sarif", "github", "gitlab", "junit"])
def test_every_format_goes_to_standard_output(form: str) -> None:
    write("m.py", FAULT)
    ended = run("check", "--output-format", form, "m.py")
    assert ended.status == 1
    assert "IPF001" in ended.out
    assert ("Found" in ended.err) is (form in ("full", "concise"))


def test_machine_formats_of_nothing_are_still_documents() -> None:
    write("m.py", RIGHT)
    assert json.loads(run("check", "--output-format", "json").out) == []
    assert json.loads(run("check", "--output-format", "sarif").out)["runs"][0]["results"] == []


def test_statistics_follow_the_findings() -> None:
    write("m.py", FAULT)
    assert run("check", "--statistics", "--output-format", "concise").out.splitlines()[-1].startswith("     1 IPF001 ")


def test_places_not_followed_to_the_end_are_counted_and_named_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("m.py", RIGHT)
    results = [FileResult(path, RIGHT, notes=("3: not followed to the end (too long)",))]
    monkeypatch.setattr("inplace_fix.engine.check", lambda files, options, texts: iter(results))
    assert "1 place not followed to the end; --verbose names them." in run("check", "m.py").err
    assert "m.py:3: not followed to the end (too long)" in run("check", "-v", "m.py").err


def test_the_next_command_repeats_the_options_that_matter_and_no_long_lists() -> None:
    write("m.py", FAULT)
    write("a b.py", RIGHT)
    ended = run("check", "--policy", "strict", "--isolated", "--output-format", "concise", "m.py", "a b.py")
    assert "inplace-fix fix --dry-run --policy strict --isolated m.py 'a b.py'" in ended.err
    for number in range(5):
        write(f"sub/{number}.py", FAULT)
    ended = run("check", "--output-format", "concise", *sorted(Path("sub").iterdir()))
    assert "inplace-fix fix --dry-run sub shows" in ended.err


def test_a_folder_without_python_is_told() -> None:
    ended = run("check", ".")
    assert ended.status == 0
    assert "No Python files or notebooks found there." in ended.err


def other_evidence(*paths: Path) -> None:
    """Evidence about other texts than the files have now."""
    facts = tuple(Fact(Place(path, Span(1, 0, 1, 5)), "value") for path in paths)
    evidence.write(Path("e.json"), Evidence((), facts, (), {str(path): "0" * 64 for path in paths}), Path.cwd())


@pytest.mark.parametrize("command", [("check",), ("fix", "--dry-run")])
def test_evidence_about_a_file_that_changed_since_is_left_out_and_that_is_said(command: tuple[str, ...]) -> None:
    path = write("right.py", RIGHT).absolute()
    other_evidence(path)
    ended = run(*command, "--trace", "e.json", path)
    assert ended.status == 0
    assert f"evidence about {path} was left out: the file changed since the traced run; trace again." in ended.err


def test_of_evidence_about_many_other_files_the_first_are_named(tmp_path: Path) -> None:
    write("right.py", RIGHT)
    other_evidence(*(tmp_path / f"gone{number}.py" for number in range(5)))
    told = run("check", "--trace", "e.json", "right.py").err
    assert told.count("the file is not there; trace again from its tree.") == 3
    assert "... and about 2 more files; --verbose names them." in told
    assert run("check", "--verbose", "--trace", "e.json", "right.py").err.count("is not there") == 5
