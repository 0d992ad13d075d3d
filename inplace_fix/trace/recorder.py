"""What a run has shown so far: sites with their samples, and faults, both growing as the program goes on.

The recorder keeps no tensor: writes hang on the storages (``storages``), sites hold only types, shapes and flags.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

import torch

from inplace_fix.trace import storages
from inplace_fix.trace.errors import BASE_WRITTEN, explain, first_sentence
from inplace_fix.trace.frames import local_variables, names_of
from inplace_fix.trace.modules import ModuleOrigins
from inplace_fix.trace.positions import OWN, Positions, Site
from inplace_fix.trace.regions import Region, region_of
from inplace_fix.trace.sampling import Sample, share
from inplace_fix.trace.storages import Entry

_FAULTS = 1000
_RECENT = 128
_NAMES = 8
SEEN = "_inplace_fix_seen"
"""Set on an exception that has been explained already: the faults that it gave."""

Wrote = tuple[Site, str, "Site | None"]
"""The site of a write, the operation, and where the writing module was made (None where none was)."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A fault in terms of sites (see ``observations.Fault``)."""

    kind: str
    severity: str
    message: str
    why: str
    remedy: str
    writes: tuple[Wrote, ...] = ()
    saved: Site | None = None
    node: str = ""
    attribute: str = ""
    backward: Site | None = None
    related: tuple[tuple[str, Site], ...] = ()


class Tally:
    """How often a fault was seen, and whether the program handled the exception each time."""

    __slots__ = ("caught", "count")

    def __init__(self) -> None:
        self.count = 0
        self.caught = True


@dataclass(slots=True)
class Started:
    """A write that is under way."""

    site: Site
    op: str
    before: int | None
    tick: int
    made_at: Site | None
    region: Region | None
    silent: bool = False
    via: str = ""
    sampled: bool = False


Check = Callable[[Started, torch.Tensor, tuple[Any, ...], FrameType], None]
Noted = Callable[[Entry, torch.Tensor, Any, "Started"], None]


