"""A baseline: the findings that an old code base starts with, so that only new ones are reported."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inplace_fix.fingerprint import fingerprint
from inplace_fix.nouns import Finding
from inplace_fix.refusal import RefusalError
from inplace_fix.report.texts import Texts
from inplace_fix.source import SourceError, read_bytes, replace_file

VERSION = 1


class BaselineError(RefusalError):
    """A baseline that cannot be read or written; the message names the file and says what to do."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The fingerprints of known findings; ``folder`` is what their paths are relative to."""

    folder: Path
    known: frozenset[str]

    @staticmethod
    def read(file: Path) -> Baseline:
        """Read a file that ``write`` made. Raises BaselineError."""
        try:
            content = json.loads(read_bytes(file))
            version = content["version"]
            known = frozenset(entry["fingerprint"] for entry in content["findings"])
        except SourceError as error:
            raise BaselineError(f"{file}: {error.message}; write one with --write-baseline {file}") from None
        except (ValueError, KeyError, TypeError):
            raise BaselineError(f"{file}: is no baseline; write one with --write-baseline {file}") from None
        if version != VERSION:
            raise BaselineError(f"{file}: has version {version!r}, not {VERSION}; write it anew with --write-baseline")
        return Baseline(file.absolute().parent, known)

    def is_new(self, finding: Finding, text: str) -> bool:
        """Whether the baseline does not hold the finding."""
        return fingerprint(finding, text, self.folder) not in self.known


def write(file: Path, findings: Iterable[tuple[Finding, str]]) -> int:
    """Write a baseline of findings, each with its text, sorted so that it changes little; gives how many it holds.

    Raises BaselineError.
    """
    folder = file.absolute().parent
    entries = []
    for finding, text in findings:
        line = Texts({(finding.place.path, finding.place.cell): text}).line(finding.place).strip()
        mark = fingerprint(finding, text, folder)
        name = Path(os.path.relpath(finding.place.path, folder)).as_posix()
        entries.append({"path": name, "code": finding.code, "line": line, "fingerprint": mark})
    entries.sort(key=lambda entry: (entry["path"], entry["code"], entry["line"], entry["fingerprint"]))
    content = json.dumps({"version": VERSION, "findings": entries}, indent=1, ensure_ascii=False) + "\n"
    try:
        replace_file(file, content.encode("utf-8", "replace"))
    except SourceError as error:
        raise BaselineError(f"{file}: {error.message}") from None
    return len(entries)
