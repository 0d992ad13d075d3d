"""Analyses source texts for the tests of the analysis."""

from __future__ import annotations

import textwrap
from pathlib import Path

from inplace_fix.analysis.entries import analyse
from inplace_fix.analysis.facts import Facts
from inplace_fix.analysis.project import Project
from inplace_fix.catalog.reader import load

PATH = Path("program.py")


def facts(text: str, **others: str) -> Facts:
    """The facts of a text that imports torch; ``others`` are further modules of the project by name."""
    texts = {PATH: program(text), **{Path(f"{name}.py"): program(other) for name, other in others.items()}}
    project = Project(texts.__getitem__)
    project.know(texts)
    return analyse(project, project.add(PATH), load())


def program(text: str) -> str:
    """A text without its common indentation, after an import of torch on line 1."""
    return "import torch\n" + textwrap.dedent(text).lstrip("\n")


def writes(text: str, **others: str) -> list[tuple[int, str]]:
    """Line and form of every write, in order, each once."""
    return list(dict.fromkeys((w.site.line, w.form.value) for w in facts(text, **others).writes))


def conflicts(text: str, **others: str) -> set[tuple[int, int]]:
    """Which lines saved a value that which lines overwrite."""
    return {(c.save.site.line, c.write.site.line) for c in facts(text, **others).conflicts}


def certain(text: str, **others: str) -> set[bool]:
    """How certain the conflicts are."""
    return {c.certain for c in facts(text, **others).conflicts}


def observed(text: str, **others: str) -> set[tuple[int, str]]:
    """Line and kind of every observation."""
    return {(o.site.line, o.kind) for o in facts(text, **others).observations}
