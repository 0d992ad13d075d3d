"""From evidence to what the analysis may use of it: one glimpse for each expression that gave or was written a tensor.

Imports no torch, so that a check can use evidence without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from inplace_fix.analysis.seen import Glimpse, Seen
from inplace_fix.trace.observations import Evidence, Fact

_T = TypeVar("_T")


def seen_of(evidence: Evidence) -> Seen:
    """What the runs showed, by place."""
    return Seen(
        {fact.place: _glimpse(fact) for fact in evidence.facts if fact.role == "value"},
        {fact.place: _glimpse(fact) for fact in evidence.facts if fact.role == "write"},
    )


def _glimpse(fact: Fact) -> Glimpse:
    scalars = tuple(dict.fromkeys(not shape for shape in fact.shapes))
    return Glimpse(
        fact.ops,
        _only(fact.dtypes),
        _only(scalars),
        _only(fact.requires_grad),
        _only(fact.leaf),
        _only(fact.view),
        _only(fact.grad_mode),
    )


def _only(values: Sequence[_T]) -> _T | None:
    """The one value that was ever seen, None where there were several or none."""
    return values[0] if len(values) == 1 else None
