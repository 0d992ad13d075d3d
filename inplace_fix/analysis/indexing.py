"""Subscripts: views and gathers of tensors, slots of containers."""

from __future__ import annotations

import ast
from typing import Any

from inplace_fix.analysis import evident, iteration
from inplace_fix.analysis.conditions import Cell
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.names import read_cell
from inplace_fix.analysis.operands import Call, Operand, as_tensor, requires_of, tensors_of
from inplace_fix.analysis.tensors import apply
from inplace_fix.analysis.values import (
    Choice,
    Const,
    DictValue,
    Instance,
    ListValue,
    Module,
    Tensor,
    Tri,
    Unknown,
    Value,
    choice,
    options,
)


def get_item(m: Machine, owner: Value, index: Value, node: ast.Subscript) -> Value:
    """``owner[index]``."""
    if isinstance(owner, Choice):
        found = []
        for guard, part in owner.options:
            with m.under(guard) as possible:
                if possible:
                    found.append((guard, get_item(m, part, index, node)))
        return choice(found) if found else Unknown()
    evident.asked(m, owner, "__getitem__", node)
    if isinstance(owner, (Tensor, Unknown)):
        tensor = owner.tensor if isinstance(owner, Unknown) else owner
        if tensor is not None and not (isinstance(index, Const) and isinstance(index.value, str)):
            return _tensor_item(m, owner, index, node)
        if isinstance(owner, Unknown):
            key = index.value if isinstance(index, Const) and isinstance(index.value, (int, str)) else None
            if key is not None:
                return iteration.part(m, owner, ("item", key))
            return Unknown(number=owner.number)
        return Unknown()
    if isinstance(owner, Instance) and owner.module is not None and owner.module.container:
        return get_item(m, owner.module, index, node)
    if isinstance(owner, Module):
        return _slot(m, owner.children, index, node, owner.exact, dict(zip(owner.keys, owner.children, strict=False)))
    if isinstance(owner, ListValue):
        return _slot(m, owner.cells, index, node, owner.exact, {}, owner.kind)
    if isinstance(owner, DictValue):
        key = hashable(index)
        if key is not None and owner.of_dicts and key not in owner.cells:
            owner.cells[key] = iteration.slot(m, DictValue())
        if key is not None and key in owner.cells:
            return read_cell(m, owner.cells[key], node)
        cells = [*(owner.cells.values() if key is None else ()), *([owner.rest] if owner.rest.bound else [])]
        return _any(m, cells, node)
    if isinstance(owner, Const) and isinstance(owner.value, (str, tuple)):
        return Unknown(number=True)
    return Unknown()


def hashable(index: Value) -> Any:
    """A key that can be told apart: a constant's value, or the identity of a tensor or object; None otherwise."""
    if isinstance(index, Const) and isinstance(index.value, (int, str, bytes, bool, tuple)):
        return index.value
    if isinstance(index, (Tensor, Instance)):
        return ("object", id(index))
    return None


def _slot(
    m: Machine,
    cells: list[Cell],
    index: Value,
    node: ast.AST,
    exact: bool,
    named: dict[str, Cell],
    kind: str = "list",
) -> Value:
    if isinstance(index, Const):
        if isinstance(index.value, slice):
            part = _slice_of(cells, node) if exact else None
            return ListValue(cells if part is None else part, kind, part is not None)
        if isinstance(index.value, str):
            return read_cell(m, named[index.value], node) if index.value in named else _any(m, cells, node)
        if isinstance(index.value, int) and cells:
            number = index.value
            if exact and -len(cells) <= number < len(cells):
                return read_cell(m, cells[number], node)
            if not exact:
                # elements stand for many: the first and the last are themselves, the rest is any of them
                return read_cell(
                    m, cells[0 if number == 0 else -1 if number < 0 else min(number, len(cells) - 1)], node
                )
            return Unknown()
    return _any(m, cells, node)


def _slice_of(cells: list[Cell], node: ast.AST) -> list[Cell] | None:
    """The part that a literal slice names, None where its bounds are not literal."""
    index = getattr(node, "slice", None)
    if not isinstance(index, ast.Slice):
        return None
    bounds = []
    for part in (index.lower, index.upper, index.step):
        try:
            bounds.append(None if part is None else ast.literal_eval(part))
        except ValueError:
            return None
    return cells[slice(*bounds)]


def _any(m: Machine, cells: list[Cell], node: ast.AST) -> Value:
    """One of several slots, not known which."""
    if not cells:
        return Unknown()
    if len(cells) == 1:
        return read_cell(m, cells[0], node)
    key = m.branch()
    return choice([({key: number}, read_cell(m, cell, node)) for number, cell in enumerate(cells[:6])])


