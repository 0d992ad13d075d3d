"""What happens around each backward: a failed one is explained, a passed one clears the writes before it."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import Any

import torch

from inplace_fix.trace import graph
from inplace_fix.trace.errors import STALE, Explanation, by_kind, explain, first_sentence
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.positions import Site
from inplace_fix.trace.recorder import SEEN, Observed, Recorder, Wrote
from inplace_fix.trace.stamps import Stamps

_ORDER = (
    "run every backward that needs these weights before the optimizer steps, "
    "or compute the forward again after the step"
)

_OPERATION = re.compile(r"inplace version of (\w+)'|In-place (\w+) backward")

Before = Callable[[Any, "Site | None"], None]


class Backward:
    """The wrapper of autograd's engine; ``before`` are looks at the graph that the *full* level takes first."""

    def __init__(self, recorder: Recorder, stamps: Stamps) -> None:
        self._recorder = recorder
        self._stamps = stamps
        self.before: list[Before] = []
        self.after: list[Callable[[], None]] = []

    def install(self, patches: Patches) -> None:
        """Replace the one function through which ``backward``, ``grad`` and the function transforms enter the
        engine.
        """
        original = torch.autograd.graph._engine_run_backward
        recorder, frame_of = self._recorder, sys._getframe

        @functools.wraps(original)
        def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.live or torch.compiler.is_dynamo_compiling():
                return original(outputs, *args, **kwargs)
            site = recorder.positions.site(frame_of(1))
            for look in self.before:
                look(outputs, site)
            recorder.backwards += 1
            try:
                result = original(outputs, *args, **kwargs)
            except Exception as error:
                recorder.backward_raised()
                self._failed(outputs, site, error)
                raise
            finally:
                recorder.backwards -= 1
                for act in self.after:
                    act()
            recorder.backward_passed()
            if site is not None:
                self._stamps.mark(site)  # the nodes that create_graph=True added
            return result

        for owner in (torch.autograd.graph, torch.autograd):
            patches.set(owner, "_engine_run_backward", run)

    def _failed(self, outputs: Any, site: Site | None, error: Exception) -> None:
        message = str(error)
        if hasattr(error, SEEN):
            return
        if STALE in message:
            stale = graph.stale(outputs) or graph.stale_in(error.__traceback__)
            faults = [self.observed(one, site) for one in stale] or [self._unseen(message, site)]
            self._recorder.report(faults, error)
            return
        explanation = explain(message)
        if explanation is not None and site is not None:
            named = _OPERATION.search(message)
            writes = self._writers((named[1] or named[2]).lower()) if named is not None else ()
            self._recorder.report([_fault(explanation, message, writes, site)], error)

    def observed(self, stale: graph.Stale, backward: Site | None) -> Observed:
        """A stale saved value as a fault, with the forward expression that saved it where that is known."""
        node = stale.saved.node
        explanation = by_kind("saved-tensor")
        kind, remedy = "saved-tensor", explanation.remedy
        if stale.writes and all(entry.via == "optimizer" for entry in stale.writes):
            kind, remedy = "optimizer-order", _ORDER
        return Observed(
            kind,
            "raised",
            first_sentence(stale.message),
            explanation.why,
            remedy,
            tuple(dict.fromkeys((entry.site, entry.op, entry.made_at) for entry in stale.writes)),
            self._stamps.saved_at(node),
            node.name(),
            stale.saved.attribute,
            backward,
        )

    def _writers(self, operation: str) -> tuple[Wrote, ...]:
        """The expressions that did an in-place operation of this name, under whatever alias."""
        names = {operation, operation.replace("a", "arc", 1)}
        return tuple(
            (site, op, None)
            for site in self._recorder.positions.all()
            for op in (site.write.ops if site.write is not None else ())
            if op.replace("_", "") in names
        )

    def _unseen(self, message: str, site: Site | None) -> Observed:
        """A stale value that no node shows, as inside the node of a write through a view."""
        entries = graph.writers(self._recorder.recent, message)
        writes = tuple((entry.site, entry.op, entry.made_at) for entry in entries)
        return _fault(by_kind("saved-tensor"), message, writes, site)


def _fault(explanation: Explanation, message: str, writes: tuple[Wrote, ...], backward: Site | None) -> Observed:
    return Observed(
        explanation.kind,
        "raised",
        first_sentence(message),
        explanation.why,
        explanation.remedy,
        writes,
        backward=backward,
    )
