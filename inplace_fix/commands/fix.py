"""``inplace-fix fix``: repair, prove it where asked, then write the files, or print or save the patch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from inplace_fix import engine
from inplace_fix.commands.check import Seen, notes_of, tell, texts_of, words_of
from inplace_fix.commands.progress import tracked
from inplace_fix.commands.request import Job, Request, UsageError, prepare, root_of
from inplace_fix.commands.streams import Streams
from inplace_fix.commands.write import Change, write_changes
from inplace_fix.engine import FileResult, Problem
from inplace_fix.notebook.cells import NotebookError
from inplace_fix.nouns import Finding
from inplace_fix.report import formats, paint, repairs
from inplace_fix.report.formats import Format
from inplace_fix.report.patch import patch
from inplace_fix.report.texts import Texts, shown
from inplace_fix.source import SourceError, decode, read_source, replace_file

STDIN = (Path("-"),)


@dataclass(frozen=True, slots=True)
class Way:
    """How a fix is to be carried out."""

    form: Format = Format.FULL
    dry_run: bool = False
    patch_file: Path | None = None
    html_file: Path | None = None
    unsafe: bool = False
    interactive: bool = False
    verify: str | None = None
    exit_zero: bool = False
    verbose: bool = False

    @property
    def only_patch(self) -> bool:
        """Whether the files themselves stay as they are."""
        return self.dry_run or self.patch_file is not None or self.html_file is not None


@dataclass(slots=True)
class Repaired:
    """What a fix gave: the files to change, what was applied, and what is left."""

    changes: list[Change] = field(default_factory=list)
    applied: list[Finding] = field(default_factory=list)
    left: Seen = field(default_factory=Seen)


def fix(request: Request, streams: Streams, way: Way) -> int:
    """Run the command; the exit status is 0, 1 or 2 as the design says."""
    from_stdin = request.paths == STDIN
    if way.interactive and from_stdin:
        raise UsageError("--interactive asks on standard input, so the source cannot come from there")
    job = prepare(request, streams, unsafe=way.unsafe or way.interactive)
    keep: Callable[[Finding, str], bool] = job.repairable
    if way.interactive:
        from inplace_fix.commands.choose import choose

        job, keep = choose(job, streams)
    options = replace(job.options, keep=keep)
    results = list(tracked(engine.fix(job.files, options, job.texts), len(job.files), streams.stderr))
    repaired = collect(results, job, original_rows=way.only_patch)
    verdict = prove(repaired, way.verify, streams) if way.verify is not None else 0
    refused = bool(verdict) and not way.only_patch
    if refused:
        repaired = Repaired(left=collect(results, job, original_rows=True).left)
    else:
        deliver(repaired, job, streams, way, from_stdin)
    words = f"--unsafe-fixes {words_of(request)}" if way.unsafe else words_of(request)
    if way.html_file is not None:
        from inplace_fix.commands.review import review

        put_file("--html", way.html_file, review(results, job, whole_patch(repaired), f"inplace-fix fix {words}"))
        paint.write([[("The review page is in ", ""), (shown(way.html_file), "strong"), (".", "")]], streams.stderr)
    # what goes to standard output as code must stand there alone
    told = streams.stderr if way.dry_run or from_stdin else streams.stdout
    formats.write(way.form, repaired.left.findings, repaired.left.problems, Texts(repaired.left.texts), told)
    told.flush()
    tell(repaired.left, job, streams, way.verbose)
    if way.form.for_people or told is not streams.stderr:
        paint.write(repairs.applied(repaired.applied), streams.stderr)
        outcome = repairs.Outcome(
            repaired.applied,
            len(repaired.changes),
            repaired.left.findings,
            refused,
            way.only_patch,
            from_stdin,
        )
        paint.write(repairs.summary(outcome, words, way.patch_file), streams.stderr)
    return max(verdict, _status(repaired, way))


def collect(results: Iterable[FileResult], job: Job, *, original_rows: bool) -> Repaired:
    """Sort results into changes, applied and left; ``original_rows`` counts what is left in the files as they were."""
    repaired = Repaired(left=Seen(problems=list(job.problems), stale=job.stale()))
    for result in results:
        if result.problem is not None:
            repaired.left.problems.append(result.problem)
            continue
        if result.new_text is None and result.path in job.originals:
            result = replace(result, new_text=result.text)  # a person's own edit alone
        if result.new_text is not None:
            try:
                repaired.changes.append(change_of(result, job))
            except (SourceError, NotebookError) as error:
                repaired.left.problems.append(Problem(result.path, error.message, error.line))
                result = replace(result, new_text=None, applied=(), left=result.findings)
        repaired.applied += [place(finding, job) for finding in result.applied]
        repaired.left.notes += notes_of(result)
        text = result.text if original_rows or result.new_text is None else result.new_text
        left = _in_old_rows(result) if original_rows else result.left
        if left:
            repaired.left.findings += [place(job.severe(finding), job, text) for finding in left]
            repaired.left.texts |= texts_of(result.path, text, job)
    return repaired


def change_of(result: FileResult, job: Job) -> Change:
    """The bytes to write for a result. Raises SourceError or NotebookError."""
    path, new_text = result.path, result.new_text or ""
    fixes = frozenset(
        frozenset(edit.place.path for edit in finding.fix.edits) for finding in result.applied if finding.fix
    )
    notebook = job.notebooks.get(path)
    if notebook is not None:
        return Change(path, notebook.data, notebook.encoded(new_text), new_text, fixes)
    source = decode(job.data[path], path) if path in job.data else read_source(path)
    text = job.originals.get(path, result.text)
    if source.text != text:
        raise SourceError(path, "changed on disk since it was read, so it was left alone; run the command again")
    if source.encode(text) != source.data:
        raise SourceError(path, f"its encoding {source.encoding} does not survive a round trip; save it as UTF-8 first")
    return Change(path, source.data, source.encode(new_text), new_text, fixes)


def place(finding: Finding, job: Job, text: str | None = None) -> Finding:
    """The finding led to its notebook cell where it is in a notebook."""
    notebook = job.notebooks.get(finding.place.path)
    if notebook is None:
        return finding
    return (notebook if text is None else replace(notebook, text=text)).placed(finding)


def prove(repaired: Repaired, command: str | None, streams: Streams) -> int:
    """Run the program before and after; 0 where the results agree, 1 where they differ, 2 where nothing is proved."""
    changed = {change.path: change.text for change in repaired.changes if change.path.suffix != ".ipynb"}
    if not changed or command is None:
        return 0
    from inplace_fix.verify import verify

    verdict = verify(command, changed, _root(list(changed)))
    paint.write(repairs.verdict(verdict.status, verdict.reason, verdict.details, verdict.accepted), streams.stderr)
    if verdict.accepted:
        return 0
    return 2 if verdict.status == "cannot run" else 1


def deliver(repaired: Repaired, job: Job, streams: Streams, way: Way, from_stdin: bool) -> None:
    """Hand the result over: as a patch, on standard output, or into the files."""
    if way.only_patch:
        whole = whole_patch(repaired)
        if way.patch_file is not None:
            put_file("--patch", way.patch_file, whole)
        if way.dry_run:
            put_bytes(streams, whole)
    elif from_stdin:
        changed = {change.path: change.new for change in repaired.changes}
        for path in job.data:
            put_bytes(streams, changed.get(path, job.data[path]))
    else:
        repaired.left.problems += write_changes(repaired.changes)
        failed = {problem.path for problem in repaired.left.problems}
        repaired.applied = [finding for finding in repaired.applied if finding.place.path not in failed]
        repaired.changes = [change for change in repaired.changes if change.path not in failed]


def whole_patch(repaired: Repaired) -> bytes:
    """The patch of all files."""
    return b"".join(patch(change.path, change.old, change.new) for change in repaired.changes)


def put_file(option: str, path: Path, data: bytes) -> None:
    """Write the file that an option names. Raises UsageError."""
    try:
        replace_file(path, data)
    except SourceError as error:
        raise UsageError(f"{option} {path}: {error.message}") from None


def put_bytes(streams: Streams, data: bytes) -> None:
    """Write bytes to standard output as they are; a stream of text alone (in tests) gets them decoded."""
    streams.stdout.flush()
    raw = getattr(streams.stdout, "buffer", None)
    if raw is not None:
        raw.write(data)
        raw.flush()
    else:
        streams.stdout.write(data.decode("utf-8", "replace"))


def _in_old_rows(result: FileResult) -> list[Finding]:
    """What is left, in the rows of the text as it was: a finding whose line the repair moved is looked up there."""
    if result.new_text is None:
        return list(result.left)
    old, new = Texts({(result.path, None): result.text}), Texts({(result.path, None): result.new_text})
    pool = list(result.findings)
    left = []
    for finding in result.left:
        line = new.line(finding.place).strip()
        twin = next((f for f in pool if f.code == finding.code and old.line(f.place).strip() == line), None)
        if twin is not None:
            pool.remove(twin)
            left.append(twin)
    return left


def _root(paths: Sequence[Path]) -> Path:
    """The tree to copy for a proof: the repository or current folder that holds all files, else what they share."""
    top = next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / ".git").exists()), Path.cwd())
    for root in (top, Path.cwd()):
        if all(Path(os.path.abspath(path)).is_relative_to(root) for path in paths):
            return root
    return root_of(paths)


def _status(repaired: Repaired, way: Way) -> int:
    if repaired.left.problems:
        return 2
    if way.exit_zero:
        return 0
    return int(bool(repaired.left.findings) or (way.only_patch and bool(repaired.changes)))
