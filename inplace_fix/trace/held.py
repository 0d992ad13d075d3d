"""Values that somebody still holds when a module's or a function's ``inplace`` flag overwrites them.

``out = self.relu(x); out = out + x`` with an in-place relu reads another ``x`` than it was given. Who writes ``x.add_``
knows that ``x`` changes; who calls a module often does not, so only writes by a flag are looked at.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections import deque
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch

from inplace_fix.trace.frames import local_variables, names_of
from inplace_fix.trace.positions import OWN, Site
from inplace_fix.trace.reading import Reads
from inplace_fix.trace.recorder import Observed, Recorder, Started
from inplace_fix.trace.statements import Statements, targets
from inplace_fix.trace.storages import Entry

_CONTAINERS = (list, dict, deque)
_LOOKS = 2  # how often one write is looked at: finding who holds a tensor means a walk through all objects


@dataclass(frozen=True, slots=True)
class _Running:
    """One of the user's functions at the time of a write: its site, what its statement binds, and the names that hold
    the tensor without being bound by it."""

    site: Site
    bound: frozenset[str]
    holders: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Held:
    """An overwritten value; ``contained`` is True where a list, a dictionary or an attribute held it as well."""

    write: tuple[Site, str, Site | None]
    chain: dict[CodeType, _Running]
    contained: bool


class HeldValues:
    """The check; ``install`` hangs it on a recorder."""

    def __init__(self, recorder: Recorder, reads: Reads, statements: Statements) -> None:
        self._recorder = recorder
        self._reads = reads
        self._statements = statements
        self._looks: dict[tuple[Site, Site | None], int] = {}

    def install(self) -> None:
        """Begin to look at writes."""
        self._recorder.noted.append(self._wrote)

    def _wrote(self, entry: Entry, receiver: torch.Tensor, storage: Any, started: Started) -> None:
        if started.via != "module":
            return
        key = (started.site, started.made_at)
        looks = self._looks.get(key, 0)
        if looks >= _LOOKS:
            return
        self._looks[key] = looks + 1
        chain = self._chain(receiver)
        contained = _in_container(receiver, self._temporaries())
        if contained or any(running.holders for running in chain.values()):
            held = _Held((started.site, started.op, started.made_at), chain, contained)
            self._reads.watch(storage, lambda tensor, func, frame: self._read(held, tensor, frame))

    def _temporaries(self) -> set[int]:
        """The containers that torch's own running functions hold, such as the list of a call's tensors."""
        found: set[int] = set()
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if self._recorder.positions.kind(frame.f_code) != OWN:
                found.update(id(one) for one in local_variables(frame) if isinstance(one, _CONTAINERS))
            frame = frame.f_back
        return found

    def _chain(self, receiver: torch.Tensor) -> dict[CodeType, _Running]:
        """The user's functions that are running."""
        chain: dict[CodeType, _Running] = {}
        positions = self._recorder.positions
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if positions.kind(frame.f_code) == OWN and frame.f_code not in chain:
                site = positions.at(frame.f_code, frame.f_lasti)
                statement = self._statements.of(site)
                bound = targets(statement)
                # A function that returns the result reads nothing more by its names.
                holders = set() if isinstance(statement, ast.Return) else set(names_of(frame, receiver)) - bound
                chain[frame.f_code] = _Running(site, bound, frozenset(holders))
            frame = frame.f_back
        return chain

    def _read(self, held: _Held, tensor: torch.Tensor, frame: FrameType) -> None:
        """A read in one of those functions, by another statement, that does not go through the write's own result."""
        site = self._recorder.positions.site(frame)
        running = held.chain.get(site.code) if site is not None else None
        if site is None or running is None:
            return
        statement = self._statements.of(site)
        if statement is None or statement is self._statements.of(running.site):
            return
        reader = _frame_of(frame, site.code)
        names = set(names_of(reader, tensor)) if reader is not None else set()
        read = self._statements.names_read(site) & names
        if read & running.bound or (not read and names & running.bound):
            return
        if not read & running.holders and not held.contained:
            return
        observed = Observed(
            "held-value",
            "silent",
            "",
            "the value was still held elsewhere when the in-place flag overwrote it, and is read again afterwards: the "
            "reader gets the overwritten value",
            "inplace=False for this module, or clone the value where it is kept",
            (held.write,),
            related=(("read again", site),),
        )
        if observed not in self._recorder.faults:
            self._recorder.report([observed])


def _in_container(receiver: torch.Tensor, temporaries: set[int]) -> bool:
    """Whether a list, a dictionary or an object's attribute holds the tensor."""
    return any(
        isinstance(one, _CONTAINERS) and id(one) not in temporaries and not _is_namespace(one)
        for one in gc.get_referrers(receiver)
    )


def _is_namespace(candidate: object) -> bool:
    return isinstance(candidate, dict) and "__name__" in candidate and "__builtins__" in candidate


def _frame_of(frame: FrameType | None, code: CodeType) -> FrameType | None:
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame
