"""The one engine behind the command line, the editor and the review page: sources in, findings and new sources out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from inplace_fix.analysis.entries import analyse
from inplace_fix.analysis.facts import Facts
from inplace_fix.analysis.project import Project
from inplace_fix.analysis.units import Unit
from inplace_fix.catalog.reader import load
from inplace_fix.nouns import Finding, Severity
from inplace_fix.rules.base import Fault, rules
from inplace_fix.rules.life import with_life
from inplace_fix.rules.traced import join
from inplace_fix.source import SourceError, read_source
from inplace_fix.trace.evidence import Evidence
from inplace_fix.trace.evidence import load as load_evidence
from inplace_fix.trace.glimpses import seen_of

if TYPE_CHECKING:
    from inplace_fix.repair.carry_out import Sources

POLICIES = ("unsafe", "strict", "all")


@dataclass(frozen=True, slots=True)
class Options:
    """What a check or a fix is asked for, apart from the files.

    ``policy`` is one of ``POLICIES``; ``unsafe`` also applies fixes that rest on an assumption; ``evidence`` are
    evidence files of traced runs; ``select`` and ``ignore`` are prefixes of rule codes. ``writes`` names the user's own
    functions that write to an argument in place, by qualified name, with the argument's position.
    ``keep`` is asked for each finding, with the text it was found in (in the second round of a fix the text after the
    first), whether to report and repair it: suppressions, baselines and a person's answers come in this way.
    ``repairs`` off leaves the findings without fixes: working those out costs more than finding the faults.
    """

    policy: str = "unsafe"
    unsafe: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    evidence: tuple[Path, ...] = ()
    root: Path = field(default_factory=Path.cwd)
    writes: Mapping[str, int] = field(default_factory=dict)
    keep: Callable[[Finding, str], bool] | None = None
    repairs: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be read, parsed, analysed or written; the others still are."""

    path: Path
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file gave: its text, its findings, and after a fix the new text and what was applied or left."""

    path: Path
    text: str
    findings: tuple[Finding, ...] = ()
    new_text: str | None = None
    applied: tuple[Finding, ...] = ()
    left: tuple[Finding, ...] = ()
    problem: Problem | None = None
    notes: tuple[str, ...] = ()


def check(
    paths: Sequence[Path], options: Options, texts: dict[Path, str] | None = None, known: Sequence[Path] = ()
) -> Iterator[FileResult]:
    """Analyse the files together (calls and imports among them are followed) and yield one result a file, in order.

    ``texts`` overrides what is on disk (an editor's unsaved buffer, standard input). Imports of ``known`` files are
    followed as well, without a result for them.
    """
    yield from Workspace([*paths, *known], texts or {}).check_all(paths, options)


def fix(
    paths: Sequence[Path], options: Options, texts: dict[Path, str] | None = None, known: Sequence[Path] = ()
) -> Iterator[FileResult]:
    """As ``check``, with the fixes that ``options`` allow carried out to a fixed point in ``new_text``; writes nothing.

    ``findings`` are those of the text as it was; ``applied`` and ``left`` part them. A fix may change several files:
    all results are known before the first is yielded.
    """
    original = Workspace([*paths, *known], texts or {})
    results = {result.path: result for result in original.check_all(paths, options)}
    vain: set[tuple[object, ...]] = set()
    for _ in range(MOST_RESTARTS):
        repaired = repair(results, options, texts or {}, vain, known)
        if not repaired.in_vain - vain:
            break
        vain |= repaired.in_vain
    for path, result in results.items():
        if result.problem is not None:
            yield result
            continue
        text = repaired.texts[path]
        new_text = text if text != result.text else None
        yield replace(result, new_text=new_text, applied=tuple(repaired.applied[path]), left=repaired.left[path])


@dataclass(frozen=True, slots=True)
class Repaired:
    """What the rounds of a fix came to; ``in_vain`` are the faults that were still there after their fix."""

    texts: dict[Path, str]
    applied: dict[Path, list[Finding]]
    left: dict[Path, tuple[Finding, ...]]
    in_vain: set[tuple[object, ...]]


def repair(
    results: Mapping[Path, FileResult],
    options: Options,
    texts: Mapping[Path, str],
    vain: set[tuple[object, ...]],
    known: Sequence[Path] = (),
) -> Repaired:
    """Carry out fixes round by round until nothing changes; faults in ``vain`` are left as they are."""
    from inplace_fix.repair.carry_out import Sources, round_of
    from inplace_fix.repair.moving import told_by_run

    current = {path: result.text for path, result in results.items() if result.problem is None}
    applied: dict[Path, list[Finding]] = {path: [] for path in results}
    left = {path: result.findings for path, result in results.items()}
    in_vain: set[tuple[object, ...]] = set()
    tries: Counter[tuple[object, ...]] = Counter()
    for _ in range(MOST_ROUNDS):
        findings = [finding for path in results for finding in left[path] if identity(finding) not in vain | in_vain]
        before = Counter(told(finding) for path in results for finding in left[path])
        changed, done = round_of(findings, Sources(current), options.unsafe)
        changed = {path: text for path, text in changed.items() if text != current[path]}
        if not changed:
            break
        for finding in done:
            applied[finding.place.path].append(finding)
        earlier = dict(current)
        current.update(changed)
        options = replace(options, evidence=())  # its places are those of the text that was run
        workspace = Workspace([*results, *known], {**texts, **current})
        # looked at again is what changed, and what was to be mended: another file's findings can only be fewer
        again = {*changed, *(finding.place.path for finding in done)}
        undone = {path: [f for f in left[path] if f not in done] for path in results}
        left = {path: tuple(undone[path]) for path in results}
        for path in again:
            found = workspace.check(path, options).findings
            left[path] = (*found, *told_by_run(undone[path], found, earlier, current))
        after = Counter(told(finding) for path in results for finding in left[path])
        tries.update({identity(finding) for finding in done})
        in_vain |= {identity(f) for f in done if after[told(f)] >= before[told(f)] or tries[identity(f)] >= MOST_TRIES}
    return Repaired(current, applied, left, in_vain)


def identity(finding: Finding) -> tuple[object, ...]:
    """What makes a finding the same before and after edits: its own statement, which the message quotes first."""
    quoted = QUOTED.match(finding.message)
    return finding.place.path, finding.code, quoted[0] if quoted else finding.message


def told(finding: Finding) -> tuple[object, ...]:
    """The same with the other statements that it speaks of, as long as an edit only moves lines."""
    return finding.place.path, finding.code, LINE_NUMBER.sub("", finding.message)


QUOTED = re.compile(r"`[^`]*`")
LINE_NUMBER = re.compile(r"\(line \d+\)")
MOST_TRIES = 3  # a statement whose fault is there again after this many repairs is left as it is
MOST_RESTARTS = 4  # a fix that does not remove its fault is taken back by starting again without it
MOST_ROUNDS = 12  # a fix that is still not done after this many rounds is left as it is


class Workspace:
    """Files under one analysis: each is read once, parsed once, and its findings planned with their edits."""

    def __init__(self, paths: Sequence[Path], texts: Mapping[Path, str]) -> None:
        self._given = dict(texts)
        self._texts: dict[Path, str] = {}
        self._evidence: Evidence | None = None
        self._paths = tuple(paths)
        self._elsewhere: dict[Path, list[Finding]] = {}  # certain faults that the run of another file showed
        self.project = self._as_seen = Project(self.read)
        self.project.know(paths)

    def check_all(self, paths: Sequence[Path], options: Options) -> list[FileResult]:
        """The results of files; a program that runs through several of them shows what is certain in each."""
        results = [self.check(path, options) for path in paths]
        return [self.completed(result) for result in results]

    def completed(self, result: FileResult) -> FileResult:
        """A file's result with what other files' runs proved about it in place of what hung on its callers."""
        proved = self._elsewhere.get(result.path)
        if not proved or result.problem is not None:
            return result
        found = {(f.place.span, f.code): f for f in result.findings}
        for finding in proved:
            key = (finding.place.span, finding.code)
            known = found.get(key)
            if known is None:
                found[key] = finding
            elif known.severity is not Severity.ERROR:
                found[key] = replace(finding, evidence=tuple(dict.fromkeys((*finding.evidence, *known.evidence))))
        ordered = sorted(found.values(), key=lambda f: (f.place.span, f.code))
        return replace(result, findings=tuple(ordered))

    def read(self, path: Path) -> str:
        """The text of a file. Raises OSError, UnicodeError, SyntaxError (for a bad encoding cookie)."""
        text = self._texts.get(path)
        if text is None:
            text = self._given.get(path)
            if text is None:
                text = read_source(path).text
            self._texts[path] = text
        return text

    def check(self, path: Path, options: Options) -> FileResult:
        """Analyse one file and plan the repair of what was found."""
        try:
            text = self.read(path)
        except SourceError as error:
            return FileResult(path, "", problem=Problem(path, error.message, error.line))
        try:
            unit = self.project.add(path, text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            return FileResult(path, text, problem=Problem(path, f"cannot be parsed: {reason}", line))
        facts = analyse(self.project, unit, load(), options.writes, thorough=options.policy != "unsafe")
        faults = faults_of(facts, options)
        evidence = self.evidence(options)
        if evidence is not None:
            faults = [
                fault for fault in self.joined(faults, evidence, unit, options) if asked(fault.finding.code, options)
            ]
        findings = self.plan(faults, text, path, options)
        notes = tuple(f"{site.line}: not followed to the end ({reason})" for site, reason in facts.gave_up)
        return FileResult(path, text, tuple(findings), notes=notes)

    def evidence(self, options: Options) -> Evidence | None:
        """The evidence of traced runs about the sources as they are; read once. Raises EvidenceError."""
        if options.evidence and self._evidence is None:
            self._evidence = load_evidence(options.evidence, options.root)
            self._as_seen = self.project.as_seen(seen_of(self._evidence))
        return self._evidence

    def joined(self, faults: list[Fault], evidence: Evidence, unit: Unit, options: Options) -> list[Fault]:
        """The faults of a file with those that runs showed, and those found once runs told the types of its values.

        The analysis with those types is a second one, so that what the source alone proves stays told apart.
        """
        facts = analyse(self._as_seen, unit, load(), options.writes)
        return join(faults, evidence, unit, faults_of(facts, options), facts.writes)

    def plan(self, faults: Sequence[Fault], text: str, path: Path, options: Options) -> list[Finding]:
        """The findings of one file, each with its fix or why there is none; findings elsewhere are left out."""
        from inplace_fix.repair.carry_out import Sources, with_plan

        sources = Sources({**self._texts, path: text})
        findings: dict[tuple[object, ...], Finding] = {}
        for fault in faults:
            other = fault.finding.place.path
            if other != path:
                if fault.finding.severity is Severity.ERROR and other in self._paths:
                    self.note_elsewhere(fault, sources, options)
                continue
            if options.keep is not None and not options.keep(fault.finding, text):
                continue
            key = (fault.finding.place.span, fault.finding.code)
            if key not in findings:
                findings[key] = with_plan(fault, sources) if options.repairs else fault.finding
        return sorted(findings.values(), key=lambda f: (f.place.span, f.code))

    def note_elsewhere(self, fault: Fault, sources: Sources, options: Options) -> None:
        """Keep a fault that lies in another of the files."""
        from inplace_fix.repair.carry_out import with_plan

        other = fault.finding.place.path
        if options.keep is None or options.keep(fault.finding, self.read(other)):
            self._elsewhere.setdefault(other, []).append(with_plan(fault, sources))


def faults_of(facts: Facts, options: Options) -> list[Fault]:
    """What the rules that are asked say of a file."""
    return [
        with_life(fault)
        for rule in rules()
        if POLICIES.index(rule.policy) <= POLICIES.index(options.policy) and asked(rule.code, options)
        for fault in rule.check(facts)
    ]


def asked(code: str, options: Options) -> bool:
    """Whether a rule is selected and not ignored; the longer prefix decides."""
    chosen = max((len(p) for p in options.select if code.startswith(p)), default=0 if options.select else 1)
    dropped = max((len(p) for p in options.ignore if code.startswith(p)), default=0)
    return chosen > 0 and chosen > dropped


def findings_of(results: Iterable[FileResult]) -> list[Finding]:
    """All findings of all files, in order."""
    return [finding for result in results for finding in result.findings]
