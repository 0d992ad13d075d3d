"""Findings as GitLab's code quality report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from inplace_fix.fingerprint import fingerprint
from inplace_fix.nouns import Finding, Severity
from inplace_fix.report.texts import Texts, shown

SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def dumps(findings: Iterable[Finding], texts: Texts) -> str:
    """The whole report. Fingerprints must differ from each other, so the column goes into them."""
    issues = []
    for finding in findings:
        span = finding.place.span
        mark = f"{fingerprint(finding, texts.text(finding.place), Path.cwd())}:{span.column}:{finding.message}"
        cell = f"cell {finding.place.cell}, line {span.line}: " if finding.place.cell is not None else ""
        lines = {"begin": 1} if finding.place.cell is not None else {"begin": span.line, "end": span.end_line}
        issues.append(
            {
                "description": f"{cell}{finding.message}",
                "check_name": finding.code,
                "fingerprint": hashlib.sha256(mark.encode()).hexdigest()[:32],
                "severity": SEVERITIES[finding.severity],
                "location": {"path": shown(finding.place.path), "lines": lines},
            }
        )
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"
