"""What only shows once a run is over: values overwritten that somebody read later through another place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fix.analysis.conditions import compatible
from inplace_fix.analysis.facts import Form, Observation, Read, Write
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import Storage, Tensor


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
        elif write.form is Form.IMPLICIT:
            kept_gradient(m, write)
        if write.form in (Form.METHOD, Form.AUGMENTED, Form.STORE):
            lost(m, write)
        if write.form in (Form.METHOD, Form.AUGMENTED):
            scaled_state(m, write)
    shared(m)


def later_readers(write: Write) -> Iterator[Read]:
    """Reads of the written memory, after the write, from places that held it before."""
    for storage, surely in write.tensor.storages():
        if surely:
            yield from readers_after(write, storage)


def readers_after(write: Write, storage: Storage) -> Iterator[Read]:
    """The reads of one of the storages that a write may go to, from places bound before it and read after it."""
    for read in storage.reads:
        later = read.tick > write.tick and read.bound < write.tick
        elsewhere = read.cell is not write.cell or write.by_flag
        if later and elsewhere and compatible(read.condition, write.condition):
            yield read


def lost(m: Machine, write: Write) -> None:
    """A write through ``reshape`` after which only the base is read: where the layout made a copy, it is lost."""
    if write.tensor.view != "view" or not write.tensor.maybe or write.cell is None:
        return
    later = [read for storage, _ in write.tensor.storages() for read in storage.reads if read.tick > write.tick]
    if any(read.cell is write.cell or read.bound > write.tick for read in later):
        return
    base = next((read for read in later if read.bound < write.tick and read.cell.kind == "local"), None)
    if base is not None:
        related = (("only the base is read afterwards", base.site),)
        m.facts.observations.append(Observation("lost-write", write.site, "", write, False, related))


def kept_gradient(m: Machine, write: Write) -> None:
    """A gradient kept by reference is zeroed by ``zero_grad(set_to_none=False)`` and read again later."""
    made = write.tensor.made
    if write.storage.origin != "gradient" or made is None:
        return
    for read in write.storage.reads:
        if read.tick > write.tick and read.bound < write.tick and read.cell.kind in ("item", "attribute"):
            related = (("written here", write.site), ("read again here", read.site))
            m.facts.observations.append(Observation("shared-data", made, related=related, certain=False))
            return


def scaled_state(m: Machine, write: Write) -> None:
    """A name that is fresh on one path and state kept elsewhere on another is written: the state changes with it."""
    if not isinstance(write.receiver, ast.Name) or write.cell is None or write.cell.kind != "local":
        return
    bound = [value for _, value, tick in write.cell.bindings if tick < write.tick and isinstance(value, Tensor)]
    if len(bound) < 2 or write.tensor not in bound:
        return
    kept = [r for r in later_readers(write) if r.cell.kind in ("item", "attribute")]
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
