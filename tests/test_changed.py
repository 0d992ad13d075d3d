"""Lines that changed since a revision."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from findings import finding, place

from inplace_fix.changed import Changes, ChangesError


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "m.py").write_text("a\nb\nc\n")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_only_new_lines_count(repository: Path) -> None:
    changes = Changes.since("HEAD")
    assert changes.rows(Path("sub/m.py"), "new\na\nb changed\nc\n") == {1, 3}
    assert changes.rows(Path("sub/m.py"), "a\nb\nc\n") == set()
    assert changes.rows(Path("sub/new.py"), "a\nb\n") == {1, 2}


def test_a_finding_counts_by_its_own_rows_and_by_the_places_it_speaks_of(repository: Path) -> None:
    changes = Changes.since("HEAD")
    path, text = Path("sub/m.py"), "a\nnew\nb\nc\n"
    assert changes.touches(finding(path, 2), text)
    assert not changes.touches(finding(path, 1), text)
    assert changes.touches(finding(path, 4, saved=place(path, 2)), text)
    assert not changes.touches(finding(path, 4, saved=place(Path("sub/other.py"), 2)), text)


def test_the_old_text_is_read_as_the_new_one_is(repository: Path) -> None:
    changes = Changes.since("HEAD", lambda data, path: data.decode().upper())
    assert changes.rows(Path("sub/m.py"), "A\nb\nC\n") == {2}


def test_an_old_version_that_cannot_be_read_counts_as_none(repository: Path) -> None:
    (repository / "bad.py").write_bytes(b"\xff\n")
    subprocess.run(["git", "add", "bad.py"], cwd=repository, check=True)
    assert Changes.since("HEAD").rows(Path("bad.py"), "a\n") == {1}


def test_unknown_revisions_and_missing_repositories_are_refused(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ChangesError, match="no revision 'nowhere'"):
        Changes.since("nowhere")
    outside = tmp_path_factory.mktemp("outside")
    monkeypatch.chdir(outside)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(outside.parent))
    with pytest.raises(ChangesError, match="no git repository"):
        Changes.since("HEAD")


def test_a_machine_without_git_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ChangesError, match="git cannot be run"):
        Changes.since("HEAD")
