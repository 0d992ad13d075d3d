"""What only shows once a run is over: values overwritten that somebody read later through another place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fix.analysis.conditions import compatible
from inplace_fix.analysis.facts import Form, Observation, Read, Write
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import Tensor


def look_back(m: Machine) -> None:
    """Add the observations that need the whole run."""
    spoiled = {(c.write.site.node, c.write.made) for c in m.facts.conflicts}
    for write in m.facts.writes:
        if write.form in (Form.MODULE, Form.FLAG) and (write.site.node, write.made) not in spoiled:
            read = next(later_readers(write), None)
            if read is not None:
                site = write.made if write.form is Form.MODULE and write.made is not None else write.site
                related = (("the call that overwrites", write.site), ("read again here", read.site))
                m.facts.observations.append(Observation("kept-overwritten", site, "", write, False, related))
        elif write.form in (Form.METHOD, Form.AUGMENTED):
            lost(m, write)
            scaled_state(m, write)
    shared(m)


def later_readers(write: Write) -> Iterator[Read]:
    """Reads of the written memory, after the write, from places that held it before."""
    for storage, surely in write.tensor.storages():
        if not surely:
            continue
        for read in storage.reads:
            if read.tick > write.tick and read.bound < write.tick and (read.cell is not write.cell or write.by_flag):
                if compatible(read.condition, write.condition):
                    yield read


def lost(m: Machine, write: Write) -> None:
    """A write through the result of ``reshape`` that only the reshaped tensor is read for: the base may not see it."""


def scaled_state(m: Machine, write: Write) -> None:
    """A name that is fresh on one path and state kept elsewhere on another is written: the state changes with it."""
    if not isinstance(write.receiver, ast.Name) or write.cell is None or write.cell.kind != "local":
        return
    bound = [value for _, value, tick in write.cell.bindings if tick < write.tick and isinstance(value, Tensor)]
    if len(bound) < 2 or write.tensor not in bound:
        return
    kept = [r for r in write.storage.reads if r.cell.kind in ("item", "attribute") and r.bound < write.tick]
    fresh = [
        t
        for t in bound
        if t.storage is not write.storage and not any(r.cell.kind in ("item", "attribute") for r in t.storage.reads)
    ]
    if kept and fresh and not write.storage.saves:
        related = (("the same tensor is kept here", kept[0].site),)
        m.facts.observations.append(Observation("kept-overwritten", write.site, "", write, False, related))


def shared(m: Machine) -> None:
    """Memory that an assignment made two tensors share, and that was written afterwards."""
    for storage, site, since, vector in m.shared:
        written = next((w for w in storage.writes if w.tick > since), None)
        if written is None:
            continue
        if vector is not None and not any(r.tick > written.tick and r.bound < written.tick for r in storage.reads):
            continue
        related = (("written here", written.site),)
        m.facts.observations.append(Observation("shared-data", site, related=related, certain=False))
