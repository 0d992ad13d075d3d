"""The life of a value as a drawing: its memory as a bar from left to right, saves as arcs to the backward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inplace_fix.nouns import Moment, Stage
from inplace_fix.report.review.code import visible
from inplace_fix.report.texts import Texts, shown

STEP, LEFT = 226, 20  # between two moments; before the first
BAR, TOP, SPREAD = 68, 22, 12  # where the memory's bar lies; the highest arc; how much lower the next one
HEIGHT = 134
LONGEST = 30  # characters of code under a moment
WORDS = 30
ELSEWHERE = "not in this source"


@dataclass(frozen=True, slots=True)
class Stop:
    """A moment as it is drawn."""

    x: int
    stage: str
    words: str
    line: str
    code: str
    whole: str


@dataclass(frozen=True, slots=True)
class Arc:
    """What an operation keeps: a path until the overwrite, and on to the backward that finds something else."""

    kept: str
    spoilt: str
    kept_middle: int
    spoilt_middle: int
    label: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that the template needs; ``turn`` is where the memory comes to hold something else, None if it never does."""

    width: int
    top: int
    height: int
    bar: int
    end: int
    turn: int | None
    stops: list[Stop]
    arcs: list[Arc]
    views: list[int]
    told: str


def drawing(life: Sequence[Moment], texts: Texts) -> Drawing | None:
    """The drawing of a life; none for a single moment, of which there is nothing to show."""
    if len(life) < 2:
        return None
    xs = [LEFT + STEP * number for number in range(len(life))]
    stops = [stop(x, moment, life, texts) for x, moment in zip(xs, life, strict=True)]
    by_stage: dict[Stage, list[int]] = {}
    for x, moment in zip(xs, life, strict=True):
        by_stage.setdefault(moment.stage, []).append(x)
    turn = next(iter(by_stage.get(Stage.OVERWRITTEN, ())), None)
    needed = next(iter(by_stage.get(Stage.NEEDED, ())), None)
    arcs = []
    if turn is not None and needed is not None:
        starts = [x for x in by_stage.get(Stage.SAVED, ()) if x < turn < needed]
        arcs = [arc(order, x, turn, needed) for order, x in enumerate(starts)]
    top = 0 if arcs else BAR - 18  # nothing is drawn above the bar then
    told = "; then ".join(f"{s.words} ({s.line})" for s in stops)
    return Drawing(
        xs[-1] + STEP,
        top,
        HEIGHT - top,
        BAR,
        xs[-1],
        turn,
        stops,
        arcs,
        [x for x in by_stage.get(Stage.VIEWED, ()) if turn is not None and x < turn],
        told,
    )


def arc(order: int, start: int, turn: int, end: int) -> Arc:
    """The path of one save; a later one runs below the earlier ones, so that they do not lie on each other."""
    crown, bend = TOP + SPREAD * order, 26
    kept = f"M{start} {BAR} C{start} {crown} {start} {crown} {start + bend} {crown} L{turn} {crown}"
    spoilt = f"M{turn} {crown} L{end - bend} {crown} C{end} {crown} {end} {crown} {end} {BAR - 10}"
    return Arc(kept, spoilt, (start + turn) // 2, (turn + end) // 2, crown - 5)


def stop(x: int, moment: Moment, life: Sequence[Moment], texts: Texts) -> Stop:
    """A moment with the code at its place; the file is named where the life runs through several."""
    place = moment.place
    if place is None:
        return Stop(x, moment.stage.value, shortened(moment.words, WORDS), ELSEWHERE, "", moment.words)
    several = len({(m.place.path, m.place.cell) for m in life if m.place}) > 1
    cell = f"cell {place.cell}, " if place.cell is not None else ""
    file = f"{place.path.name}, " if several and place.cell is None else ""
    code = visible(" ".join(texts.line(place).split()))
    return Stop(
        x,
        moment.stage.value,
        shortened(visible(moment.words), WORDS),
        f"{file}{cell}line {place.span.line}",
        shortened(code, LONGEST),
        f"{shown(place.path)}:{place.span.line}: {visible(moment.words)}\n{code}",
    )


def shortened(text: str, limit: int) -> str:
    """The text, cut at a limit."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
