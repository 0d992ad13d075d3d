"""Code actions: the repair of a finding, a comment that silences it, and all safe repairs of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from inplace_fix.nouns import Applicability, Finding
from inplace_fix.server.analysis import Analysis, Rows
from inplace_fix.server.diagnostics import Pages, diagnostic
from inplace_fix.server.documents import Part
from inplace_fix.server.edits import between, of_fix, workspace_edit
from inplace_fix.server.ignoring import ignored
from inplace_fix.server.places import Locator
from inplace_fix.suppress import UNUSED

FIX_ALL = "source.fixAll.inplace-fix"
KINDS = [types.CodeActionKind.QuickFix, types.CodeActionKind(types.CodeActionKind.SourceFixAll), FIX_ALL]


def wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether the editor asks for a kind: it names the kind itself or one above it."""
    return only is None or any(kind == asked or kind.startswith(f"{asked}.") for asked in only)


def touched_rows(analysis: Analysis, part: Part, asked: types.Range, locator: Locator) -> Rows:
    """The rows whose repairs answer for a range: those on which the findings begin that it touches."""
    rows = frozenset(f.place.span.line for f in analysis.findings if touches(f, part, asked, locator))
    return None if rows and analysis.document.notebook else rows  # a cell's rows are not those of the joined text


def quick_fixes(
    analysis: Analysis, part: Part, asked: types.Range, locator: Locator, pages: Pages, versioned: bool
) -> Iterator[types.CodeAction]:
    """The actions for each finding that a range of a document touches, repairs first."""
    touched = [finding for finding in analysis.findings if touches(finding, part, asked, locator)]
    for finding in touched:
        action = repair(finding, locator, pages, versioned)
        if action is not None:
            yield action
    for finding in touched:
        text = None if finding.code == UNUSED else ignored(part.text, finding)
        if text is not None:
            yield types.CodeAction(
                title=f"Ignore {finding.code} ({finding.name}) on this line",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(finding, locator, pages)],
                edit=workspace_edit({(part.uri, part.version): between(part, text, locator.encoding)}, versioned),
            )


def repair(finding: Finding, locator: Locator, pages: Pages, versioned: bool) -> types.CodeAction | None:
    """The repair of a finding; one that rests on an assumption says so and is never the preferred one."""
    fix = finding.fix
    if fix is None or not fix.edits or fix.applicability is Applicability.DISPLAY:
        return None
    safe = fix.applicability is Applicability.SAFE
    return types.CodeAction(
        title=f"{'Fix' if safe else 'Unsafe fix of'} {finding.code}: {fix.message}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(finding, locator, pages)],
        is_preferred=safe,
        edit=workspace_edit(of_fix(fix.edits, locator), versioned),
    )


def fix_all_action(analysis: Analysis) -> types.CodeAction | None:
    """The action that carries out all safe repairs, without its edit; None where there is nothing to repair.

    Which repairs are safe is worked out with the edit.
    """
    if not any(finding.code != UNUSED for finding in analysis.findings):
        return None
    stamp = [[uri, version] for uri, version in analysis.document.stamp]
    return types.CodeAction(
        title="inplace-fix: make all safe repairs",
        kind=FIX_ALL,
        data={"key": analysis.document.key, "stamp": stamp},
    )


def touches(finding: Finding, part: Part, asked: types.Range, locator: Locator) -> bool:
    """Whether a finding lies in a document and has a row in common with a range."""
    if locator.part(finding.place).uri != part.uri or finding.place.path not in locator.documents:
        return False
    span = finding.place.span
    return span.line - 1 <= asked.end.line and asked.start.line <= span.end_line - 1
