"""Reads ``samples.txt``: sample calls written by hand, one statement or loop a line."""

from __future__ import annotations

from pathlib import Path

_SAMPLES = Path(__file__).with_name("samples.txt")


def lines() -> list[str]:
    """The lines of Python to run, in order, comments left out."""
    text = _SAMPLES.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