def is_advanced(m: Machine, index: Value) -> bool:
    """Whether an index gathers (a tensor or a list in it) instead of giving a view."""
    if isinstance(index, Choice):
        return all(is_advanced(m, part) for _, part in index.options)
    if isinstance(index, Tensor):
        return index.scalar is not True
    if isinstance(index, Unknown):
        return index.tensor is not None
    if isinstance(index, ListValue):
        if index.kind == "list":
            return True
        return any(is_advanced(m, part) for cell in index.cells if (part := cell.latest()) is not None)
    return False


def _tensor_item(m: Machine, owner: Value, index: Value, node: ast.Subscript) -> Value:
    name = "__getitem__.advanced" if is_advanced(m, index) else "__getitem__"
    op = m.catalog.method(name)
    if op is None:
        return Unknown()
    bound: dict[str, Operand] = dict(zip(op.params, [(owner, node.value), (index, node.slice)], strict=False))
    return apply(m, Call(op, bound, node, receiver=node.value))


def set_item(m: Machine, owner: Value, index: Value, value: Value) -> None:
    """Bind a container's slot."""
    key = hashable(index)
    if isinstance(owner, DictValue):
        if key is None:
            owner.rest.write(m.branched(), value, m.now())
        else:
            slot = owner.cells.setdefault(key, Cell("item", f"[{key!r}]"))
            slot.write(m.condition, value, m.now())
            m.keep(slot, value)
    elif isinstance(owner, ListValue) and owner.cells:
        if isinstance(key, int) and -len(owner.cells) <= key < len(owner.cells):
            owner.cells[key].write(m.condition, value, m.now())
        else:
            for cell in owner.cells:
                cell.write(m.branched(), value, m.now())
    elif isinstance(owner, Module) and isinstance(key, (int, str)):
        slots = dict(zip(owner.keys, owner.children, strict=False))
        if str(key) in slots:
            slots[str(key)].write(m.condition, value, m.now())
        else:
            owner.keys.append(str(key))
            owner.children.append(iteration.slot(m, value))
    elif isinstance(owner, Unknown) and isinstance(key, (int, str)):
        owner.parts["item", key] = value
        leave(value)
    else:
        leave(value)


def leave(value: Value) -> None:
    """A value goes where the analysis does not follow: somebody may hold its memory from now on."""
    for _, part in options(value):
        if isinstance(part, Tensor):
            part.storage.closed = False
        elif isinstance(part, ListValue):
            for cell in part.cells:
                latest = cell.latest()
                if latest is not None:
                    leave(latest)


def cell(owner: Value, key: object) -> Cell | None:
    """The slot of a container under a literal key."""
    if isinstance(owner, DictValue):
        return owner.cells.get(key)
    if isinstance(owner, ListValue) and isinstance(key, int) and -len(owner.cells) <= key < len(owner.cells):
        return owner.cells[key]
    return None


def update(m: Machine, owner: DictValue, value: Value) -> None:
    """``owner.update(value)``."""
    for _, part in options(value):
        if isinstance(part, DictValue):
            for key, slot in part.cells.items():
                latest = slot.latest()
                if latest is not None:
                    owner.cells.setdefault(key, Cell("item", f"[{key!r}]")).write(m.condition, latest, m.now())
            if part.rest.bound:
                owner.rest.write(m.branched(), part.rest.latest() or Unknown(), m.now())
        else:
            owner.rest.write(m.branched(), Unknown(), m.now())


def extend(m: Machine, owner: ListValue | DictValue, value: Value, node: ast.AST) -> None:
    """``owner += value`` and ``owner.extend(value)``."""
    if isinstance(owner, DictValue):
        update(m, owner, value)
        return
    source = value if isinstance(value, ListValue) else None
    owner.cells += [iteration.kept(m, item) for item in iteration.items(m, value, node)]
    owner.exact = owner.exact and source is not None and source.exact and not m.condition


def check_repeated(m: Machine, node: ast.AugAssign, owner: Value, index: Value, value: Value) -> None:
    """``x[i] += v`` keeps one of several contributions where ``i`` holds a place twice."""
    if not isinstance(node.op, (ast.Add, ast.Sub)) or isinstance(index, ListValue):
        return
    target = as_tensor(m, owner)
    indices = [t for _, t in tensors_of(m, index)]
    added = [t for _, t in tensors_of(m, value)]
    if target is None or not indices or not added or not target.storage.blank or len(target.storage.writes) > 1:
        return
    if target.storage.made is None or any(t.unique or t.dtype == "bool" or t.scalar for t in indices):
        return
    if all(t.scalar is not True for t in added) and max(map(requires_of, added)) is not Tri.NO:
        m.observe("repeated-index", node, certain=False)
