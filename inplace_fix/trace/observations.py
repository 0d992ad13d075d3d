"""What a traced run leaves behind: places, faults and facts as frozen values; reading and joining them imports no
torch.

``inplace_fix.trace.evidence`` reads and writes them as files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from inplace_fix.nouns import Place, Span

__all__ = ["SEVERITIES", "Evidence", "EvidenceError", "Fact", "Fault", "Place", "Span", "Write", "merge"]

SEVERITIES = ("raised", "silent", "hazard")
"""PyTorch raised; the run went on with wrong numbers; the write is harmless only as long as something else holds."""

_KEPT = 8  # how many different shapes, operations and places of one site are worth keeping
_T = TypeVar("_T")


class EvidenceError(Exception):
    """An evidence file that cannot be used; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True, order=True)
class Write:
    """One in-place write that a fault speaks of.

    ``place`` is the expression that wrote, in the innermost frame outside torch. ``caller`` is the user's own call
    where
    that frame lies in an installed library. ``made_at`` is where the module was constructed whose ``inplace=True``
    wrote.
    """

    place: Place
    op: str
    made_at: Place | None = None
    caller: Place | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A write that broke or corrupted a gradient, or a value, in the run.

    ``kind`` is a short name such as ``saved-tensor`` or ``leaf`` (all of them are listed in docs/evidence.md),
    ``message`` PyTorch's own first sentence ("" where it said nothing). ``node`` is the backward node that saved the
    value and ``attribute`` which of its values it was (``self``, ``result``, ``weight``). ``caught`` is True where the
    program handled the exception and went on. ``count`` is how often it was seen.
    """

    kind: str
    severity: str
    message: str
    why: str
    remedy: str
    writes: tuple[Write, ...] = ()
    saved: Place | None = None
    node: str = ""
    attribute: str = ""
    backward: Place | None = None
    related: tuple[tuple[str, Place], ...] = ()
    caught: bool = False
    count: int = 1

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two observations the same fault."""
        return (
            self.kind,
            self.severity,
            self.writes,
            self.saved,
            self.node,
            self.attribute,
            self.backward,
            self.related,
        )


@dataclass(frozen=True, slots=True)
class Fact:
    """What was seen of one expression whenever it gave, or wrote to, a tensor.

    ``role`` is ``write`` (the facts are the receiver's, before the write) or ``value`` (the expression's result).
    The tuples hold the different values seen, in order of appearance; ``requires_grad``, ``leaf``, ``view``,
    ``parameter`` and ``grad_mode`` are tuples of the Booleans seen. ``aliases`` are expressions that gave a tensor in
    the same storage, ``names`` the local variables that held the written tensor. ``harmless`` counts
    the writes after which a backward found nothing stale.
    """

    place: Place
    role: str
    ops: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    devices: tuple[str, ...] = ()
    requires_grad: tuple[bool, ...] = ()
    leaf: tuple[bool, ...] = ()
    view: tuple[bool, ...] = ()
    parameter: tuple[bool, ...] = ()
    grad_mode: tuple[bool, ...] = ()
    inference: tuple[bool, ...] = ()
    aliases: tuple[Place, ...] = ()
    names: tuple[str, ...] = ()
    count: int = 0
    harmless: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that one or more traced runs showed about sources that have not changed since.

    ``notes`` tells in words what was left out and why. ``digests`` is the SHA-256 of every source file spoken of.
    """

    faults: tuple[Fault, ...] = ()
    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    digests: dict[str, str] = field(default_factory=dict)
    torch_version: str = ""
    runs: int = 1


def merge(parts: Iterable[Evidence]) -> Evidence:
    """Join what several processes or runs saw: equal faults are counted together, facts of one expression united."""
    faults: dict[tuple[object, ...], Fault] = {}
    facts: dict[tuple[Place, str], Fact] = {}
    notes: list[str] = []
    digests: dict[str, str] = {}
    version, runs = "", 0
    for part in parts:
        for fault in part.faults:
            known = faults.get(fault.identity)
            if known is None:
                faults[fault.identity] = fault
            else:
                faults[fault.identity] = replace(
                    known, count=known.count + fault.count, caught=known.caught and fault.caught
                )
        for fact in part.facts:
            before = facts.get((fact.place, fact.role))
            facts[fact.place, fact.role] = fact if before is None else _united(before, fact)
        notes.extend(note for note in part.notes if note not in notes)
        digests.update(part.digests)
        version = part.torch_version or version
        runs += part.runs
    return Evidence(tuple(faults.values()), tuple(facts.values()), tuple(notes), digests, version, runs)


def _united(a: Fact, b: Fact) -> Fact:
    return Fact(
        place=a.place,
        role=a.role,
        ops=_join(a.ops, b.ops),
        dtypes=_join(a.dtypes, b.dtypes),
        shapes=_join(a.shapes, b.shapes),
        devices=_join(a.devices, b.devices),
        requires_grad=_join(a.requires_grad, b.requires_grad),
        leaf=_join(a.leaf, b.leaf),
        view=_join(a.view, b.view),
        parameter=_join(a.parameter, b.parameter),
        grad_mode=_join(a.grad_mode, b.grad_mode),
        inference=_join(a.inference, b.inference),
        aliases=_join(a.aliases, b.aliases),
        names=_join(a.names, b.names),
        count=a.count + b.count,
        harmless=a.harmless + b.harmless,
    )


def _join(a: tuple[_T, ...], b: tuple[_T, ...]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys((*a, *b)))[:_KEPT]
