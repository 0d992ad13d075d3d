"""From a recorder's sites to evidence: lines and columns are worked out here, once a run."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from inplace_fix.nouns import Place
from inplace_fix.trace.observations import Evidence, Fact, Fault, Write
from inplace_fix.trace.positions import LIBRARY, Site, Spans
from inplace_fix.trace.recorder import Observed, Recorder, Tally
from inplace_fix.trace.sampling import Sample


def evidence_of(recorder: Recorder) -> Evidence:
    """All that the recorder has seen so far."""
    return _Builder(recorder).evidence()


class _Builder:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._spans = Spans()
        self._places: dict[Site, Place] = {}

    def evidence(self) -> Evidence:
        faults = tuple(self._fault(observed, tally) for observed, tally in list(self._recorder.faults.items()))
        facts = []
        for site in self._recorder.positions.all():
            for role, sample in (("write", site.write), ("value", site.value)):
                if isinstance(sample, Sample) and sample.count:
                    facts.append(self._fact(site, role, sample))
        digests = {os.path.abspath(name): digest for name, digest in self._recorder.positions.sources.items() if digest}
        return Evidence(faults, tuple(facts), (), digests, torch.__version__)

    def _place(self, site: Site) -> Place:
        known = self._places.get(site)
        if known is None:
            found = self._spans.place(site)
            known = self._places[site] = Place(Path(os.path.abspath(found.path)), found.span)
        return known

    def _optional(self, site: Site | None) -> Place | None:
        return self._place(site) if site is not None else None

    def _fault(self, observed: Observed, tally: Tally) -> Fault:
        return Fault(
            kind=observed.kind,
            severity=observed.severity,
            message=observed.message,
            why=observed.why,
            remedy=observed.remedy,
            writes=tuple(
                Write(
                    self._place(site),
                    op,
                    self._optional(made_at),
                    self._place(site.callers[0]) if site.kind == LIBRARY and site.callers else None,
                )
                for site, op, made_at in observed.writes
            ),
            saved=self._optional(observed.saved),
            node=observed.node,
            attribute=observed.attribute,
            backward=self._optional(observed.backward),
            related=tuple((text, self._place(site)) for text, site in observed.related),
            caught=tally.caught,
            count=tally.count,
        )

    def _fact(self, site: Site, role: str, sample: Sample) -> Fact:
        return Fact(
            place=self._place(site),
            role=role,
            ops=tuple(sample.ops),
            dtypes=tuple(sample.dtypes),
            shapes=tuple(sample.shapes),
            devices=tuple(sample.devices),
            requires_grad=tuple(sample.requires_grad),
            leaf=tuple(sample.leaf),
            view=tuple(sample.view),
            parameter=tuple(sample.parameter),
            grad_mode=tuple(sample.grad_mode),
            inference=tuple(sample.inference),
            aliases=tuple(self._place(other) for other in sample.aliases),
            names=tuple(sample.names),
            count=sample.count,
            harmless=site.harmless if role == "write" else 0,
        )
