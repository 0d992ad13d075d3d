"""Writes changed files so that the edits of one fix reach all of its files or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inplace_fix.engine import Problem
from inplace_fix.report.texts import shown
from inplace_fix.source import SourceError, read_bytes, replace_file


@dataclass(frozen=True, slots=True)
class Change:
    """One file to rewrite: its bytes before and after, its new text, and for each applied fix the files it changes."""

    path: Path
    old: bytes
    new: bytes
    text: str
    fixes: frozenset[frozenset[Path]] = frozenset()


def write_changes(changes: Sequence[Change]) -> list[Problem]:
    """Write every file; those that a fix joins are written together, and put back where one of them fails."""
    problems: list[Problem] = []
    for group in joined(changes):
        done: list[Change] = []
        try:
            for change in group:
                if read_bytes(change.path) != change.old:
                    raise SourceError(
                        change.path, "changed on disk since it was read, so it was left alone; run the command again"
                    )
                replace_file(change.path, change.new)
                done.append(change)
        except SourceError as error:
            problems.append(Problem(error.path, error.message, error.line))
            words = f"was left as it was: {shown(error.path)} belongs to the same repair and could not be written"
            problems += [Problem(change.path, words) for change in group if change.path != error.path]
            problems += _put_back(done)
        except BaseException:
            _put_back(done)
            raise
    return problems


def joined(changes: Sequence[Change]) -> list[list[Change]]:
    """The changes in groups, so that every fix lies within one group."""
    groups: list[tuple[set[Path], list[Change]]] = []
    for change in changes:
        reach = {change.path}.union(*change.fixes)
        touching = [group for group in groups if group[0] & reach]
        merged = (reach.union(*(g[0] for g in touching)), [c for g in touching for c in g[1]] + [change])
        groups = [group for group in groups if group not in touching] + [merged]
    return [members for _, members in groups]


def _put_back(done: Sequence[Change]) -> list[Problem]:
    problems = []
    for change in done:
        try:
            replace_file(change.path, change.old)
        except SourceError as error:
            problems.append(Problem(change.path, f"holds only a part of a repair, and {error.message}"))
    return problems
