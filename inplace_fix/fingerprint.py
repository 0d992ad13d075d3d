"""A name for a finding that survives moved lines: file, rule, the line's text, and which of its equals it is."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Finding


def fingerprint(finding: Finding, text: str, folder: Path) -> str:
    """A hexadecimal digest, with the path taken relative to ``folder``.

    ``text`` is the text that the finding's rows count in. Two findings of one rule on one line share it.
    """
    lines = [line.strip() for line in split_lines(text)]
    row = finding.place.span.line - 1
    line = lines[row] if 0 <= row < len(lines) else ""
    equal = sum(other == line for other in lines[:row])
    name = Path(os.path.relpath(finding.place.path, folder)).as_posix()
    parts = (name, str(finding.place.cell or ""), finding.code, line, str(equal))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
