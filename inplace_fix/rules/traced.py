"""Joins what a run showed with what the source shows: findings confirmed, new, and possible but harmless."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from inplace_fix.analysis.facts import Site
from inplace_fix.analysis.units import Unit
from inplace_fix.nouns import Certainty, Finding, Place, Related, Severity
from inplace_fix.rules.base import Fault, rules
from inplace_fix.trace.observations import Evidence
from inplace_fix.trace.observations import Fault as Seen

# the rule that speaks of each kind of fault a run can show; kinds not listed are saved values overwritten
CODES = {
    "leaf": "IPF002",
    "view-of-leaf": "IPF002",
    "requires-grad": "IPF002",
    "multi-output-view": "IPF003",
    "no-grad-view": "IPF003",
    "custom-function-view": "IPF004",
    "hook-view": "IPF004",
    "out": "IPF005",
    "out-argument": "IPF005",
    "expanded": "IPF006",
    "overlap": "IPF006",
    "inference": "IPF007",
    "optimizer-order": "IPF008",
    "gradient": "IPF009",
    "gradient-written": "IPF009",
    "custom-function": "IPF010",
    "functorch": "IPF011",
    "vmap": "IPF011",
    "forward-mode": "IPF011",
    "detach-view": "IPF012",
    "not-writable": "IPF013",
    "no-derivative": "IPF014",
    "row-swap": "IPF015",
    "repeated-index": "IPF016",
    "shared-memory": "IPF017",
    "held-value": "IPF018",
    "dtype": "IPF019",
    "shape": "IPF019",
    "lost-write": "IPF019",
}
SAVED = "IPF001"


def join(faults: Iterable[Fault], evidence: Evidence, unit: Unit) -> list[Fault]:
    """The faults of one file in the light of a run: its own, confirmed or lowered, and those only the run showed."""
    result = []
    seen = [(fault, place) for fault in evidence.faults for place in places(fault, unit.path)]
    matched: set[int] = set()
    for fault in faults:
        hits = [i for i, (_, place) in enumerate(seen) if same_construct(place, fault.finding.place)]
        matched.update(hits)
        if hits:
            result.append(replace(fault, finding=confirmed(fault.finding, seen[hits[0]][0])))
        elif harmless(fault.finding, evidence):
            result.append(replace(fault, finding=lowered(fault.finding)))
        else:
            result.append(fault)
    told: set[tuple[int, str]] = set()
    for number, (shown, place) in enumerate(seen):
        code = CODES.get(shown.kind, SAVED)
        if number not in matched and (place.span.line, code) not in told:
            told.add((place.span.line, code))
            result.append(Fault(found(shown, place, code), Site(unit, node_at(unit, place))))
    return result


def places(fault: Seen, path: Path) -> Iterator[Place]:
    """Where in a file a person would change something about a fault: the module's constructor, or the write."""
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
    return replace(finding, severity=severity, evidence=("static", "traced"), why=why)


def harmless(finding: Finding, evidence: Evidence) -> bool:
    """Whether a possible finding's write ran, and every backward after it found nothing stale."""
    if finding.certainty is not Certainty.POSSIBLE or finding.severity is not Severity.WARNING:
        return False
    facts = [f for f in evidence.facts if f.role == "write" and f.place.path == finding.place.path]
    mine = [fact for fact in facts if same_construct(fact.place, finding.place)]
    return bool(mine) and all(fact.harmless and fact.harmless >= fact.count for fact in mine)


def lowered(finding: Finding) -> Finding:
    """A possible finding that all runs so far contradict."""
    why = f"{finding.why}; in the traced runs the write was harmless"
    return replace(finding, severity=Severity.NOTE, evidence=("static", "traced"), why=why)


def found(fault: Seen, place: Place, code: str) -> Finding:
    """A finding that only the run shows. One run is one path: it is likely, not certain."""
    name = next((rule.name for rule in rules() if rule.code == code), fault.kind)
    more = [Related("saved here", fault.saved)] if fault.saved is not None else []
    if fault.backward is not None:
        more.append(Related("needed by this backward", fault.backward))
    more += [Related(text, other) for text, other in fault.related]
    operation = next((w.op for w in fault.writes if (w.made_at or w.place) == place), "this write")
    message = fault.message or f"`{operation}` changes a value that is still needed, without an error"
    return Finding(
        code,
        name,
        Severity.WARNING,
        Certainty.POSSIBLE,
        message,
        place,
        tuple(more),
        ("traced",),
        fault.why,
        no_fix=fault.remedy,
    )


def node_at(unit: Unit, place: Place) -> ast.AST:
    """The node of a file that starts where a place does, the outermost such; the whole file where there is none."""
    for node in ast.walk(unit.tree):
        if getattr(node, "lineno", 0) == place.span.line and unit.span(node).column == place.span.column:
            return node
    return unit.tree
