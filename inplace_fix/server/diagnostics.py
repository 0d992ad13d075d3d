"""Findings as the editor's diagnostics: severity, second places, and a link to the rule's page."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from inplace_fix.nouns import Finding, Severity
from inplace_fix.rules.base import rules
from inplace_fix.server.places import Locator
from inplace_fix.suppress import PAGE, UNUSED

SOURCE = "inplace-fix"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


class Pages:
    """The rules' pages as files that an editor can open, in a folder that lives as long as the server."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def address(self, code: str) -> str | None:
        """The address of a rule's page, None for a code without one or where no file can be written."""
        try:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="inplace-fix-rules-")
                for name, page in (*((rule.code, rule.page) for rule in rules()), (UNUSED, PAGE)):
                    Path(self._folder.name, f"{name}.md").write_text(page, encoding="utf-8")
            file = Path(self._folder.name, f"{code}.md")
            return file.as_uri() if file.is_file() else None
        except OSError:
            return None

    def close(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            self._folder.cleanup()


def diagnostics(findings: Iterable[Finding], locator: Locator, pages: Pages) -> list[types.Diagnostic]:
    """The diagnostics of findings that lie in one text document."""
    return [diagnostic(finding, locator, pages) for finding in findings]


def diagnostic(finding: Finding, locator: Locator, pages: Pages) -> types.Diagnostic:
    """One finding; its message goes on to why, and to why there is no repair."""
    address = pages.address(finding.code)
    return types.Diagnostic(
        range=locator.ruler(finding.place).range(finding.place.span),
        message="\n".join([finding.message, *more(finding)]),
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(address) if address else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED else None,
        related_information=[
            types.DiagnosticRelatedInformation(locator.location(one.place), one.message) for one in finding.related
        ],
    )


def more(finding: Finding) -> list[str]:
    """What follows the message, a line each: why it is wrong, how it is known, why it is not repaired."""
    lines = []
    if finding.why:
        lines.append(f"why: {finding.why}")
    if finding.fix is not None:
        lines.append(f"fix ({finding.fix.applicability.value}): {finding.fix.message}")
    elif finding.no_fix:
        lines.append(f"no automatic fix: {finding.no_fix}")
    return lines
