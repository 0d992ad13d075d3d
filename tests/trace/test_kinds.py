"""The kinds of fault: each has words of its own, a line in the documentation, and a rule that speaks of it."""

from __future__ import annotations

import re
from pathlib import Path

from triggers import TRIGGERS

from inplace_fix.trace.kinds import TITLES

PAGE = Path(__file__).parents[2] / "docs" / "evidence.md"


def test_every_kind_that_an_error_is_explained_as_has_a_title() -> None:
    assert {trigger.kind for trigger in TRIGGERS if trigger.kind} <= set(TITLES)


def test_the_page_about_evidence_lists_every_kind() -> None:
    table = PAGE.read_text(encoding="utf-8").split("| kind | what happened |")[1].split("### Facts")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    assert {kind for row in rows for kind in re.findall(r"`([a-z-]+)`", row)} == set(TITLES)