class Recorder:
    """The state of one traced process."""

    def __init__(self, *, full: bool) -> None:
        self.full = full
        self.live = True
        # Logs stay on storages when a recording ends; the next one in this process must not take them for its own.
        self.tick = time.monotonic_ns()
        self.positions = Positions(next(iter(torch.__path__)))
        self.origins = ModuleOrigins(self.positions)
        self.faults: dict[Observed, Tally] = {}
        self.checks: list[Check] = []  # looked at before every write
        self.noted: list[Noted] = []  # told of every write once it is in a storage's log
        self.on_fault: list[Callable[[], None]] = []
        self.backwards = 0  # how many runs of the engine are under way
        self.recent: deque[weakref.ref[Any]] = deque(maxlen=_RECENT)  # the storages written to last
        self._since_backward: set[Site] = set()

    # -- writes ----------------------------------------------------------------------------------------------------

    def begin(self, frame: FrameType, receiver: torch.Tensor, op: str, args: tuple[Any, ...]) -> Started | None:
        """Note what must be known before a write happens; None where no user code is behind it."""
        site = self.positions.site(frame)
        if site is None:
            return None
        self.tick += 1
        made_at, via = None, ""
        # A write from torch's own code may be a module's, whose frame knows where it was made, or an optimizer's.
        if frame.f_code is not site.code:
            made_at, via = self.origins.of_frame(frame, site.code)
        sample = site.write
        if sample is None:
            sample = site.write = Sample()
        sampled = sample.due()
        if sampled:
            sample.add(receiver, op)
            self._share(receiver, site, sample)
            if self.full:
                sample.names.update(dict.fromkeys(_names(frame, site, receiver)))
        if via == "optimizer":  # writes whole tensors, many of them a step, and knows what it does
            return Started(site, op, storages.version_of(receiver), self.tick, None, None, via=via)
        region = None
        if self.full:
            region = region_of(receiver, args[1] if op == "__setitem__" and len(args) > 1 else None)
        started = Started(site, op, storages.version_of(receiver), self.tick, made_at, region, via=via, sampled=sampled)
        for check in self.checks:
            check(started, receiver, args, frame)
        return started

    def begin_list(self, frame: FrameType, receivers: list[torch.Tensor], op: str) -> list[Started] | None:
        """As ``begin`` for an operation that writes to several tensors; the first stands for all in the facts."""
        first = self.begin(frame, receivers[0], op, ()) if receivers else None
        if first is None:
            return None
        first.silent = op.startswith("_fused_")
        return [first] + [
            Started(first.site, op, storages.version_of(one), first.tick, None, None, first.silent, first.via)
            for one in receivers[1:]
        ]

    def wrote(self, started: Started, receiver: torch.Tensor) -> None:
        """Log a write that went through."""
        before = started.before
        if before is None:
            return
        after = receiver._version
        if after == before and not started.silent:
            return  # nothing was written: detach_, a same-size resize_, dropout in evaluation
        self._since_backward.add(started.site)
        storage = storages.storage_of(receiver)
        if storage is None:
            return
        entry = storages.note(storage, started.site, started.made_at)
        if not entry.tick:
            self.recent.append(weakref.ref(storage))
        entry.before, entry.after, entry.op, entry.tick = before, after, started.op, started.tick
        entry.silent, entry.via = started.silent, started.via
        if started.region is not None:
            if len(entry.regions) >= 4:
                del entry.regions[0]
            entry.regions.append(started.region)
        for told in self.noted:
            told(entry, receiver, storage, started)

    def wrote_again(self, site: Site, op: str, receiver: torch.Tensor, before: int, tick: int) -> None:
        """As ``wrote`` for the *writes* level, at a site whose facts are known well enough: as little as can be."""
        after = receiver._version
        if after == before:
            return
        self._since_backward.add(site)
        storage = storages.storage_of(receiver)
        if storage is None:
            return
        log: dict[Site, Entry] | None = getattr(storage, "_inplace_fix_writes", None)
        entry = log.get(site) if log is not None else None
        if entry is None:
            entry = storages.note(storage, site)
            self.recent.append(weakref.ref(storage))
        entry.before, entry.after, entry.op, entry.tick = before, after, op, tick

    def wrote_silently(self, frame: FrameType, receivers: Iterable[object], op: str, tick: int) -> None:
        """Log writes that happened inside an operation at ``tick`` and moved no version counter."""
        site = self.positions.site(frame)
        if site is None:
            return
        for receiver in receivers:
            if isinstance(receiver, torch.Tensor):
                version = storages.version_of(receiver)
                if version is not None:
                    region = region_of(receiver)
                    self.wrote(Started(site, op, version, tick, None, region, silent=True), receiver)

    def refused(self, started: Started, receiver: torch.Tensor, error: BaseException) -> None:
        """Explain an in-place operation that PyTorch refused."""
        if hasattr(error, SEEN):
            return
        explanation = explain(str(error))
        if explanation is None:
            return
        write = (started.site, started.op, started.made_at)
        observed = Observed(
            explanation.kind,
            "raised",
            first_sentence(str(error)),
            explanation.why,
            explanation.remedy,
            (write,),
            related=_origin(explanation.kind, receiver, started.site),
        )
        self.report([observed], error)

    def forget(self) -> None:
        """Start anew in a forked process, whose parent tells what was seen before."""
        self.faults.clear()
        self._since_backward.clear()
        for site in self.positions.all():
            site.write = site.value = None
            site.harmless = 0

    # -- faults ----------------------------------------------------------------------------------------------------

    def report(self, faults: list[Observed], error: BaseException | None = None) -> None:
        """Count faults; those of an exception are taken for handled until the exception reaches the top."""
        news = False
        for observed in faults:
            tally = self.faults.get(observed)
            if tally is None:
                if len(self.faults) >= _FAULTS:
                    continue
                tally = self.faults[observed] = Tally()
                news = True
            tally.count += 1
            if observed.severity != "raised":
                tally.caught = False
        if error is not None and faults:
            known = (*getattr(error, SEEN, ()), *faults)
            try:
                setattr(error, SEEN, known)
            except AttributeError:
                self.uncaught(known)
        if news:
            for tell in self.on_fault:
                tell()

    def uncaught(self, faults: Iterable[Observed]) -> None:
        """The exception behind these faults ended the program."""
        for observed in faults:
            if observed in self.faults:
                self.faults[observed].caught = False

    def ended_by(self, error: BaseException) -> None:
        """The program ends with ``error``: mark its faults, or explain it where nothing did so while it was raised."""
        chain: list[BaseException] = []
        link: BaseException | None = error
        while link is not None and link not in chain:
            chain.append(link)
            link = link.__cause__ or link.__context__
        seen = [one for one in chain if hasattr(one, SEEN)]
        if seen:
            self.uncaught(getattr(seen[0], SEEN))
            return
        explanation = explain(str(error))
        site = self.site_of(error.__traceback__)
        if explanation is None or site is None:
            return
        tensors = [one for one in _locals_at_end(error.__traceback__, site) if isinstance(one, torch.Tensor)]
        self.failed(site, tensors, error)
        self.uncaught(getattr(error, SEEN))

    def failed(self, site: Site, tensors: Iterable[torch.Tensor], error: BaseException) -> None:
        """Explain an error of an operation at ``site`` that is no in-place write itself; ``tensors`` may be in it."""
        explanation = explain(str(error))
        if explanation is None or hasattr(error, SEEN):
            return
        writes: tuple[Wrote, ...] = ((site, "", None),)
        related: tuple[tuple[str, Site], ...] = ()
        if BASE_WRITTEN in str(error):
            last = _last_write(tensors)
            if last is not None:
                writes, related = ((last.site, last.op, last.made_at),), (("and then used", site),)
        observed = Observed(
            explanation.kind,
            "raised",
            first_sentence(str(error)),
            explanation.why,
            explanation.remedy,
            writes,
            related=related,
        )
        self.report([observed], error)

    def site_of(self, traceback: TracebackType | None) -> Site | None:
        """The innermost site of a traceback that lies outside torch and the standard library."""
        found = None
        own = None
        while traceback is not None:
            code = traceback.tb_frame.f_code
            kind = self.positions.kind(code)
            if kind:
                found = self.positions.at(code, traceback.tb_lasti)
                own = found if kind == OWN else own
                if own is not None and own is not found and own not in found.callers:
                    found.callers.append(own)
            traceback = traceback.tb_next
        return found

    # -- backward --------------------------------------------------------------------------------------------------

    def backward_passed(self) -> None:
        """A backward found nothing stale: the writes since the last one were harmless to it."""
        for site in self._since_backward:
            site.harmless += 1
        self._since_backward.clear()

    def backward_raised(self) -> None:
        """A backward failed: nothing can be said of the writes before it but what the faults say."""
        self._since_backward.clear()

    def caller_site(self, depth: int = 2) -> Site | None:
        """The site of the user's code that called the function that calls this."""
        return self.positions.site(sys._getframe(depth))

    def _share(self, tensor: torch.Tensor, site: Site, sample: Sample) -> None:
        storage = storages.storage_of(tensor)
        if storage is not None:
            share(storage, site, sample)


