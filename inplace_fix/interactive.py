"""Asks a person about each repair, as ``git add -p`` does: yes, no, all, quit, edit, explain."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Applicability, Finding
from inplace_fix.report import edits, paint
from inplace_fix.report.full import finding_lines
from inplace_fix.report.texts import Texts

PROMPT = "Repair this? [y,n,a,q,e,?] "
KEYS = """y - repair this
n - leave this as it is
a - repair this and all that follow
q - quit: leave this and all that follow; what was accepted is still done
e - edit the repaired lines in your editor and take the result
? - show these keys and the rule's page
"""


@dataclass(frozen=True, slots=True)
class Edited:
    """Rows of a file, the end excluded, and what a person wrote in their place."""

    path: Path
    start: int
    end: int
    content: str


@dataclass(slots=True)
class Answers:
    """What the person said: repairs accepted and declined, and lines written by hand.

    ``texts`` are the files as they were when the questions were asked.
    """

    texts: Mapping[Path, str]
    accepted: list[Finding] = field(default_factory=list)
    declined: list[Finding] = field(default_factory=list)
    edited: list[Edited] = field(default_factory=list)

    def keep(self, finding: Finding, text: str) -> bool:
        """Whether to repair a finding; in a text that changed since, it is known by its line and the one above.

        Where an accepted and a declined one look the same there, neither is repaired.
        """
        if text == self.texts.get(finding.place.path):
            return any(_same_place(finding, other) for other in self.accepted)
        mark = _mark(finding, text)
        before = self.texts.get(finding.place.path, "")
        accepted = {_mark(other, before) for other in self.accepted if other.place.path == finding.place.path}
        declined = {_mark(other, before) for other in self.declined if other.place.path == finding.place.path}
        return mark in accepted and mark not in declined

    def edited_texts(self) -> dict[Path, str]:
        """The texts with the lines written by hand in place."""
        changed: dict[Path, list[str]] = {}
        for edit in sorted(self.edited, key=lambda edit: edit.start, reverse=True):
            lines = changed.setdefault(edit.path, split_lines(self.texts[edit.path]))
            lines[edit.start - 1 : edit.end - 1] = [edit.content]
        return {path: "".join(lines) for path, lines in changed.items()}


@dataclass(frozen=True, slots=True)
class Asker:
    """The streams of the conversation, and what a person may ask for in it."""

    stdin: TextIO
    stream: TextIO
    page: Callable[[str], str | None]
    shown: Callable[[Finding], tuple[Finding, Texts]]
    editor: Callable[[str], str | None]

    def ask(self, findings: Sequence[Finding], texts: Mapping[Path, str]) -> Answers:
        """Go through all findings that have a fix."""
        answers = Answers(texts)
        offered = [finding for finding in findings if _offered(finding)]
        rest = iter(offered)
        for number, finding in enumerate(rest, 1):
            paint.write(finding_lines(*self.shown(finding)), self.stream)
            answer = self.one(finding, answers, f"({number}/{len(offered)}) ")
            if answer == "a":
                answers.accepted += [finding, *rest]
            elif answer == "q":
                answers.declined += [finding, *rest]
        return answers

    def one(self, finding: Finding, answers: Answers, counter: str) -> str:
        """Ask about one finding until the answer is one; gives ``a`` or ``q`` where it speaks of the rest as well."""
        while True:
            self.stream.write(counter + PROMPT)
            self.stream.flush()
            line = self.stdin.readline()
            answer = line.strip().lower()[:1] if line else "q"
            if answer == "y":
                answers.accepted.append(finding)
                return ""
            if answer == "n":
                answers.declined.append(finding)
                return ""
            if answer in ("a", "q") and answer:
                return answer
            if answer == "e":
                if self.edit(finding, answers):
                    return ""
                continue
            self.stream.write(KEYS)
            if answer == "?":
                self.stream.write(f"\n{self.page(finding.code) or ''}\n")

    def edit(self, finding: Finding, answers: Answers) -> bool:
        """Let the person rewrite the repaired lines; False where nothing came of it."""
        region = _region(finding, answers.texts)
        if region is None:
            self.stream.write("This repair changes several places, so it cannot be edited as one piece.\n")
            return False
        if any(e.path == region.path and e.start < region.end and region.start < e.end for e in answers.edited):
            self.stream.write("These lines were edited already.\n")
            return False
        written = self.editor(region.content)
        if written is None:
            self.stream.write("The editor could not be run; set EDITOR to one, for example: export EDITOR=nano\n")
            return False
        if written and not written.endswith("\n"):
            written += "\n"
        edited = Edited(region.path, region.start, region.end, written)
        whole = Answers(answers.texts, edited=[*answers.edited, edited]).edited_texts()[region.path]
        try:
            ast.parse(whole)
        except (SyntaxError, ValueError) as error:
            self.stream.write(f"The file would not parse any more ({error}), so the edit was not taken.\n")
            return False
        answers.edited.append(edited)
        answers.declined.append(finding)
        return True


def open_editor(content: str) -> str | None:
    """The content as the person's editor leaves it; None where there is no editor or it fails."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory(prefix="inplace-fix-") as folder:
        file = Path(folder) / "repair.py"
        file.write_bytes(content.encode("utf-8"))
        try:
            ended = subprocess.run([*shlex.split(command), str(file)], check=False)
        except (OSError, ValueError):
            return None
        return file.read_bytes().decode("utf-8", "replace") if ended.returncode == 0 else None


def _offered(finding: Finding) -> bool:
    fix = finding.fix
    return fix is not None and bool(fix.edits) and fix.applicability is not Applicability.DISPLAY


def _region(finding: Finding, texts: Mapping[Path, str]) -> Edited | None:
    """The rows that a fix of one file changes, and what they are afterwards."""
    assert finding.fix is not None
    path = finding.place.path
    if any(edit.place.path != path for edit in finding.fix.edits):
        return None
    start = min(edit.place.span.line for edit in finding.fix.edits)
    end = max(edit.place.span.end_line for edit in finding.fix.edits) + 1
    before = split_lines(texts[path])
    after = split_lines(edits.apply(texts[path], finding.fix.edits))
    rows = end - start + len(after) - len(before)
    return Edited(path, start, end, "".join(after[start - 1 : start - 1 + rows]))


def _same_place(first: Finding, second: Finding) -> bool:
    return first.code == second.code and first.place == second.place


def _mark(finding: Finding, text: str) -> tuple[str, str, str]:
    lines = split_lines(text)
    row = finding.place.span.line - 1
    above = next(_stripped(lines[:row][::-1]), "")
    return finding.code, lines[row].strip() if row < len(lines) else "", above


def _stripped(lines: Sequence[str]) -> Iterator[str]:
    return (line.strip() for line in lines if line.strip())
