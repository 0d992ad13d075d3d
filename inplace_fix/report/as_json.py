"""Findings as JSON in the shape that readers of ruff's output know: rows and columns from 1, columns in code points."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from inplace_fix.nouns import Edit, Finding, Fix, Place


def dumps(findings: Iterable[Finding]) -> str:
    """The whole list, indented, with a line end."""
    return json.dumps([finding_object(finding) for finding in findings], indent=2, ensure_ascii=False) + "\n"


def finding_object(finding: Finding) -> dict[str, Any]:
    """One finding; ``url`` is null as long as the rule pages have no address of their own."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "message": finding.message,
        "why": finding.why,
        **place_object(finding.place),
        "related": [{"message": other.message, **place_object(other.place)} for other in finding.related],
        "evidence": list(finding.evidence),
        "url": None,
        "fix": fix_object(finding.fix) if finding.fix else None,
        "no_fix": finding.no_fix or None,
    }


def fix_object(fix: Fix) -> dict[str, Any]:
    """A fix with its edits in the text as it was."""
    return {
        "applicability": fix.applicability.value,
        "form": fix.form,
        "message": fix.message,
        "edits": [edit_object(edit) for edit in fix.edits],
    }


def edit_object(edit: Edit) -> dict[str, Any]:
    """One replacement."""
    return {"content": edit.content, **place_object(edit.place)}


def place_object(place: Place) -> dict[str, Any]:
    """File, notebook cell (null elsewhere), and extent of a place."""
    span = place.span
    return {
        "filename": os.path.abspath(place.path),
        "cell": place.cell,
        "location": {"row": span.line, "column": span.column + 1},
        "end_location": {"row": span.end_line, "column": span.end_column + 1},
    }
