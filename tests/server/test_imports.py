"""Which files of the work a file imports."""

from __future__ import annotations

from pathlib import Path

from inplace_fix.server.imports import imported, modules


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def test_every_spelling_of_an_import_is_seen() -> None:
    text = """
import a, b.c as d; x = 1
from e import (
    f,  # why
    g as h,
)
if x:
    from . import i
    from ..j import k
def broken(:
"""
    assert modules(text) == ("a", "b.c", "e", "e.f", "e.g", ".", ".i", "..j", "..j.k")


def test_imports_are_followed_through_files_and_packages(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/one.py": "from .two import f\n",
            "pkg/two.py": "import pkg.sub.three\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/three.py": "import os\n",
            "other.py": "",
        },
    )
    found = imported(tmp_path / "main.py", "from pkg.one import f\n", tmp_path, {})
    assert {file.relative_to(tmp_path).as_posix() for file in found} == {
        "pkg/__init__.py",
        "pkg/one.py",
        "pkg/two.py",
        "pkg/sub/__init__.py",
        "pkg/sub/three.py",
    }


def test_the_text_in_the_editor_counts_and_a_circle_ends(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "b.py": "import main\n", "main.py": ""})
    texts = {tmp_path / "a.py": "import b\n"}
    found = imported(tmp_path / "main.py", "import a\n", tmp_path, texts)
    assert found == (tmp_path / "a.py", tmp_path / "b.py")


def test_files_outside_the_folder_of_work_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"outside.py": "", "work/main.py": ""})
    assert imported(tmp_path / "work" / "main.py", "import outside\n", tmp_path / "work", {}) == ()
