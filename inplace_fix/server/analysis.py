"""One open document through the engine: its findings as a check shows them, its text as a fix leaves it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from inplace_fix import engine
from inplace_fix.analysis.units import split_lines
from inplace_fix.commands.check import judged
from inplace_fix.commands.request import Job, Request, prepare
from inplace_fix.commands.streams import Streams
from inplace_fix.nouns import Finding
from inplace_fix.refusal import RefusalError
from inplace_fix.server.documents import Document
from inplace_fix.server.imports import imported
from inplace_fix.server.preferences import Preferences
from inplace_fix.source import SourceError, read_source
from inplace_fix.trace.evidence import EvidenceError

Rows = frozenset[int] | None  # None: all
NOWHERE: Rows = frozenset()


@dataclass(frozen=True, slots=True)
class Work:
    """What an analysis needs besides the document: the folder of the work, the settings, and all that is open."""

    root: Path
    preferences: Preferences
    open: Mapping[Path, Document]

    def texts(self, document: Document) -> dict[Path, str]:
        """The texts that are not those on disk."""
        return {**{path: other.text for path, other in self.open.items()}, document.path: document.text}


@dataclass(frozen=True, slots=True)
class Analysis:
    """The findings of a document, with places in cells where it is a notebook.

    Repairs are there where they were asked for. ``open`` is what was open beside it at that moment, and edits of those
    files fit that moment alone. ``problem`` says why there are no findings to speak of: the text does not parse,
    settings or evidence cannot be used. A person must be told unless ``typing`` is set, for then it is only a statement
    that is not finished yet.
    """

    document: Document
    open: Mapping[Path, Document]
    findings: tuple[Finding, ...] = ()
    problem: str = ""
    typing: bool = False


def analyse(document: Document, work: Work, rows: Rows = NOWHERE) -> Analysis:
    """Check a document as ``inplace-fix check`` would, imports followed; never raises for what a person wrote.

    Repairs are worked out for findings that begin on some rows: each takes longer than finding all faults does, and
    typing does not leave that time. Of other rows nothing need be found then.
    """
    try:
        job = job_of(document, work)
        if job is None:
            return Analysis(document, work.open)
        texts = work.texts(document)
        known = imported(document.path, document.text, work.root, texts)
        (result,) = engine.check([document.path], options_for(job, rows), texts, known)
    except (RefusalError, EvidenceError, SourceError) as error:
        return Analysis(document, work.open, problem=str(error))
    if result.problem is not None:
        return Analysis(document, work.open, problem=result.problem.message, typing=True)
    kept = [finding for finding in judged(result, job) if job.wanted(finding, result.text)]
    notebook = document.notebook
    findings = tuple(notebook.placed(finding) if notebook else finding for finding in kept)
    return Analysis(document, work.open, findings)


def options_for(job: Job, rows: Rows) -> engine.Options:
    """The options of a check that works out the repairs of some rows alone."""
    if rows is None or not rows:
        return replace(job.options, repairs=rows is None)
    return replace(job.options, keep=lambda finding, text: finding.place.span.line in rows)


def fix_all(document: Document, work: Work) -> dict[int | None, str]:
    """The new text of each part that safe fixes change, carried to the fixed point; empty where nothing changes.

    Raises RefusalError, EvidenceError, or NotebookError where a repair ran over the border of two cells.
    """
    job = job_of(document, work)
    if job is None:
        return {}
    texts = work.texts(document)
    known = imported(document.path, document.text, work.root, texts)
    (result,) = engine.fix([document.path], replace(job.options, keep=job.repairable), texts, known)
    if result.new_text is None:
        return {}
    parts = {None: result.new_text} if document.notebook is None else document.notebook.sources(result.new_text)
    return {number: text for number, text in parts.items() if text != document.parts[number].text}


def job_of(document: Document, work: Work) -> Job | None:
    """Settings, options and filters for a document; None where the settings exclude it. Raises SettingsError."""
    preferences = work.preferences
    request = Request(
        paths=(document.path,),
        traces=preferences.evidence_files(work.root) if as_on_disk(document) else (),
        policy=preferences.policy,
        select=preferences.select,
        ignore=preferences.ignore,
        force_exclude=True,
        config=work.root / preferences.config if preferences.config else None,
    )
    job = prepare(request, Streams(io.StringIO(), io.StringIO(), io.StringIO()))
    if not job.files and not job.problems:
        return None
    return replace(job, options=replace(job.options, root=work.root))


def as_on_disk(document: Document) -> bool:
    """Whether the text is the one on disk, whatever its line ends: only then do the rows of a traced run fit."""
    if document.notebook is not None:
        return False
    try:
        saved = read_source(document.path).text
    except SourceError:
        return False
    bare = [[line.rstrip("\r\n") for line in split_lines(text)] for text in (saved, document.text)]
    return bare[0] == bare[1]
