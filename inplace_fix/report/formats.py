"""The output formats by name, and the one function that writes findings in any of them."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:  # the command line needs the names of the formats before it needs anything else
    from inplace_fix.engine import Problem
    from inplace_fix.nouns import Finding
    from inplace_fix.report.texts import Texts


class Format(str, enum.Enum):
    """How findings are written; all but the first two are for machines."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"

    @property
    def for_people(self) -> bool:
        """Whether a summary and statistics may go to the same stream."""
        return self in (Format.FULL, Format.CONCISE)


def write(form: Format, findings: Sequence[Finding], problems: Sequence[Problem], texts: Texts, stream: TextIO) -> None:
    """Write all findings; the machine formats that have a place for it also tell what could not be analysed."""
    from inplace_fix.report import paint

    if form is Format.FULL:
        from inplace_fix.report.full import finding_lines

        paint.write((line for finding in findings for line in finding_lines(finding, texts)), stream)
    elif form is Format.CONCISE:
        from inplace_fix.report.concise import finding_line

        paint.write((finding_line(finding) for finding in findings), stream)
    else:
        stream.write(_document(form, findings, problems, texts))


def _document(form: Format, findings: Sequence[Finding], problems: Sequence[Problem], texts: Texts) -> str:
    if form is Format.JSON:
        from inplace_fix.report import as_json

        return as_json.dumps(findings)
    if form is Format.SARIF:
        from inplace_fix.report import sarif

        return sarif.dumps(findings, problems, texts, sarif.pages_of(finding.code for finding in findings))
    if form is Format.GITLAB:
        from inplace_fix.report import gitlab

        return gitlab.dumps(findings, texts)
    if form is Format.JUNIT:
        from inplace_fix.report import junit

        return junit.dumps(findings, problems)
    from inplace_fix.report import github

    return "".join(line + "\n" for line in github.lines(findings, problems))
