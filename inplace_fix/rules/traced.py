"""Joins what a run showed with what the source shows: findings confirmed, new, and possible but harmless."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from inplace_fix.analysis.facts import Conflict, Save, Site, Write
from inplace_fix.analysis.units import Unit
from inplace_fix.nouns import Certainty, Finding, Moment, Place, Related, Severity, Stage
from inplace_fix.rules.base import Fault, rules, target_of, text_of
from inplace_fix.rules.typed import BOTH, decided, same, weakened
from inplace_fix.trace.kinds import TITLES
from inplace_fix.trace.observations import Evidence, Fact
from inplace_fix.trace.observations import Fault as Seen

# the rule that speaks of each kind of fault that a run can show
CODES = {
    **dict.fromkeys(("saved-tensor", "data-attribute", "data-swap", "numpy"), "IPF001"),
    **dict.fromkeys(("collective", "batch-norm-buffers"), "IPF001"),
    **dict.fromkeys(("leaf", "view-of-leaf"), "IPF002"),
    "multi-output-view": "IPF003",
    **dict.fromkeys(("custom-function-view", "hook-view"), "IPF004"),
    "out": "IPF005",
    **dict.fromkeys(("expanded", "overlap"), "IPF006"),
    "inference": "IPF007",
    "optimizer-order": "IPF008",
    "gradient-written": "IPF009",
    "custom-function": "IPF010",
    **dict.fromkeys(("functorch", "forward-mode"), "IPF011"),
    "detach-view": "IPF012",
    "not-writable": "IPF013",
    **dict.fromkeys(("no-derivative", "negative-slope"), "IPF014"),
    "row-swap": "IPF015",
    "repeated-index": "IPF016",
    "shared-memory": "IPF017",
    "held-value": "IPF018",
    **dict.fromkeys(("dtype", "shape", "lost-write"), "IPF019"),
}
REFUSED = "IPF020"  # of every other kind: what PyTorch refuses for a reason that only the run shows


def join(
    proved: Iterable[Fault],
    evidence: Evidence,
    unit: Unit,
    typed: Iterable[Fault] = (),
    writes: Iterable[Write] = (),
) -> list[Fault]:
    """The faults of one file in the light of runs.

    Those that the source shows (``proved``) are confirmed, decided or lowered, never dropped. Then come those found
    with the types that the runs showed (``typed``), and those that only the runs showed; ``writes``, all that the
    analysis saw in the file, tell how to repair these.
    """
    seen = [(fault, place) for fault in evidence.faults for place in places(fault, unit.path)]
    written = [fact for fact in evidence.facts if fact.role == "write" and fact.place.path == unit.path]
    by_types = {same(fault): fault for fault in typed}
    matched: set[int] = set()
    result = []
    for fault in proved:
        twin = by_types.pop(same(fault), None)
        hit = hits(fault, seen)
        matched.update(hit)
        if hit:
            result.append(replace(fault, finding=confirmed(fault.finding, seen[hit[0]][0])))
        elif harmless(fault.finding, written):
            result.append(replace(fault, finding=lowered(fault.finding)))
        else:
            result.append(decided(fault, twin))
    for fault in map(weakened, by_types.values()):
        hit = hits(fault, seen)
        matched.update(hit)
        if hit:
            result.append(replace(fault, finding=confirmed(fault.finding, seen[hit[0]][0])))
        elif not harmless(fault.finding, written):
            result.append(fault)
    known = writes_by_place(writes, unit)
    told: set[tuple[int, str]] = set()
    for number, (shown, place) in enumerate(seen):
        code = CODES.get(shown.kind, REFUSED)
        if number not in matched and (place.span.line, code) not in told:
            told.add((place.span.line, code))
            result.append(only_shown(shown, place, code, unit, known))
    return result


def hits(fault: Fault, seen: Sequence[tuple[Seen, Place]]) -> list[int]:
    """Which of the places of the run lie in the construct of a fault."""
    return [number for number, (_, place) in enumerate(seen) if same_construct(place, fault.finding.place)]


def writes_by_place(writes: Iterable[Write], unit: Unit) -> dict[Place, list[Write]]:
    """The writes that a person would change in a file, by where."""
    found: dict[Place, list[Write]] = {}
    for write in writes:
        site = target_of(write)
        if site.unit is unit:
            found.setdefault(unit.place(site.node), []).append(write)
    return found


def only_shown(shown: Seen, place: Place, code: str, unit: Unit, writes: dict[Place, list[Write]]) -> Fault:
    """A fault that only the run showed, with the writes and saves that the source has at its places."""
    node = node_at(unit, place)
    statement = unit.statement(node)
    mine = writes.get(place) or (writes.get(unit.place(statement), []) if statement is not None else [])
    conflicts = [Conflict(write, save, None, False) for write in mine for save in spoiled(write, shown)]
    site = Site(unit, node)
    return Fault(
        found(shown, place, code, site),
        site,
        tuple(mine),
        tuple(conflicts),
        assumed="that the value is always needed as in the traced run",
        result=saved_result(shown, unit),
    )


def saved_result(shown: Seen, unit: Unit) -> Site | None:
    """The expression of this file whose own result was saved; PyTorch's derivatives call that ``result``."""
    if shown.saved is None or shown.saved.path != unit.path or shown.attribute != "result":
        return None
    node = node_at(unit, shown.saved)
    return Site(unit, node) if isinstance(node, ast.expr) and unit.span(node) == shown.saved.span else None


