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
    """One finding; its message goes on to why it is one.

    Of its repair the message says nothing, so that it need not be worked out while a person types.
    """
    address = pages.address(finding.code)
    return types.Diagnostic(
        range=locator.ruler(finding.place).range(finding.place.span),
        message=f"{finding.message}\nwhy: {finding.why}" if finding.why else finding.message,
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(address) if address else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED else None,
        related_information=[
            types.DiagnosticRelatedInformation(locator.location(one.place), one.message) for one in finding.related
        ],
    )
