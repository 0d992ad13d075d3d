"""Findings as workflow commands, which GitHub Actions shows beside the changed lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inplace_fix.engine import Problem
from inplace_fix.nouns import Finding, Severity
from inplace_fix.report.texts import shown

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def lines(findings: Iterable[Finding], problems: Iterable[Problem]) -> Iterator[str]:
    """One command a finding and a problem. Notebook cells have no rows there, so only the file is named."""
    for finding in findings:
        span = finding.place.span
        properties = {"title": f"{finding.code} {finding.name}", "file": shown(finding.place.path)}
        message = finding.message
        if finding.place.cell is None:
            properties |= {"line": str(span.line), "endLine": str(span.end_line)}
            if span.line == span.end_line:  # columns over several lines are refused
                properties |= {"col": str(span.column + 1), "endColumn": str(span.end_column + 1)}
        else:
            message = f"cell {finding.place.cell}, line {span.line}: {message}"
        yield _command(COMMANDS[finding.severity], properties, message)
    for problem in problems:
        properties = {"title": "inplace-fix", "file": shown(problem.path)}
        if problem.line:
            properties["line"] = str(problem.line)
        yield _command("error", properties, problem.message)


def _command(name: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{key}={_escaped(value, property_=True)}" for key, value in properties.items())
    return f"::{name} {listed}::{_escaped(message)}"


def _escaped(text: str, *, property_: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if property_ else text
