"""``inplace-fix check``: analyse, judge each finding by settings and comments, report."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from inplace_fix import engine
from inplace_fix.commands.progress import tracked
from inplace_fix.commands.request import Job, Request, prepare, root_of
from inplace_fix.commands.streams import Streams
from inplace_fix.engine import FileResult, Problem
from inplace_fix.nouns import Finding
from inplace_fix.report import formats, paint, summary
from inplace_fix.report.formats import Format
from inplace_fix.report.paint import Line
from inplace_fix.report.texts import Texts, shown
from inplace_fix.suppress import UNUSED, sift

MANY_NOTES = 3  # more are counted
MANY_PATHS = 4  # more are not repeated one by one; pre-commit names every file

Key = tuple[Path, int | None]


@dataclass(frozen=True, slots=True)
class Way:
    """How a check is to be reported."""

    form: Format = Format.FULL
    exit_zero: bool = False
    statistics: bool = False
    verbose: bool = False
    write_baseline: Path | None = None


@dataclass(slots=True)
class Seen:
    """What a run over all files gave, notebooks already by cell.

    ``raw`` are the findings before they were led to cells, each with the text that its rows count in; ``stale`` is
    what evidence of runs was left out.
    """

    findings: list[Finding] = field(default_factory=list)
    raw: list[tuple[Finding, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    texts: dict[Key, str] = field(default_factory=dict)
    notes: list[Problem] = field(default_factory=list)
    stale: tuple[str, ...] = ()


def check(request: Request, streams: Streams, way: Way) -> int:
    """Run the command; the exit status is 0, 1 or 2 as the design says."""
    job = prepare(request, streams)
    results = tracked(engine.check(job.files, job.options, job.texts), len(job.files), streams.stderr)
    seen = collect(results, job)
    if way.write_baseline is not None:
        from inplace_fix import baseline

        held = baseline.write(way.write_baseline, seen.raw)
        paint.write([[(f"{way.write_baseline} holds {summary.count(held, 'finding')} now.", "")]], streams.stderr)
        seen.findings.clear()
    formats.write(way.form, seen.findings, seen.problems, Texts(seen.texts), streams.stdout)
    if way.statistics and way.form.for_people:
        paint.write(summary.statistics(seen.findings), streams.stdout)
    streams.stdout.flush()
    tell(seen, job, streams, way.verbose)
    checked = len(set(job.files) - {problem.path for problem in seen.problems})
    if way.form.for_people and way.write_baseline is None and checked:
        paint.write(summary.found(seen.findings, checked, words_of(request)), streams.stderr)
    return status(seen, way.exit_zero)


def collect(results: Iterable[FileResult], job: Job) -> Seen:
    """Judge every result: severities, comments, per-file ignores, baseline, changed lines."""
    seen = Seen(problems=list(job.problems), stale=job.stale())
    for result in results:
        if result.problem is not None:
            seen.problems.append(result.problem)
            continue
        seen.notes += notes_of(result)
        kept = [finding for finding in judged(result, job) if job.wanted(finding, result.text)]
        if kept:
            notebook = job.notebooks.get(result.path)
            seen.raw += [(finding, result.text) for finding in kept]
            seen.findings += [notebook.placed(finding) if notebook else finding for finding in kept]
            seen.texts |= texts_of(result.path, result.text, job)
    return seen


def notes_of(result: FileResult) -> Iterator[Problem]:
    """What the engine notes of a file; a note that begins with a row speaks of that row."""
    for note in result.notes:
        row, _, words = note.partition(": ")
        yield Problem(result.path, words, int(row)) if row.isdigit() else Problem(result.path, note)


def judged(result: FileResult, job: Job) -> Iterator[Finding]:
    """The findings that no comment silences, and the comments that silence nothing, in the order of the file."""
    kept, unused = sift(result.findings, result.text, result.path, job.asked)
    unused = unused if job.asked(UNUSED) else []
    for finding in sorted([*kept, *unused], key=lambda finding: finding.place.span):
        yield job.severe(finding)


def texts_of(path: Path, text: str, job: Job) -> dict[Key, str]:
    """The texts that a report quotes for one file: its own, or its cells'."""
    notebook = job.notebooks.get(path)
    if notebook is None:
        return {(path, None): text}
    return {(path, number): source for number, source in notebook.sources(text).items()}


def tell(seen: Seen, job: Job, streams: Streams, verbose: bool) -> None:
    """Say on standard error what could not be analysed."""
    paint.write((summary.problem_line(problem) for problem in seen.problems), streams.stderr)
    if verbose:
        paint.write((summary.problem_line(note) for note in seen.notes), streams.stderr)
    elif seen.notes:
        words = f"{summary.count(len(seen.notes), 'place')} not followed to the end; --verbose names them."
        paint.write([[(words, "quiet")]], streams.stderr)
    for words in seen.stale if verbose else seen.stale[:MANY_NOTES]:
        paint.write([[(f"{words}.", "warning")]], streams.stderr)
    if not verbose and len(seen.stale) > MANY_NOTES:
        more = f"... and about {summary.count(len(seen.stale) - MANY_NOTES, 'more file')}; --verbose names them."
        paint.write([[(more, "quiet")]], streams.stderr)
    paint.write(version_note(job.settings.torch_version), streams.stderr)
    if not job.files and not seen.problems:
        paint.write([[("No Python files or notebooks found there.", "warning")]], streams.stderr)


def version_note(stated: str) -> Iterator[Line]:
    """A line where the project runs another torch than the one that the catalog's facts were measured with."""
    if not stated:
        return
    from inplace_fix.catalog.reader import load

    measured = load().torch_version
    if measured.split(".")[:2] != stated.split(".")[:2]:
        words = f"What torch does was measured with {measured}; `torch-version` says {stated}, where some may differ."
        yield [(words, "quiet")]


def status(seen: Seen, exit_zero: bool) -> int:
    """2 where something failed, 1 where something was found; unused comments alone count as nothing."""
    if seen.problems:
        return 2
    return int(not exit_zero and any(finding.code != UNUSED for finding in seen.findings))


def words_of(request: Request) -> str:
    """The options and paths that a following command needs to see the same, as the person would write them."""
    words: list[str] = []
    for name, value in (
        ("--policy", request.policy),
        ("--select", ",".join(request.select)),
        ("--ignore", ",".join(request.ignore)),
        ("--config", request.config),
        ("--baseline", request.baseline),
        ("--diff-from", request.diff_from),
    ):
        words += [name, str(value)] if value else []
    for name, values in (("--trace", request.traces), ("--exclude", request.exclude)):
        words += [word for value in values for word in (name, str(value))]
    if request.isolated:
        words.append("--isolated")
    paths = request.paths or (Path("."),)
    if len(paths) > MANY_PATHS:
        paths = (Path(shown(root_of(paths))),)
    return shlex.join([*words, *(str(path) for path in paths)])
