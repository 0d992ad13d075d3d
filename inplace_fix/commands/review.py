"""``fix --html``: the findings of the texts as they were, told as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from inplace_fix.commands.check import texts_of
from inplace_fix.commands.request import Job
from inplace_fix.engine import FileResult, identity
from inplace_fix.report.review import Reviewed, page
from inplace_fix.report.texts import Texts


def review(results: Sequence[FileResult], job: Job, patch: bytes, command: str) -> bytes:
    """The page. A finding that came up only after another was repaired is a part of the patch, without a card."""
    reviewed: list[Reviewed] = []
    texts: dict[tuple[Path, int | None], str] = {}
    for result in results:
        repaired = Counter(identity(finding) for finding in result.applied)
        notebook = job.notebooks.get(result.path)
        for finding in result.findings:
            done = repaired[identity(finding)] > 0
            repaired[identity(finding)] -= done
            placed = notebook.placed(finding) if notebook else finding
            reviewed.append(Reviewed(job.severe(placed), done))
        if result.findings:
            texts |= texts_of(result.path, result.text, job)
    return page(reviewed, Texts(texts), patch, command).encode("utf-8", "replace")
