"""The one engine behind the command line, the editor and the review page: sources in, findings and new sources out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inplace_fix.nouns import Finding

POLICIES = ("unsafe", "strict", "all")


@dataclass(frozen=True, slots=True)
class Options:
    """What a check or a fix is asked for, apart from the files.

    ``policy`` is one of ``POLICIES``; ``unsafe`` also applies fixes that rest on an assumption; ``evidence`` are
    evidence files of traced runs; ``select`` and ``ignore`` are prefixes of rule codes. ``writes`` names the user's own
    functions that write to an argument in place, by qualified name, with the argument's position.
    ``keep`` is asked for each finding, with the text it was found in (in the second round of a fix the text after the
    first), whether to report and repair it: suppressions, baselines and a person's answers come in this way.
    """

    policy: str = "unsafe"
    unsafe: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    evidence: tuple[Path, ...] = ()
    root: Path = field(default_factory=Path.cwd)
    writes: Mapping[str, int] = field(default_factory=dict)
    keep: Callable[[Finding, str], bool] | None = None


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


def check(paths: Sequence[Path], options: Options, texts: dict[Path, str] | None = None) -> Iterator[FileResult]:
    """Analyse the files together (calls and imports among them are followed) and yield one result a file, in order.

    ``texts`` overrides what is on disk (an editor's unsaved buffer, standard input).
    """
    raise NotImplementedError


def fix(paths: Sequence[Path], options: Options, texts: dict[Path, str] | None = None) -> Iterator[FileResult]:
    """As ``check``, with the fixes that ``options`` allow carried out to a fixed point in ``new_text``; writes nothing.

    ``findings`` are those of the text as it was; ``applied`` and ``left`` part them.
    """
    raise NotImplementedError


def findings_of(results: Iterable[FileResult]) -> list[Finding]:
    """All findings of all files, in order."""
    return [finding for result in results for finding in result.findings]
