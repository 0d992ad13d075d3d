"""What happens around each backward: a failed one is explained, a passed one clears the writes before it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

from inplace_fix.trace import graph
from inplace_fix.trace.errors import STALE, by_kind, explain, first_sentence
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.positions import Site
from inplace_fix.trace.recorder import Observed, Recorder
from inplace_fix.trace.stamps import Stamps

_ORDER = "run every backward that needs these weights before the optimizer steps, or compute the forward again after the step"

Before = Callable[[Any, "Site | None"], None]


class Backward:
    """The wrapper of autograd's engine; ``before`` are looks at the graph that the *full* level takes first."""

    def __init__(self, recorder: Recorder, stamps: Stamps) -> None:
        self._recorder = recorder
        self._stamps = stamps
        self.before: list[Before] = []
        self.after: list[Callable[[], None]] = []

    def install(self, patches: Patches) -> None:
        """Replace the one function through which ``backward``, ``grad`` and the function transforms enter the engine."""
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
        if hasattr(error, "_inplace_fix_seen"):
            return
        if STALE not in message:
            explanation = explain(message)
            if explanation is not None and site is not None:
                write = ((site, "", None),) if explanation.kind != "no-derivative" else ()
                found = [self._refused_node(explanation.kind, message, site, write)]
                self._recorder.report(found, error)
            return
        faults = [self.observed(one, site) for one in graph.stale(outputs)]
        if not faults:
            faults = [self._unexplained(message, site)]
        self._recorder.report(faults, error)

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

    def _refused_node(self, kind: str, message: str, site: Site, writes: tuple[Any, ...]) -> Observed:
        explanation = by_kind(kind)
        return Observed(
            kind, "raised", first_sentence(message), explanation.why, explanation.remedy, writes, backward=site
        )

    def _unexplained(self, message: str, site: Site | None) -> Observed:
        """A stale value that no node shows, as inside the node of a write through a view."""
        explanation = by_kind("saved-tensor")
        return Observed(
            "saved-tensor",
            "raised",
            first_sentence(message),
            explanation.why,
            explanation.remedy,
            backward=site,
        )
