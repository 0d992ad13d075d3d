"""Who else looks at the memory that a write changes: decides whether a name may be bound to a new tensor instead."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from inplace_fix.analysis.facts import Read, Write
from inplace_fix.analysis.hindsight import readers_after
from inplace_fix.analysis.values import Storage, Tensor
from inplace_fix.catalog.model import Kind


@dataclass(frozen=True, slots=True)
class Others:
    """The reads that would miss the write if it went to a new tensor, and whether code outside might be among them."""

    reads: tuple[Read, ...]
    outside: bool

    @property
    def none(self) -> bool:
        """Whether nobody else looks."""
        return not self.reads and not self.outside


def others(writes: tuple[Write, ...]) -> Others:
    """Readers of the written memory through another place, after any of the writes (one construct, many contexts)."""
    found: dict[tuple[int, int], Read] = {}
    outside = False
    for write in writes:
        for storage, _ in write.tensor.storages():
            outside = outside or not storage.closed or held_elsewhere(write, storage)
            for read in readers_after(write, storage):
                if not sibling(write, read):
                    found.setdefault((id(read.cell), read.site.line), read)
    return Others(tuple(found.values()), outside)


def sibling(write: Write, read: Read) -> bool:
    """Whether a read is of another of the views that one operation made: they share memory and no element."""
    if write.tensor.view != "multi" or write.tensor.made is None:
        return False
    made = write.tensor.made
    values = [value for _, value, bound in read.cell.bindings if bound == read.bound]
    return all(isinstance(v, Tensor) and v.view == "multi" and v.made == made and v is not write.tensor for v in values)


def held_elsewhere(write: Write, storage: Storage) -> bool:
    """Whether a list, dict or object keeps the memory: it may be read as a whole, without a look at its items."""
    return any(
        isinstance(value, Tensor) and any(held is storage for held, _ in value.storages())
        for cell, since in storage.holders
        if since < write.tick and cell is not write.cell
        for _, value, _ in cell.bindings
    )


def rebindable(write: Write) -> bool:
    """Whether the receiver is a place that a function may bind anew: a name of its own, or an attribute or slot."""
    cell, receiver = write.cell, write.receiver
    if isinstance(receiver, ast.Name):
        return cell is not None and any(own is cell for own in write.frame.cells.values())
    if isinstance(receiver, ast.Attribute):
        return cell is not None and cell.kind == "attribute" and not parameter(write.tensor)
    return isinstance(receiver, ast.Subscript) and cell is not None


def parameter(tensor: Tensor) -> bool:
    """Whether a tensor is, or looks at, a registered parameter."""
    return tensor.parameter or tensor.storage.origin == "parameter"


def procedure(write: Write) -> bool:
    """Whether the write is what its function is called for: it returns nothing, or the write refills a buffer."""
    if write.op is not None and write.op.kind in (Kind.OVERWRITE, Kind.RANDOM):
        return True
    function = write.frame.function
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return all(part.value is None for part in ast.walk(function) if isinstance(part, ast.Return))


def in_loop(write: Write) -> bool:
    """Whether the write stands in a loop that does not also make the memory: a clone there is made every round."""
    unit, made = write.site.unit, write.storage.made
    current = unit.parent(write.site.node)
    while current is not None and not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(current, (ast.For, ast.While, ast.AsyncFor)):
            inside = made is not None and made.unit is unit and _within(made.node, current)
            if not inside:
                return True
        current = unit.parent(current)
    return False


def _within(node: ast.AST, outer: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return isinstance(outer, (ast.stmt, ast.expr)) and outer.lineno <= line <= (outer.end_lineno or outer.lineno)
