"""Carries plans out in text: all edits of a fault or none, no two on the same ground, one round at a time."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

import codemods
from codemods.steps import CannotRewrite, Step
from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Applicability, Certainty, Edit, Finding, Fix, Place, Severity, Span
from inplace_fix.repair.plan import NoFix, plan
from inplace_fix.rules.base import Fault, rules


class Sources:
    """Texts by path with their parsed forms, each parsed by LibCST once and only when something is to be rewritten."""

    def __init__(self, texts: Mapping[Path, str]) -> None:
        self.texts = dict(texts)
        self._prepared: dict[Path, object] = {}

    def rewritten(self, path: Path, steps: Sequence[Step]) -> str:
        """A file's text with steps carried out. Raises CannotRewrite."""
        prepared = self._prepared.get(path)
        if prepared is None:
            prepared = self._prepared[path] = codemods.prepare(self.texts[path])
        return prepared.apply(steps)  # type: ignore[attr-defined, no-any-return]


def with_plan(fault: Fault, sources: Sources) -> Finding:
    """The finding with its fix, edits filled in, or with the reason why there is none."""
    if not fault.writes and fault.result is None and fault.finding.no_fix:
        return fault.finding  # only a run showed it, and the run says what to do
    planned = plan(fault)
    if isinstance(planned, NoFix):
        return fault.finding.with_fix(None, fault.finding.no_fix or planned.reason)
    try:
        edits = edits_of(planned, sources)
    except CannotRewrite as error:
        return fault.finding.with_fix(None, fault.finding.no_fix or error.reason)
    if not edits:
        return fault.finding.with_fix(None, fault.finding.no_fix or "the edit would change nothing")
    message, applicability = planned.message, planned.applicability
    if fault.assumed:
        message = f"{message}; assuming {fault.assumed}"
        applicability = applicability if applicability is Applicability.DISPLAY else Applicability.UNSAFE
    if hangs_on_input(fault.finding) and applicability is Applicability.SAFE:
        message, applicability = f"{message}; assuming that the input requires grad", Applicability.UNSAFE
    return fault.finding.with_fix(Fix(planned.form, message, applicability, planned.steps, edits))


def hangs_on_input(finding: Finding) -> bool:
    """Whether a fault is one only for some callers: it is told, and not repaired unasked."""
    return finding.severity is Severity.NOTE and finding.certainty is Certainty.POSSIBLE and not policy(finding.code)


def policy(code: str) -> bool:
    """Whether a rule is asked for by a policy; its findings are notes by nature."""
    return any(rule.code == code and rule.policy != "unsafe" for rule in rules())


def by_path(fix: Fix) -> dict[Path, list[Step]]:
    """The steps of a fix by file."""
    grouped: dict[Path, list[Step]] = {}
    for path, step in fix.steps:
        grouped.setdefault(path, []).append(step)
    return grouped


def edits_of(fix: Fix, sources: Sources) -> tuple[Edit, ...]:
    """What a fix changes, as replacements of text. Raises CannotRewrite, also for a file that is not at hand."""
    edits: list[Edit] = []
    for path, steps in by_path(fix).items():
        if path not in sources.texts:
            raise CannotRewrite(steps[0].span, f"the place to change is in {path.name}, which was not given")
        edits += difference(path, sources.texts[path], sources.rewritten(path, steps))
    return tuple(edits)


def difference(path: Path, before: str, after: str) -> list[Edit]:
    """The edits that turn one text into another, line by line, with equal ends of lines trimmed away."""
    old, new = split_lines(before), split_lines(after)
    # most of a file is the same: what is equal at both ends is set aside before the costly comparison
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    edits = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        removed, added = "".join(old[i1:i2]), "".join(new[j1:j2])
        head = _common(removed, added)
        tail = _common(removed[head:][::-1], added[head:][::-1])
        start = _position(removed[:head], first + i1 + 1)
        end = _position(removed[: len(removed) - tail], first + i1 + 1)
        edits.append(Edit(Place(path, Span(*start, *end)), added[head : len(added) - tail]))
    return edits


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


def _position(text: str, line: int) -> tuple[int, int]:
    lines = split_lines(text)
    if not lines:
        return line, 0
    if lines[-1].endswith(("\n", "\r")):
        return line + len(lines), 0
    return line + len(lines) - 1, len(lines[-1])


def wanted(finding: Finding, unsafe: bool) -> bool:
    """Whether a fix may be applied."""
    if finding.fix is None or finding.fix.applicability is Applicability.DISPLAY:
        return False
    return unsafe or finding.fix.applicability is Applicability.SAFE


def round_of(findings: Sequence[Finding], sources: Sources, unsafe: bool) -> tuple[dict[Path, str], list[Finding]]:
    """One round: the fixes that go together, carried out at once; the rest waits for the next round.

    Two fixes clash where their spans overlap or where carrying them out together fails; the later one waits.
    """
    chosen: list[Finding] = []
    steps: dict[Path, list[Step]] = {}
    for finding in findings:
        if not wanted(finding, unsafe) or finding.fix is None:
            continue
        new = fresh_steps(finding.fix, steps)
        if any(_overlap(a.span, b.span) for path, more in new.items() for a in more for b in steps.get(path, [])):
            continue
        for path, more in new.items():
            steps.setdefault(path, []).extend(more)
        chosen.append(finding)
    try:
        return {path: sources.rewritten(path, every) for path, every in steps.items() if every}, chosen
    except CannotRewrite:
        return one_by_one(chosen, sources)


def one_by_one(findings: Sequence[Finding], sources: Sources) -> tuple[dict[Path, str], list[Finding]]:
    """The same where not all go together: each is tried on top of those that did."""
    steps: dict[Path, list[Step]] = {}
    texts: dict[Path, str] = {}
    applied: list[Finding] = []
    for finding in findings:
        assert finding.fix is not None
        trial = {path: [*steps.get(path, []), *more] for path, more in fresh_steps(finding.fix, steps).items()}
        try:
            texts.update({path: sources.rewritten(path, every) for path, every in trial.items() if every})
        except CannotRewrite:
            continue
        steps.update(trial)
        applied.append(finding)
    return texts, applied


def fresh_steps(fix: Fix, steps: Mapping[Path, Sequence[Step]]) -> dict[Path, list[Step]]:
    """The steps of a fix that are not already among ``steps``: two faults may ask for the same clone."""
    return {path: [s for s in more if s not in steps.get(path, ())] for path, more in by_path(fix).items()}


def _overlap(first: Span, second: Span) -> bool:
    start = (first.line, first.column) < (second.end_line, second.end_column)
    end = (second.line, second.column) < (first.end_line, first.end_column)
    return start and end
