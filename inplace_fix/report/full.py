"""The full text report: each finding with its places in the source, why it is wrong, how sure that is, and the fix."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Applicability, Certainty, Edit, Finding, Fix
from inplace_fix.report import edits
from inplace_fix.report.excerpt import TAB, Mark, excerpts
from inplace_fix.report.paint import Line
from inplace_fix.report.texts import Texts, shown

FIX_WORDS = {
    Applicability.SAFE: "fix (safe)",
    Applicability.UNSAFE: "fix (with --unsafe-fixes)",
    Applicability.DISPLAY: "advice",
}


def finding_lines(finding: Finding, texts: Texts) -> Iterator[Line]:
    """One finding as people read it on a terminal."""
    style = finding.severity.value
    yield [(f"{style}[{finding.code}]", style), (f" {finding.name}: ", "strong"), (finding.message, "")]
    marks = [Mark(finding.place, "", main=True)]
    marks += [Mark(related.place, related.message) for related in finding.related]
    lines, width = excerpts(marks, texts, style)
    yield from lines
    if finding.why:
        yield remark(width, "why", finding.why)
    yield remark(width, "sure", sureness(finding))
    if finding.fix is not None:
        yield remark(width, FIX_WORDS[finding.fix.applicability], finding.fix.message)
        yield from mini_diff(finding.fix, texts, width)
    elif finding.no_fix:
        yield remark(width, "no fix", finding.no_fix)
    yield [("", "")]


def sureness(finding: Finding) -> str:
    """How sure the finding is and where that comes from."""
    traced, static = "traced" in finding.evidence, "static" in finding.evidence
    if finding.certainty is Certainty.CERTAIN:
        read = "certain, on a path that was followed through the source" if static else "certain"
    else:
        read = "possible, it hangs on something the source does not tell" if static else "possible"
    return f"{read}; seen in a traced run" if traced else read


def remark(width: int, head: str, words: str) -> Line:
    """A line under the excerpt."""
    return [(" " * width + " = ", "frame"), (f"{head}: ", "strong"), (words, "")]


def mini_diff(fix: Fix, texts: Texts, width: int) -> Iterator[Line]:
    """The lines that a fix changes, each file under its name where there are several."""
    groups: dict[tuple[object, int | None], list[Edit]] = {}
    for edit in fix.edits:
        groups.setdefault((edit.place.path, edit.place.cell), []).append(edit)
    for group in groups.values():
        text = texts.text(group[0].place)
        rows = edits.changed_lines(split_lines(text), split_lines(edits.apply(text, group)))
        if len(groups) > 1:
            yield [(" " * width + " : ", "frame"), (shown(group[0].place.path), "quiet")]
        for sign, row, line in rows:
            colour = "removed" if sign == "-" else "added"
            yield [(f"{row:>{width}} ", "frame"), (f"{sign} {line}".replace("\t", TAB), colour)]
