"""Backward passes over the recorded graph: which saved values each needs, and which of them were overwritten."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from inplace_fix.analysis.conditions import both, compatible, implies
from inplace_fix.analysis.facts import Conflict, Node, Observation, Save, Site, Write
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import requires_of
from inplace_fix.analysis.values import Tensor, Tri


def reachable(roots: Iterable[Node]) -> list[Node]:
    """The nodes behind ``roots`` that still hold what they saved."""
    stack = list(roots)
    seen = set(stack)
    found = []
    while stack:
        node = stack.pop()
        if node.freed is not None:
            continue
        found.append(node)
        for inner in node.inputs:
            if inner not in seen:
                seen.add(inner)
                stack.append(inner)
    return found


def backward(m: Machine, roots: Iterable[Node], site: Site | None, keep: bool = False) -> None:
    """A backward from ``roots``: note every saved value that was overwritten, then free the graph unless kept.

    ``site`` None stands for a backward outside the analysed code, on what leaves it.
    """
    nodes = reachable(roots)
    for node in nodes:
        if not compatible(node.condition, m.condition):
            continue
        for save in node.saves:
            for conflict in conflicts(m, save, site):
                m.facts.conflicts.append(conflict)
        if not keep and site is not None and implies(node.condition, m.condition):
            node.freed = m.tick


def conflicts(m: Machine, save: Save, site: Site | None) -> Iterable[Conflict]:
    """The first writes, on each path, to what ``save`` holds."""
    if not save.storage.writes or save.storage.writes[-1].tick <= save.tick:
        return
    first: Write | None = None
    at = both(save.condition, m.condition) if compatible(save.condition, m.condition) else None
    if at is None:
        return
    for write in save.storage.writes:
        if write.tick <= save.tick or not compatible(write.condition, at):
            continue
        if write.silent and save.own_statistics:
            continue
        if first is None or elsewhere(first, write):
            yield judged(save, write, site)
        if first is None and implies(at, write.condition):
            first = write


def elsewhere(first: Write, write: Write) -> bool:
    """Whether a later write would still meet the saved value if the first one had gone to a new tensor.

    It would, through another name for the memory that was there before; what was read from the same place would not.
    """
    if write.cell is None or write.cell is first.cell or write.tensor.made_tick >= first.tick:
        return False
    return write.tensor is not first.tensor


def judged(save: Save, write: Write, site: Site | None) -> Conflict:
    """A conflict with how certain it is and what it hangs on."""
    reasons = []
    if write.tensor.maybe or save.tensor.maybe:
        reasons.append("whether the value is a view or a copy depends on its layout")
    if not save.always:
        reasons.append(f"{save.node.op.rsplit('.', 1)[-1]} keeps this value for some layouts and shapes only")
    if not save.tensor.sure or not write.tensor.sure:
        reasons.append("whether this is a tensor is not known")
    if save.node.requires is not Tri.YES or (not save.sure and not reasons):
        reasons.append("the input may not require grad")
    if write.grad is None:
        reasons.append("the grad mode is not known")
    return Conflict(write, save, site, not reasons, "; ".join(reasons))


def used(m: Machine, tensor: Tensor, node: ast.AST) -> None:
    """A tensor enters an operation: a multi-output view must not be used after its base was written."""
    if tensor.view != "multi" or m.grad is False:
        return
    if requires_of(tensor) is Tri.NO:
        return
    for write in tensor.storage.writes:
        counted = write.grad is not False and not write.silent
        if write.tick > tensor.made_tick and counted and compatible(write.condition, m.condition):
            if write.view != "multi":
                related = [("one of the views is used here", m.site(node))]
                if tensor.made is not None:
                    related.append(("the views were made here", tensor.made))
                certain = requires_of(tensor) is Tri.YES
                m.facts.observations.append(
                    Observation("base-of-views", write.site, "", write, certain, tuple(related))
                )
            return