def spoiled(write: Write, shown: Seen) -> list[Save]:
    """The saves that a write spoiled in the run, as far as the analysis saw them; all before it where it did not."""
    before = [save for storage, _ in write.tensor.storages() for save in storage.saves if save.tick < write.tick]
    return [save for save in before if shown.saved is None or save.site.unit.place(save.site.node) == shown.saved]


def places(fault: Seen, path: Path) -> Iterator[Place]:
    """Where in a file a person would change something about a fault: the module's constructor, or the write.

    Where no write is to blame, or none was seen, that is the backward.
    """
    if not fault.writes and fault.backward is not None and fault.backward.path == path:
        yield fault.backward
    for write in fault.writes:
        place = write.made_at or write.place
        if place.path == path:
            yield place
        elif write.caller is not None and write.caller.path == path:
            yield write.caller


def same_construct(seen: Place, told: Place) -> bool:
    """Whether a place of the run lies in the construct of a finding, or the other way round."""
    a, b = seen.span, told.span
    return (a.line, a.column) < (b.end_line, b.end_column) and (b.line, b.column) < (a.end_line, a.end_column)


def confirmed(finding: Finding, fault: Seen) -> Finding:
    """A finding that the run showed as well."""
    severity = Severity.WARNING if finding.severity is Severity.NOTE else finding.severity
    why = f"seen in the run: {fault.why}" if finding.certainty is Certainty.POSSIBLE and fault.why else finding.why
    return replace(finding, severity=severity, evidence=BOTH, why=why)


def harmless(finding: Finding, written: Iterable[Fact]) -> bool:
    """Whether a possible finding's write ran, and every backward after it found nothing stale."""
    if finding.certainty is not Certainty.POSSIBLE or finding.severity is not Severity.WARNING:
        return False
    mine = [fact for fact in written if same_construct(fact.place, finding.place)]
    return bool(mine) and all(fact.harmless and fact.harmless >= fact.count for fact in mine)


def lowered(finding: Finding) -> Finding:
    """A possible finding that all runs so far contradict."""
    why = f"{finding.why}; in the traced runs the write was harmless"
    return replace(finding, severity=Severity.NOTE, evidence=BOTH, why=why)


def found(fault: Seen, place: Place, code: str, site: Site) -> Finding:
    """A finding that only the run shows. One run is one path: it is likely, not certain."""
    name = next((rule.name for rule in rules() if rule.code == code), fault.kind)
    more = [Related("saved here", fault.saved)] if fault.saved is not None else []
    if fault.backward is not None:
        more.append(Related("needed by this backward", fault.backward))
    more += [Related(text, other) for text, other in fault.related]
    title = TITLES.get(fault.kind, fault.kind.replace("-", " "))
    raised = {"raised": "; PyTorch raised an error", "silent": "; PyTorch said nothing"}.get(fault.severity, "")
    where = f"`{text_of(site)}`" if isinstance(site.node, (ast.expr, ast.stmt)) else f"line {place.span.line}"
    message = f"{where}: {title}{raised}"
    why = f"{fault.why} ({fault.message.rstrip('.')})" if fault.message else fault.why
    return Finding(
        code,
        name,
        Severity.WARNING,
        Certainty.POSSIBLE,
        message,
        place,
        tuple(more),
        ("traced",),
        why,
        no_fix=fault.remedy,
        life=tuple(life(fault, place)),
    )


def life(fault: Seen, place: Place) -> Iterator[Moment]:
    """What the run saw of the value, the save before the write and the backward after it."""
    if fault.saved is not None:
        yield Moment(Stage.SAVED, "saved", fault.saved)
    yield Moment(Stage.OVERWRITTEN, "overwritten", place)
    if fault.saved is not None:
        yield Moment(Stage.NEEDED, "needed by backward", fault.backward)


def node_at(unit: Unit, place: Place) -> ast.AST:
    """The node of a file that stands at a place, else the outermost that starts there, else the whole file."""
    line = place.span.line
    started = [n for n in ast.walk(unit.tree) if getattr(n, "lineno", 0) == line]
    started = [n for n in started if unit.span(n).column == place.span.column]
    exact = (n for n in started if unit.span(n) == place.span)
    return next(exact, started[0] if started else unit.tree)
