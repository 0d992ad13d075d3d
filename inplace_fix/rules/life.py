"""The life of the value that a fault speaks of: made, viewed, saved, overwritten, needed by a backward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inplace_fix.analysis.facts import Conflict, Site, Write
from inplace_fix.analysis.values import Tensor
from inplace_fix.nouns import Moment, Stage
from inplace_fix.rules.base import Fault

MOST_SAVES = 3  # a value that more operations saved is drawn with the first of them
ORIGINS = {  # where a storage comes from that no statement at hand makes
    "argument": "given by the caller",
    "parameter": "a parameter of the module",
    "buffer": "a buffer of the module",
    "constant": "a value from outside",
    "array": "a NumPy array",
    "gradient": "a gradient",
}


def with_life(fault: Fault) -> Fault:
    """The fault, its finding told as a life."""
    return replace(fault, finding=replace(fault.finding, life=tuple(life_of(fault))))


def life_of(fault: Fault) -> list[Moment]:
    """The moments in the order of the run; without a known write, the places of the finding in the order of source."""
    conflict = max(fault.conflicts, key=lambda c: c.certain, default=None)
    write = conflict.write if conflict else next(iter(fault.writes), None)
    if write is None:
        told = {related.place: related.message for related in fault.finding.related}
        told[fault.finding.place] = "found here"
        return [Moment(Stage.OTHER, words, place) for place, words in sorted(told.items())]
    saves = list(saved(fault.conflicts, write))
    moments = [*viewed(write.tensor), *saves]
    moments.sort(key=lambda item: item[0])
    before = [moment for _, moment in moments]
    made = maker(write)
    if made.place is None or all(made.place != moment.place for moment in before):
        before.insert(0, made)
    return [*before, at(Stage.OVERWRITTEN, "overwritten", write.site), *needed(conflict)]


def at(stage: Stage, words: str, site: Site) -> Moment:
    """A moment at a place of the source."""
    return Moment(stage, words, site.unit.place(site.node))


def maker(write: Write) -> Moment:
    """Where the memory comes from."""
    storage = write.storage
    if storage.made is not None:
        return at(Stage.MADE, "made", storage.made)
    return Moment(Stage.MADE, ORIGINS.get(storage.origin, "made elsewhere"))


def viewed(tensor: Tensor) -> Iterator[tuple[int, Moment]]:
    """The views between the memory and the tensor that is written, with their ticks."""
    one: Tensor | None = tensor
    while one is not None and one.view:
        if one.made is not None:
            yield one.made_tick, at(Stage.VIEWED, "viewed", one.made)
        one = one.base


def saved(conflicts: tuple[Conflict, ...], write: Write) -> Iterator[tuple[int, Moment]]:
    """The operations that saved the value before the write, each once, with their ticks."""
    seen: dict[Site, None] = {}
    for conflict in conflicts:
        save = conflict.save
        if conflict.write is not write or save.site in seen or len(seen) == MOST_SAVES:
            continue
        seen[save.site] = None
        words = "made and saved" if save.site == write.storage.made else "saved"
        yield save.tick, at(Stage.SAVED, words, save.site)


def needed(conflict: Conflict | None) -> Iterator[Moment]:
    """The backward that needs what was saved, which may run in code that is not at hand."""
    if conflict is None:
        return
    backward = conflict.backward
    place = backward.unit.place(backward.node) if backward is not None else None
    yield Moment(Stage.NEEDED, "needed by backward", place)
