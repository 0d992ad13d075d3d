"""What check and fix are asked for in common, and what becomes of it: files, settings and options of the engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from inplace_fix import settings as project_settings
from inplace_fix.commands.streams import Streams
from inplace_fix.discover import discover, matches
from inplace_fix.engine import Options, Problem, asked
from inplace_fix.nouns import Finding, Severity
from inplace_fix.refusal import RefusalError
from inplace_fix.settings import Settings
from inplace_fix.source import SourceError, decode
from inplace_fix.suppress import suppressions

if TYPE_CHECKING:  # what few runs need is imported by those
    from inplace_fix.notebook import Notebook

NOTEBOOK = ".ipynb"


class UsageError(RefusalError):
    """A command line that cannot be carried out; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments that check and fix share; None or () where the command line says nothing."""

    paths: tuple[Path, ...]
    stdin_filename: Path | None = None
    traces: tuple[Path, ...] = ()
    policy: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    config: Path | None = None
    isolated: bool = False
    baseline: Path | None = None
    diff_from: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A request made ready: what to analyse, with which options, and how to judge the findings.

    ``texts`` overrides files on disk: standard input, and the code of notebooks joined into one text.
    ``data`` are the bytes behind them, ``originals`` the texts on disk where ``texts`` holds a person's own edits.
    """

    files: tuple[Path, ...]
    problems: tuple[Problem, ...]
    settings: Settings
    options: Options
    texts: dict[Path, str] = field(default_factory=dict)
    data: dict[Path, bytes] = field(default_factory=dict)
    originals: dict[Path, str] = field(default_factory=dict)
    notebooks: dict[Path, Notebook] = field(default_factory=dict)
    filters: tuple[Callable[[Finding, str], bool], ...] = ()

    def wanted(self, finding: Finding, text: str) -> bool:
        """Whether per-file ignores, the baseline and the changed lines let a finding through."""
        return all(accepts(finding, text) for accepts in self.filters)

    def repairable(self, finding: Finding, text: str) -> bool:
        """Whether to repair a finding: wanted, and silenced by no comment."""
        return self.wanted(finding, text) and suppressions(text).silencing(finding) is None

    def stale(self) -> tuple[str, ...]:
        """What of the evidence speaks of sources that changed or are not there, in words. Raises EvidenceError."""
        if not self.options.evidence:
            return ()
        from inplace_fix.trace.evidence import load

        return load(self.options.evidence, self.options.root).notes

    def asked(self, code: str) -> bool:
        """Whether ``--select``, ``--ignore`` and the settings ask for a rule."""
        return asked(code.upper(), self.options)

    def severe(self, finding: Finding) -> Finding:
        """The finding with the severity that the settings give its rule; the longest prefix decides."""
        prefix = max((p for p in self.settings.severity if finding.code.startswith(p.upper())), key=len, default=None)
        return finding if prefix is None else replace(finding, severity=Severity(self.settings.severity[prefix]))


def prepare(request: Request, streams: Streams, *, unsafe: bool = False) -> Job:
    """Find files and settings and read what the engine cannot read by itself.

    Raises UsageError, SettingsError, BaselineError or ChangesError.
    """
    from_stdin = request.paths == (Path("-"),)
    if Path("-") in request.paths and not from_stdin:
        raise UsageError("`-` (standard input) cannot stand beside other paths")
    if request.stdin_filename is not None and not from_stdin:
        raise UsageError(
            "--stdin-filename goes with the path `-`, as in: inplace-fix check --stdin-filename model.py -"
        )
    named = (request.stdin_filename or Path("stdin.py"),) if from_stdin else request.paths or (Path("."),)
    # absolute paths, since packages and evidence of runs are known by where files lie; reports show them short again
    paths = tuple(Path(os.path.abspath(path)) for path in named)
    settings = _settings(request, paths)
    options = Options(
        policy=request.policy or settings.policy,
        unsafe=unsafe,
        select=request.select or settings.select,
        ignore=request.ignore or settings.ignore,
        evidence=request.traces,
        writes=settings.writes,
    )
    filters = tuple(_filters(request, settings))
    if from_stdin:
        job = Job(paths, (), settings, options, filters=filters)
        return _with_stdin(job, paths[0], getattr(streams.stdin, "buffer", streams.stdin).read())
    # patterns of the settings are relative to their file, those of the command line to the current folder
    found = discover(paths, settings.exclude, settings.folder, force_exclude=request.force_exclude)
    files = [path for path in found.files if not matches(path, request.exclude, Path.cwd())]
    return _with_notebooks(Job(tuple(files), found.problems, settings, options, filters=filters))


def _settings(request: Request, paths: Sequence[Path]) -> Settings:
    if request.config is not None:
        return project_settings.load(request.config)
    return Settings() if request.isolated else project_settings.find(paths)


def _filters(request: Request, settings: Settings) -> list[Callable[[Finding, str], bool]]:
    filters: list[Callable[[Finding, str], bool]] = []
    if settings.per_file_ignores:
        filters.append(partial(_not_ignored, settings))
    if request.baseline is not None:
        from inplace_fix.baseline import Baseline

        filters.append(Baseline.read(request.baseline).is_new)
    if request.diff_from is not None:
        from inplace_fix.changed import Changes

        filters.append(Changes.since(request.diff_from, _old_text).touches)
    return filters


def _not_ignored(settings: Settings, finding: Finding, text: str) -> bool:
    return not any(
        finding.code.startswith(codes) and matches(finding.place.path, [pattern], settings.folder)
        for pattern, codes in settings.per_file_ignores.items()
    )


def _old_text(data: bytes, path: Path) -> str:
    if path.suffix != NOTEBOOK:
        return decode(data, path).text
    from inplace_fix.notebook import read_notebook

    return read_notebook(data, path).text


def _with_stdin(job: Job, path: Path, data: bytes | str) -> Job:
    raw = data.encode() if isinstance(data, str) else data
    job = replace(job, data={path: raw})
    if path.suffix == NOTEBOOK:
        return _with_notebooks(job)
    try:
        return replace(job, texts={path: decode(raw, path).text})
    except SourceError as error:
        return replace(job, files=(), problems=(Problem(path, error.message, error.line),))


def _with_notebooks(job: Job) -> Job:
    """The job with the code of its notebooks as texts; one that cannot be read becomes a problem."""
    if not any(path.suffix == NOTEBOOK for path in job.files):
        return job
    from inplace_fix.notebook import NotebookError, read_notebook

    notebooks: dict[Path, Notebook] = {}
    problems = list(job.problems)
    for path in job.files:
        if path.suffix == NOTEBOOK:
            try:
                notebooks[path] = read_notebook(job.data.get(path), path)
                problems += notebooks[path].problems
            except (SourceError, NotebookError) as error:
                problems.append(Problem(path, error.message, error.line))
    return replace(
        job,
        files=tuple(path for path in job.files if path.suffix != NOTEBOOK or path in notebooks),
        problems=tuple(problems),
        texts={path: notebook.text for path, notebook in notebooks.items()},
        notebooks=notebooks,
    )


def root_of(paths: Sequence[Path]) -> Path:
    """The folder that holds all paths, for tools that need one."""
    folders = [os.path.abspath(path if path.is_dir() else path.parent) for path in paths]
    return Path(os.path.commonpath(folders)) if folders else Path.cwd()
