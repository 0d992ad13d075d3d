"""One line for each finding: place, code, message, and whether there is a fix."""

from __future__ import annotations

from inplace_fix.nouns import Applicability, Finding
from inplace_fix.report.paint import Line
from inplace_fix.report.texts import where

FIX_MARKS = {
    Applicability.SAFE: " [safe fix]",
    Applicability.UNSAFE: " [unsafe fix]",
    Applicability.DISPLAY: " [advice]",
}


def finding_line(finding: Finding) -> Line:
    """One finding on one line."""
    mark = FIX_MARKS[finding.fix.applicability] if finding.fix else ""
    style = finding.severity.value
    head: Line = [(where(finding.place), "strong"), (": ", ""), (f"{style} {finding.code}", style)]
    return [*head, (f" {' '.join(finding.message.split())}", ""), (mark, "second")]
