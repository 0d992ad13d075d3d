"""Files and folders as named on the command line to the ordered list of Python files and notebooks below them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from inplace_fix.engine import Problem
from inplace_fix.source import reason

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".ipynb")
SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".bzr", "__pycache__", "__pypackages__", "node_modules", "site-packages", "venv", ".venv"}
    | {".tox", ".nox", ".eggs", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints"}
    | {".direnv", ".pyenv", ".vscode", ".idea", "build", "dist", "_build"}
)


@dataclass(frozen=True, slots=True)
class Found:
    """The files in order, each once, and what could not be looked at."""

    files: tuple[Path, ...]
    problems: tuple[Problem, ...] = ()


def discover(
    paths: Sequence[Path], exclude: Sequence[str] = (), base: Path | None = None, *, force_exclude: bool = False
) -> Found:
    """The Python files and notebooks that ``paths`` stand for.

    Below a folder, ``.gitignore`` files, ``exclude`` (patterns in gitignore's language, relative to ``base``) and the
    usual folders of tools are left out. A path that is named itself is taken even so; ``force_exclude`` applies
    ``exclude`` to it as well, for callers such as pre-commit that name every file.
    """
    walk = _Walk(_Rules.of_settings(exclude, base or Path.cwd()))
    for path in paths:
        walk.start(path, force_exclude)
    return Found(tuple(walk.files), tuple(walk.problems))


def matches(path: Path, patterns: Sequence[str], base: Path) -> bool:
    """Whether patterns in gitignore's language, relative to ``base``, speak of a file or of a folder above it."""
    absolute = Path(os.path.abspath(path))
    rules = _Rules.of_settings(patterns, base)
    return any(left_out(place, place != absolute, rules) for place in (absolute, *absolute.parents))


@dataclass(frozen=True, slots=True)
class _Rules:
    """Patterns that hold below one folder."""

    folder: Path
    spec: GitIgnoreSpec

    @staticmethod
    def of_settings(patterns: Sequence[str], base: Path) -> tuple[_Rules, ...]:
        """The rules for ``exclude``; none where it is empty, so that pathspec need not be imported."""
        return (_Rules(Path(os.path.abspath(base)), _spec(patterns)),) if patterns else ()

    @staticmethod
    def of_folder(folder: Path) -> tuple[_Rules, ...]:
        """The rules of a folder's own ``.gitignore`` and, at the top of a repository, of ``.git/info/exclude``."""
        lines: list[str] = []
        for name in (".git/info/exclude", ".gitignore"):
            try:
                lines += (folder / name).read_text("utf-8", "replace").splitlines()
            except OSError:
                continue
        return (_Rules(folder, _spec(lines)),) if any(line.strip() for line in lines) else ()

    def says(self, path: Path, is_folder: bool) -> bool | None:
        """True to leave out, False to keep in spite of an outer rule, None where no pattern speaks of the path."""
        try:
            name = path.relative_to(self.folder).as_posix() + ("/" if is_folder else "")
        except ValueError:
            return None
        return self.spec.check_file(name).include


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


def left_out(path: Path, is_folder: bool, rules: Sequence[_Rules]) -> bool:
    """Whether the innermost rule that speaks of the path leaves it out."""
    for rule in reversed(rules):
        answer = rule.says(path, is_folder)
        if answer is not None:
            return answer
    return False


@dataclass
class _Walk:
    """The walk over all given paths: what was found so far, and which real folders and files were seen."""

    settings: tuple[_Rules, ...]
    files: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def start(self, path: Path, force_exclude: bool) -> None:
        """Take one path of the command line."""
        absolute = Path(os.path.abspath(path))
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            self.problems.append(
                Problem(path, "does not exist" if _missing(error) else f"cannot be read: {reason(error)}")
            )
            return
        is_folder = stat.S_ISDIR(mode)
        places = (absolute, *absolute.parents)
        if force_exclude and any(left_out(p, p != absolute or is_folder, self.settings) for p in places):
            return
        if is_folder:
            self.folder(path, absolute, (*_outer_rules(absolute), *self.settings))
        else:
            self.file(path)

    def file(self, path: Path) -> None:
        """Take a file unless it was taken under another name."""
        real = os.path.realpath(path)
        if real not in self.seen:
            self.seen.add(real)
            self.files.append(path)

    def folder(self, path: Path, absolute: Path, rules: tuple[_Rules, ...]) -> None:
        """Take what is below a folder, by name; a folder reached twice (a loop of links) is taken once."""
        real = os.path.realpath(path)
        if real in self.seen:
            return
        self.seen.add(real)
        try:
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(Problem(path, f"cannot be listed: {reason(error)}"))
            return
        if any(entry.name == ".gitignore" or entry.name == ".git" for entry in entries):
            rules = (*rules[: len(rules) - len(self.settings)], *_Rules.of_folder(absolute), *self.settings)
        # links come last, so that a file is known by its own name where it has one
        for entry in [e for e in entries if not e.is_symlink()] + [e for e in entries if e.is_symlink()]:
            self.entry(path / entry.name, absolute / entry.name, entry, rules)

    def entry(self, path: Path, absolute: Path, entry: os.DirEntry[str], rules: tuple[_Rules, ...]) -> None:
        """Take one entry of a folder."""
        try:
            is_folder = entry.is_dir()
            wanted = is_folder or (entry.name.endswith(SUFFIXES) and entry.is_file())
        except OSError as error:
            self.problems.append(Problem(path, f"cannot be read: {reason(error)}"))
            return
        if is_folder and (entry.name in SKIPPED or os.path.exists(path / "pyvenv.cfg")):
            return
        if wanted and not left_out(absolute, is_folder, rules):
            if is_folder:
                self.folder(path, absolute, rules)
            else:
                self.file(path)
        elif not wanted and self.dangling(entry) and not left_out(absolute, False, rules):
            self.problems.append(Problem(path, f"is a broken symbolic link to {os.readlink(path)}"))

    @staticmethod
    def dangling(entry: os.DirEntry[str]) -> bool:
        """Whether an entry would be a source file if its link led anywhere (editors lock files by such links)."""
        return entry.name.endswith(SUFFIXES) and not entry.name.startswith(".#") and _dead_link(entry)


def _dead_link(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() and not os.path.exists(entry.path)


def _missing(error: OSError) -> bool:
    return isinstance(error, FileNotFoundError | NotADirectoryError)


def _outer_rules(folder: Path) -> tuple[_Rules, ...]:
    """The ignore files above ``folder`` up to the top of its repository; none where they leave it out itself."""
    chain = list(_up_to_repository(folder))
    rules = tuple(rule for outer in reversed(chain) for rule in _Rules.of_folder(outer))
    inside = [place for place in (folder, *folder.parents) if chain and place.is_relative_to(chain[-1])]
    return () if any(left_out(place, True, rules) for place in inside if place != chain[-1]) else rules


def _up_to_repository(folder: Path) -> Iterator[Path]:
    """The parents of a folder up to the top of its repository; none where the folder is itself the top or in none."""
    if (folder / ".git").exists():
        return
    parents = []
    for parent in folder.parents:
        parents.append(parent)
        if (parent / ".git").exists():
            yield from parents
            return
