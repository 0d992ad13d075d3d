"""Documents as an editor would have them open, made without one."""

from __future__ import annotations

from pathlib import Path

from inplace_fix.server.analysis import Analysis, Work, analyse
from inplace_fix.server.documents import Document, Part
from inplace_fix.server.preferences import Preferences


def document(path: Path, text: str, version: int = 1) -> Document:
    """A file open with a text."""
    return Document(path.as_uri(), path, text, {None: Part(path.as_uri(), version, text)})


def analysis(path: Path, text: str, preferences: Preferences | None = None) -> Analysis:
    """The analysis of a text, repairs included, with nothing else open."""
    return analyse(document(path, text), Work(path.parent, preferences or Preferences(), {}), rows=None)
