"""The review page: one HTML file that holds every finding with its repair side by side and its value's life drawn."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from inplace_fix import __version__
from inplace_fix.nouns import Finding
from inplace_fix.report.full import FIX_WORDS, sureness
from inplace_fix.report.review.code import visible
from inplace_fix.report.review.drawing import drawing
from inplace_fix.report.review.sides import Sheets
from inplace_fix.report.texts import Texts, shown, where

if TYPE_CHECKING:
    from inplace_fix.report.review.drawing import Drawing
    from inplace_fix.report.review.sides import Panel

HERE = Path(__file__).parent
QUOTED = re.compile(r"`([^`]*)`")
NO_FIX = "none"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A finding in the text as it was, with whether this run repairs it."""

    finding: Finding
    repaired: bool


@dataclass(frozen=True, slots=True)
class Card:
    """What the page shows of one finding."""

    number: int
    finding: Finding
    repaired: bool
    where: str
    file: str
    fix: str
    fix_words: str
    sure: str
    drawing: Drawing | None
    panels: list[Panel]


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that the page can be narrowed to, and how many findings have it."""

    facet: str
    value: str
    label: str
    count: int


def page(reviewed: Sequence[Reviewed], texts: Texts, patch: bytes, command: str) -> str:
    """The whole page. ``patch`` is offered for download; ``command`` is what carries the repairs out."""
    sheets = Sheets(texts)
    cards = [card_of(number, one, sheets) for number, one in enumerate(reviewed, 1)]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["quoted"] = quoted
    environment.filters["visible"] = visible
    style, script = (HERE / "page.css").read_text("utf-8"), (HERE / "page.js").read_text("utf-8")
    return environment.from_string((HERE / "page.html.j2").read_text("utf-8")).render(
        cards=cards,
        facets=facets(cards),
        style=Markup(style),
        script=Markup(script),
        # nothing but this page's own style and script may act on it, whatever a quoted source holds
        policy=f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}",
        patch=base64.b64encode(patch).decode("ascii"),
        lines=patch.decode("utf-8", "replace").splitlines(),
        repaired=sum(one.repaired for one in reviewed),
        files=len({card.file for card in cards}),
        command=command,
        version=__version__,
    )


def card_of(number: int, one: Reviewed, sheets: Sheets) -> Card:
    """The card of one finding."""
    finding = one.finding
    fix = finding.fix
    return Card(
        number,
        finding,
        one.repaired,
        where(finding.place),
        shown(finding.place.path),
        fix.applicability.value if fix else NO_FIX,
        FIX_WORDS[fix.applicability] if fix else "no fix",
        sureness(finding),
        drawing(finding.life, sheets.texts),
        sheets.panels(finding),
    )


def facets(cards: Sequence[Card]) -> dict[str, list[Choice]]:
    """What the page can be narrowed to, under the heading of each group; a group of one value helps nobody."""
    groups: dict[str, list[Choice]] = {}
    for heading, facet, values in (
        ("Rule", "code", [(card.finding.code, f"{card.finding.code} {card.finding.name}") for card in cards]),
        ("Certainty", "sure", [(card.finding.certainty.value, card.finding.certainty.value) for card in cards]),
        ("Level", "level", [(card.finding.severity.value, card.finding.severity.value) for card in cards]),
        ("Repair", "fix", [(card.fix, card.fix_words) for card in cards]),
    ):
        counts = Counter(values)
        if len(counts) > 1 or facet == "code":
            groups[heading] = [Choice(facet, value, label, number) for (value, label), number in sorted(counts.items())]
    return groups


def quoted(text: str) -> Markup:
    """Words with what stands between backquotes as code, everything escaped."""
    parts = QUOTED.split(visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if odd % 2 else Markup.escape(part) for odd, part in enumerate(parts)
    )


def hashed(text: str) -> str:
    """A text as a source of a content security policy."""
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
