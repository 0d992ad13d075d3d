"""Findings made by hand, for tests of what is done with them."""

from __future__ import annotations

from pathlib import Path

from inplace_fix.nouns import Applicability, Certainty, Edit, Finding, Fix, Place, Related, Severity, Span


def place(path: Path, line: int, column: int = 0, end: int | None = None, *, end_line: int | None = None) -> Place:
    """A place on one line, by default one column wide."""
    return Place(path, Span(line, column, end_line or line, column + 1 if end is None else end))


def finding(
    path: Path,
    line: int,
    column: int = 0,
    end: int | None = None,
    *,
    code: str = "IPF001",
    name: str = "saved-tensor-overwritten",
    severity: Severity = Severity.ERROR,
    certainty: Certainty = Certainty.CERTAIN,
    message: str = "`y.add_(1)` overwrites the result that `x.exp()` saved for backward",
    saved: Place | None = None,
    why: str = "",
    replacement: str | None = None,
    applicability: Applicability = Applicability.SAFE,
) -> Finding:
    """A finding; ``replacement`` gives it a fix that replaces its own place."""
    at = place(path, line, column, end)
    fix = None
    if replacement is not None:
        fix = Fix("out-of-place", "write to a new tensor", applicability, edits=(Edit(at, replacement),))
    related = (Related("saved here", saved),) if saved else ()
    return Finding(code, name, severity, certainty, message, at, related, why=why, fix=fix)
