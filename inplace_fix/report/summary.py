"""The words after a report: what could not be analysed, how much was found by rule, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from inplace_fix.engine import Problem
from inplace_fix.nouns import Applicability, Finding, Severity
from inplace_fix.report.paint import Line
from inplace_fix.report.texts import shown


def problem_line(problem: Problem) -> Line:
    """``path:line: message``."""
    place = f"{shown(problem.path)}:{problem.line}" if problem.line else shown(problem.path)
    return [(f"{place}: ", "strong"), (" ".join(problem.message.split()), "error")]


def statistics(findings: Sequence[Finding]) -> Iterator[Line]:
    """How often each rule was found, the most frequent first, and how many of those have which fix."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.name), []).append(finding)
    for (code, name), group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        fixes = Counter(f.fix.applicability.value if f.fix else "none" for f in group)
        parts = [f"{fixes[kind]} {kind}" for kind in ("safe", "unsafe", "display", "none") if fixes[kind]]
        yield [
            (f"{len(group):6} ", "strong"),
            (f"{code} ", "second"),
            (f"{name} ", ""),
            (f"(fix: {', '.join(parts)})", "quiet"),
        ]


def found(findings: Sequence[Finding], files: int, target: str) -> Iterator[Line]:
    """What a check found and what to do next; ``target`` is what the person named on the command line."""
    checked = f"{count(files, 'file')} checked"
    if not findings:
        yield [("No in-place fault found", "strong"), (f" ({checked}).", "")]
        return
    levels = Counter(finding.severity for finding in findings)
    parts = [count(levels[level], level.value) for level in Severity if levels[level]]
    places = count(len({finding.place.path for finding in findings}), "file")
    yield [(f"Found {', '.join(parts)}", "strong"), (f" in {places} ({checked}).", "")]
    kinds = Counter(finding.fix.applicability for finding in findings if finding.fix and finding.fix.edits)
    safe, unsafe = kinds[Applicability.SAFE], kinds[Applicability.UNSAFE]
    if safe:
        rest = f" (with --unsafe-fixes {safe + unsafe})" if unsafe else ""
        yield [
            (f"{safe} can be repaired safely{rest}: ", ""),
            (f"inplace-fix fix --dry-run {target}", "strong"),
            (" shows the patch.", ""),
        ]
    elif unsafe:
        yield [
            (f"{unsafe} can be repaired under a stated assumption: ", ""),
            (f"inplace-fix fix --dry-run --unsafe-fixes {target}", "strong"),
            (" shows the patch.", ""),
        ]
    else:
        yield [
            ("None can be repaired automatically; each says above what to change, ", ""),
            (f"inplace-fix explain {findings[0].code}", "strong"),
            (" says more.", ""),
        ]


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
