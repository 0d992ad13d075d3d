"""What a fix did, in words: each repair with its reason, the verdict of a proof, what is left, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inplace_fix.nouns import Applicability, Finding, Severity
from inplace_fix.report.paint import Line
from inplace_fix.report.summary import count
from inplace_fix.report.texts import where


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a fix; ``refused`` where a proof stopped it, ``patch`` where only a patch was made."""

    applied: Sequence[Finding]
    files: int
    left: Sequence[Finding]
    refused: bool = False
    patch: bool = False
    from_stdin: bool = False


def applied(findings: Iterable[Finding]) -> Iterator[Line]:
    """Each repair: what was wrong and why, and what was done under which assumption."""
    for finding in findings:
        yield [
            (f"{where(finding.place)}: ", "strong"),
            (finding.code, finding.severity.value),
            (f" {finding.message}", ""),
        ]
        if finding.why:
            yield [("    why: ", "strong"), (finding.why, "")]
        if finding.fix is not None:
            yield [(f"    {finding.fix.applicability.value} fix: ", "added"), (finding.fix.message, "")]


def verdict(status: str, reason: str, details: Sequence[str], accepted: bool) -> Iterator[Line]:
    """The outcome of ``--verify``."""
    yield [(f"verified: {status}. ", "added" if accepted else "error"), (reason, "")]
    for detail in details:
        yield [(f"    {detail}", "quiet")]


def summary(outcome: Outcome, target: str, patch_file: Path | None) -> Iterator[Line]:
    """How many were repaired, how many are left, and the next command."""
    if outcome.refused and not outcome.patch:
        yield [("Nothing was written", "strong"), (": the proof did not hold.", "")]
        return
    if outcome.applied:
        faulty = any(finding.severity is not Severity.NOTE for finding in outcome.applied)
        noun = "fault" if faulty else "place"  # under the policies strict and all, right code is rewritten as well
        verbs = {"fault": ("Repaired", "The patch repairs"), "place": ("Rewrote", "The patch rewrites")}
        done = verbs[noun][outcome.patch]
        into = f", in {patch_file}" if patch_file else ""
        yield [
            (f"{done} {count(len(outcome.applied), noun)}", "strong"),
            (f" in {count(outcome.files, 'file')}{into}.", ""),
        ]
    elif outcome.files:
        yield [
            ("The patch holds" if outcome.patch else "Wrote", "strong"),
            (f" your own edits in {count(outcome.files, 'file')}.", ""),
        ]
    elif not outcome.left:
        yield [("Nothing to repair.", "strong")]
    yield from _left(outcome.left, target)
    if outcome.patch and outcome.applied and not outcome.from_stdin:
        how = f"git apply {patch_file}" if patch_file else f"inplace-fix fix {target}"
        yield [("Apply it with: ", ""), (how, "strong")]


def _left(left: Sequence[Finding], target: str) -> Iterator[Line]:
    if not left:
        return
    kinds = Counter(f.fix.applicability if f.fix and f.fix.edits else None for f in left)
    unsafe = kinds[Applicability.UNSAFE]
    yield [(f"{count(len(left), 'finding')} left", "strong"), (": ", ""), (", ".join(_reasons(kinds)), ""), (".", "")]
    if unsafe:
        yield [("See the assumptions with: ", ""), (f"inplace-fix fix --dry-run --unsafe-fixes {target}", "strong")]


def _reasons(kinds: Counter[Applicability | None]) -> Iterator[str]:
    if kinds[Applicability.UNSAFE]:
        yield f"{kinds[Applicability.UNSAFE]} with a fix that rests on an assumption"
    if kinds[Applicability.SAFE]:
        yield f"{kinds[Applicability.SAFE]} whose fix collides with another"
    personal = kinds[Applicability.DISPLAY] + kinds[None]
    if personal:
        yield f"{personal} that {'needs' if personal == 1 else 'need'} a person"
