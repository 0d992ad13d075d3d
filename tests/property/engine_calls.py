"""Calls the engine on one generated source text."""

from __future__ import annotations

from pathlib import Path

from inplace_fix import engine

PATH = Path("generated.py")


def fix(text: str, options: engine.Options) -> engine.FileResult:
    """Fix a text; nothing is read from disk or written."""
    (result,) = engine.fix([PATH], options, {PATH: text})
    assert result.problem is None, result.problem
    return result


def check(text: str, options: engine.Options) -> engine.FileResult:
    """Check a text."""
    (result,) = engine.check([PATH], options, {PATH: text})
    assert result.problem is None, result.problem
    return result
