"""``fix --interactive``: look first, ask about each repair, and turn the answers into what the engine is to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from inplace_fix import engine
from inplace_fix.commands.check import texts_of
from inplace_fix.commands.progress import tracked
from inplace_fix.commands.request import Job
from inplace_fix.commands.streams import Streams
from inplace_fix.interactive import Asker, open_editor
from inplace_fix.nouns import Finding
from inplace_fix.report.texts import Texts
from inplace_fix.rules import pages


def choose(job: Job, streams: Streams) -> tuple[Job, Callable[[Finding, str], bool]]:
    """The job with the lines that the person wrote by hand, and the test of what the person accepted."""
    findings: list[Finding] = []
    texts: dict[Path, str] = {}
    looked = engine.check(job.files, replace(job.options, keep=job.repairable), job.texts)
    for result in tracked(looked, len(job.files), streams.stderr):
        if result.findings:
            findings += result.findings
            texts[result.path] = result.text

    def shown(finding: Finding) -> tuple[Finding, Texts]:
        path = finding.place.path
        notebook = job.notebooks.get(path)
        placed = notebook.placed(finding) if notebook else finding
        return job.severe(placed), Texts(texts_of(path, texts[path], job))

    answers = Asker(streams.stdin, streams.stderr, pages, shown, open_editor).ask(findings, texts)
    by_hand = answers.edited_texts()
    originals = {path: texts[path] for path in by_hand}
    chosen = replace(job, texts={**job.texts, **by_hand}, originals=originals)
    return chosen, lambda finding, text: job.repairable(finding, text) and answers.keep(finding, text)
