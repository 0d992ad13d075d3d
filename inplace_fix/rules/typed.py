"""Faults found with the types that runs showed, beside those that the source alone shows: weaker, and saying so."""

from __future__ import annotations

from dataclasses import replace

from inplace_fix.analysis.values import Tri
from inplace_fix.nouns import Certainty, Finding, Severity
from inplace_fix.rules.base import Fault

BOTH = ("static", "traced")


def same(fault: Fault) -> tuple[object, ...]:
    """What makes two faults the same, whatever they were found with."""
    return fault.finding.place, fault.finding.code


def decided(fault: Fault, typed: Fault | None) -> Fault:
    """A fault that the source calls possible, where ``typed``, the same with the types of a run, is certain."""
    before = fault.finding
    if typed is None or before.certainty is Certainty.CERTAIN or typed.finding.certainty is not Certainty.CERTAIN:
        return fault
    if before.severity is not Severity.NOTE:
        return replace(fault, finding=likely(before))
    # it hung on the caller, and one caller was seen: worth a warning, and a repair only for who takes that as given
    finding = replace(typed.finding, severity=Severity.WARNING)
    return replace(fault, finding=likely(finding), assumed=assumption(typed))


def weakened(fault: Fault) -> Fault:
    """A fault that rests on what a run showed: likely, never certain."""
    severity = Severity.WARNING if fault.finding.severity is Severity.ERROR else fault.finding.severity
    return replace(fault, finding=likely(replace(fault.finding, severity=severity)), assumed=assumption(fault))


def likely(finding: Finding) -> Finding:
    """The finding with its certainty lowered, and why."""
    why = f"{finding.why}; what the values are was seen in a run" if finding.why else "the values were seen in a run"
    return replace(finding, certainty=Certainty.POSSIBLE, evidence=BOTH, why=why)


def assumption(fault: Fault) -> str:
    """What a repair takes for granted."""
    write = next(iter(fault.writes), None)
    if write is None or write.receiver is None:
        return "that the values are always of the kind that the traced run saw"
    tensor = write.tensor
    kind = f"a {tensor.dtype} tensor" if tensor.dtype else "a tensor"
    grad = " that requires grad" if write.requires is Tri.YES else ""
    return f"that `{write.site.unit.segment(write.receiver)}` is always {kind}{grad}, as in the traced run"