_VIEWS = {"multi-output-view", "no-grad-view", "hook-view", "custom-function-view", "expanded", "view-of-leaf"}


def _origin(kind: str, receiver: torch.Tensor, site: Site) -> tuple[tuple[str, Site], ...]:
    """Where the refused tensor came from, as far as the *full* level noted it: the view, or the tensor's first
    place.
    """
    storage = storages.storage_of(receiver)
    sites = [one for one in getattr(storage, "_inplace_fix_sites", ()) if one is not site and one.value is not None]
    if not sites:
        return ()
    if kind in _VIEWS:
        return (("the view was made", sites[-1]),)
    return (("the tensor was made", sites[0]),)


def _names(frame: FrameType | None, site: Site, receiver: torch.Tensor) -> list[str]:
    """The local names in the user's function that hold the written tensor."""
    while frame is not None and frame.f_code is not site.code:
        frame = frame.f_back
    return names_of(frame, receiver)[:_NAMES] if frame is not None else []


def _last_write(tensors: Iterable[torch.Tensor]) -> Entry | None:
    entries: list[Entry] = []
    for tensor in tensors:
        storage = storages.storage_of(tensor)
        if storage is not None and tensor._is_view():
            entries.extend(storages.log_of(storage).values())
    return max(entries, key=lambda entry: entry.tick, default=None)


def _locals_at_end(traceback: TracebackType | None, site: Site) -> list[object]:
    """The local variables of the function in which the error arose."""
    found: list[object] = []
    while traceback is not None:
        if traceback.tb_frame.f_code is site.code:
            found = local_variables(traceback.tb_frame)
        traceback = traceback.tb_next
    return found
