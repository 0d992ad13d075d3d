"""Which source expression made which node of the graph.

Autograd numbers the nodes of a thread in order. Noting that number after each operation costs some thirty nanoseconds
and leaves nothing on the node, so a node's expression is found later by a search for its number.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from typing import Any

import torch

from inplace_fix.trace.positions import Site
from inplace_fix.trace.recorder import Recorder

_LIMIT = 1 << 18
_LAST = (1 << 63) - 1  # the number of accumulation nodes, which are made once a leaf

next_number = torch.autograd._get_sequence_nr  # type: ignore[attr-defined]


class _Marks(threading.local):
    """The notes of one thread, in order of their numbers; the older half is dropped at ``_LIMIT``."""

    def __init__(self) -> None:
        self.numbers = array("q")
        self.ticks = array("q")
        self.sites: list[Site] = []
        self.last = -1


class Stamps:
    """Node numbers to sites and ticks."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._marks = _Marks()

    def mark(self, site: Site) -> bool:
        """Note that the nodes made since the last note belong to ``site``; False where there are none."""
        marks = self._marks
        number = next_number()
        if number == marks.last:
            return False
        marks.last = number
        marks.numbers.append(number)
        marks.ticks.append(self._recorder.tick)
        marks.sites.append(site)
        if len(marks.sites) >= _LIMIT:
            half = _LIMIT // 2
            del marks.numbers[:half], marks.ticks[:half], marks.sites[:half]
        return True

    def fresh(self) -> bool:
        """Whether a node was made in this thread since the last note."""
        return next_number() != self._marks.last

    def of(self, node: Any) -> tuple[Site, int] | None:
        """The expression that made a node and the tick when it was done; None where that was not seen."""
        custom = own_stamp(node)
        if custom is not None:
            return custom
        number = node._sequence_nr()
        marks = self._marks
        index = bisect_right(marks.numbers, number)
        if number >= _LAST or index == len(marks.sites) or (index == 0 and not self._first(marks, number)):
            return None
        return marks.sites[index], marks.ticks[index]

    def saved_at(self, node: Any) -> Site | None:
        """The expression that made a node."""
        found = self.of(node)
        return found[0] if found is not None else None

    def _first(self, marks: _Marks, number: int) -> bool:
        # Nodes from before the first note are nobody's; only the direct predecessor can belong to it.
        return bool(marks.numbers) and marks.numbers[0] - number <= 64


def own_stamp(node: Any) -> tuple[Site, int] | None:
    """The stamp that ``ctx.save_for_backward`` left on a custom Function's node."""
    if not hasattr(type(node), "saved_tensors"):
        return None
    stamp: tuple[Site, int] | None = node.metadata.get("inplace_fix")
    return stamp


def stamp(node: Any, site: Site, tick: int) -> None:
    """Leave a stamp on a custom Function's node."""
    node.metadata["inplace_fix"] = (site, tick)
