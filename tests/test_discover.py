"""From paths to the list of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inplace_fix.discover import Found, discover, matches


def tree(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def names(found: Found, root: Path) -> list[str]:
    return [file.relative_to(root).as_posix() for file in found.files]


def test_python_files_and_notebooks_are_taken_in_order(tmp_path: Path) -> None:
    tree(tmp_path, "b.py", "a/z.py", "a/y.ipynb", "c.txt", "d.pyc")
    assert names(discover([tmp_path]), tmp_path) == ["a/y.ipynb", "a/z.py", "b.py"]


def test_the_order_of_the_arguments_stays_and_no_file_comes_twice(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "b.py")
    found = discover([tmp_path / "b.py", tmp_path, tmp_path / "b.py"])
    assert names(found, tmp_path) == ["b.py", "a.py"]


def test_relative_paths_stay_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "src/a.py")
    monkeypatch.chdir(tmp_path)
    assert discover([Path("src")]).files == (Path("src/a.py"),)


def test_folders_of_tools_and_environments_are_left_out(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", ".git/b.py", "node_modules/c.py", "__pycache__/d.py", "env/pyvenv.cfg", "env/lib/e.py")
    assert names(discover([tmp_path]), tmp_path) == ["a.py"]


def test_a_folder_that_is_named_is_taken_even_inside_an_environment(tmp_path: Path) -> None:
    tree(tmp_path, ".venv/pyvenv.cfg", ".venv/lib/site-packages/vision/a.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(".venv/\n")
    assert len(discover([tmp_path / ".venv/lib/site-packages/vision"]).files) == 1


def test_gitignore_is_honoured_with_inner_files_over_outer_ones(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "made_a.py", "sub/made_b.py", "sub/made_c.py", "out/x.py")
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("made_*.py\n")
    (tmp_path / ".git/info/exclude").write_text("/out/\n")
    (tmp_path / "sub/.gitignore").write_text("!made_b.py\n")
    assert names(discover([tmp_path]), tmp_path) == ["a.py", "sub/made_b.py"]


def test_the_gitignore_above_a_named_folder_counts(tmp_path: Path) -> None:
    tree(tmp_path, "sub/a.py", "sub/made.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/sub/made.py\n")
    assert names(discover([tmp_path / "sub"]), tmp_path) == ["sub/a.py"]


def test_excludes_are_relative_to_their_base(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "old/b.py", "sub/old/c.py")
    assert names(discover([tmp_path], ["/old"], tmp_path), tmp_path) == ["a.py", "sub/old/c.py"]


@pytest.mark.parametrize(("force", "count"), [(False, 1), (True, 0)])
def test_a_named_file_is_excluded_only_by_force(force: bool, count: int, tmp_path: Path) -> None:
    tree(tmp_path, "old/b.py")
    found = discover([tmp_path / "old/b.py"], ["old/"], tmp_path, force_exclude=force)
    assert len(found.files) == count


def test_a_loop_of_links_ends_and_gives_each_file_once(tmp_path: Path) -> None:
    tree(tmp_path, "a/b/m.py")
    (tmp_path / "a/b/loop").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "a/alias.py").symlink_to(tmp_path / "a/b/m.py")
    assert names(discover([tmp_path]), tmp_path) == ["a/b/m.py"]


def test_a_link_that_leads_to_itself_is_a_problem_and_the_rest_is_done(tmp_path: Path) -> None:
    tree(tmp_path, "z.py")
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    found = discover([tmp_path])
    assert names(found, tmp_path) == ["z.py"]
    assert [problem.path.name for problem in found.problems] == ["self.py"]


def test_a_broken_link_is_a_problem_but_an_editor_lock_is_not(tmp_path: Path) -> None:
    tree(tmp_path, "z.py")
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    (tmp_path / ".#z.py").symlink_to("somebody@host")
    found = discover([tmp_path])
    assert [(p.path.name, p.message) for p in found.problems] == [
        ("gone.py", "is a broken symbolic link to nowhere.py")
    ]


def test_a_missing_path_is_a_problem_and_the_rest_is_done(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    found = discover([tmp_path / "none", tmp_path])
    assert [problem.message for problem in found.problems] == ["does not exist"]
    assert names(found, tmp_path) == ["a.py"]


def test_a_folder_that_cannot_be_listed_is_a_problem_and_the_rest_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "closed/a.py", "open/b.py")
    scandir = os.scandir

    def closed(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    found = discover([tmp_path])
    assert names(found, tmp_path) == ["open/b.py"]
    assert [problem.message for problem in found.problems] == ["cannot be listed: permission denied"]


@pytest.mark.parametrize(
    ("pattern", "hit"),
    [("tests/", True), ("tests", True), ("*.py", True), ("/sub/tests/x.py", True), ("/tests", False), ("*.txt", False)],
)
def test_patterns_speak_of_files_and_the_folders_above_them(pattern: str, hit: bool, tmp_path: Path) -> None:
    tree(tmp_path, "sub/tests/x.py")
    assert matches(tmp_path / "sub/tests/x.py", [pattern], tmp_path) is hit
