"""The nouns that every part speaks: places in source, findings, fixes.

Everything here is a frozen value without behaviour beyond its own fields. Rows count from 1 and columns from 0,
in code points, as LibCST counts them; the reports add 1 to columns where a format counts from 1.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from pathlib import Path

from codemods.steps import Span, Step

__all__ = [
    "Applicability",
    "Certainty",
    "Edit",
    "Finding",
    "Fix",
    "Moment",
    "Place",
    "Related",
    "Severity",
    "Span",
    "Stage",
    "Step",
]


class Severity(str, enum.Enum):
    """How a report shows a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Certainty(str, enum.Enum):
    """What the analysis claims: certain on a path it followed, or possible, hanging on something unknown."""

    CERTAIN = "certain"
    POSSIBLE = "possible"


class Applicability(str, enum.Enum):
    """Who may apply a fix: anybody, whoever accepts its assumption, or nobody (it is only shown)."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


class Stage(str, enum.Enum):
    """What happens to a value at a moment of its life; OTHER is told by the moment's words alone."""

    MADE = "made"
    VIEWED = "viewed"
    SAVED = "saved"
    OVERWRITTEN = "overwritten"
    NEEDED = "needed"
    OTHER = "other"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A stretch of one source file; ``cell`` counts notebook cells from 1 and is None elsewhere."""

    path: Path
    span: Span
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding speaks of, for example where the value was saved."""

    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happens to the value that a finding speaks of; ``place`` is None outside the source at hand."""

    stage: Stage
    words: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``place`` by ``content``."""

    place: Place
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of one finding: all its edits together or none.

    ``steps`` is the plan in terms of the code forms, ``edits`` the same in text, filled in once the plan was
    carried out.
    ``message`` says what is done and, for an unsafe fix, under which assumption it is right.
    """

    form: str
    message: str
    applicability: Applicability
    steps: tuple[tuple[Path, Step], ...] = ()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, hazard or note at one place. ``life`` is what happened to its value, in the order of the run."""

    code: str
    name: str
    severity: Severity
    certainty: Certainty
    message: str
    place: Place
    related: tuple[Related, ...] = ()
    evidence: tuple[str, ...] = ("static",)
    why: str = ""
    fix: Fix | None = None
    no_fix: str = field(default="", compare=False)
    life: tuple[Moment, ...] = field(default=(), compare=False)

    def with_fix(self, fix: Fix | None, reason: str = "") -> Finding:
        """The same finding with a repair, or with the reason why there is none."""
        return replace(self, fix=fix, no_fix=reason)
