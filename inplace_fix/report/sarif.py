"""Findings as SARIF 2.1.0, for code scanning: places, the value's way from save to overwrite, and the fix."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inplace_fix import __version__
from inplace_fix.engine import Problem
from inplace_fix.fingerprint import fingerprint
from inplace_fix.nouns import Applicability, Finding, Fix, Place
from inplace_fix.report.texts import Texts

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "SRCROOT"


def dumps(
    findings: Sequence[Finding], problems: Sequence[Problem], texts: Texts, pages: dict[str, tuple[str, str]]
) -> str:
    """A log with one run, paths relative to the current folder. ``pages`` gives each rule's summary and page by code.

    Notebook cells have no rows in SARIF: their places carry the cell in ``properties`` and no region.
    """
    codes = sorted({finding.code for finding in findings})
    names = {finding.code: finding.name for finding in findings}
    run = {
        "tool": {
            "driver": {
                "name": "inplace-fix",
                "version": __version__,
                "rules": [_rule(code, names[code], *pages.get(code, ("", ""))) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "the folder the command ran in"}}},
        "invocations": [
            {"executionSuccessful": not problems, "toolExecutionNotifications": [_notification(p) for p in problems]}
        ],
        "results": [_result(finding, codes.index(finding.code), texts) for finding in findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str, name: str, summary: str, page: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code, "name": "".join(part.capitalize() for part in name.split("-"))}
    if summary:
        rule["shortDescription"] = {"text": summary}
    if page:
        rule["help"] = {"text": page, "markdown": page}
    return rule


def _result(finding: Finding, index: int, texts: Texts) -> dict[str, Any]:
    why = f" Why: {finding.why}." if finding.why else ""
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}.{why}"},
        "locations": [_location(finding.place)],
        "partialFingerprints": {"inplaceFix/v1": fingerprint(finding, texts.text(finding.place), Path.cwd())},
        "properties": {"certainty": finding.certainty.value, "evidence": list(finding.evidence)},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **_location(related.place, related.message)}
            for number, related in enumerate(finding.related, 1)
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": _flow(finding)}]}]
    # GitHub and editors apply what stands under "fixes" on a
    # click, so advice that is never applied stays out; so do edits of notebook cells, which SARIF cannot place
    fix = finding.fix
    offered = fix is not None and fix.edits and fix.applicability is not Applicability.DISPLAY
    if fix and offered and all(edit.place.cell is None for edit in fix.edits):
        result["fixes"] = [_fix(fix)]
    return result


def _flow(finding: Finding) -> list[dict[str, Any]]:
    """The places in the order a reader follows: what stands before the finding in its file, the finding, the rest."""
    before = [r for r in finding.related if r.place.path != finding.place.path or r.place < finding.place]
    after = [r for r in finding.related if r not in before]
    steps = [(r.place, r.message) for r in before]
    steps += [(finding.place, finding.message)]
    steps += [(r.place, r.message) for r in after]
    return [{"location": _location(place, message)} for place, message in steps]


def _location(place: Place, message: str = "") -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.path)}
    if place.cell is None:
        physical["region"] = _region(place)
    location: dict[str, Any] = {"physicalLocation": physical}
    if message:
        location["message"] = {"text": message}
    if place.cell is not None:
        location["properties"] = {"cell": place.cell, "region": _region(place)}
    return location


def _artifact(path: Path) -> dict[str, Any]:
    absolute = Path(os.path.abspath(path))
    try:
        return {"uri": quote(absolute.relative_to(Path.cwd()).as_posix()), "uriBaseId": ROOT}
    except ValueError:
        return {"uri": absolute.as_uri()}


def _region(place: Place) -> dict[str, int]:
    span = place.span
    return {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    changes: dict[Path, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.place.path, []).append(
            {"deletedRegion": _region(edit.place), "insertedContent": {"text": edit.content}}
        )
    return {
        "description": {"text": f"{fix.message} ({fix.applicability.value})"},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }


def _notification(problem: Problem) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(problem.path)}
    if problem.line:
        physical["region"] = {"startLine": problem.line}
    return {"level": "error", "message": {"text": problem.message}, "locations": [{"physicalLocation": physical}]}


def pages_of(codes: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Summary and page of each rule that exists."""
    from inplace_fix.rules.base import rules

    wanted = set(codes)
    return {rule.code: (rule.summary, rule.page) for rule in rules() if rule.code in wanted}
