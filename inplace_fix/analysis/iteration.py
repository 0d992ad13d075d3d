"""Iterating and unpacking: which values a loop visits, bounded for what is long or unknown."""

from __future__ import annotations

import ast

from inplace_fix.analysis.conditions import ALWAYS, Cell
from inplace_fix.analysis.machine import MOST_ITEMS, MOST_ROUNDS, Machine
from inplace_fix.analysis.names import read_cell
from inplace_fix.analysis.values import (
    Choice,
    Const,
    DictValue,
    Instance,
    ListValue,
    Module,
    Tensor,
    Unknown,
    Value,
    choice,
)


def slot(m: Machine, value: Value, label: str = "[...]") -> Cell:
    """A container's slot holding ``value``."""
    cell = Cell("item", label)
    # a slot exists only where its container does, so its first value needs no condition
    cell.write(ALWAYS, value, m.now())
    return cell


def listed(m: Machine, values: list[Value], kind: str = "list", exact: bool = True) -> ListValue:
    """Values as a fresh list."""
    return ListValue([slot(m, value) for value in values], kind, exact)


def kept(m: Machine, value: Value) -> Cell:
    """A slot of a container that lives on, so that whoever reads the container reads the value."""
    cell = slot(m, value)
    m.keep(cell, value)
    return cell


def exact(m: Machine, node: ast.expr) -> bool:
    """Whether iterating an expression visits each item (False where items stand for an unknown number)."""
    return isinstance(node, (ast.Tuple, ast.List))


def items(m: Machine, value: Value, node: ast.AST) -> list[Value]:
    """The values that iterating gives: all of a short known container, two rounds of everything else."""
    if isinstance(value, Choice):
        parts = [(guard, items(m, part, node)) for guard, part in value.options]
        longest = max(len(part) for _, part in parts)
        return [choice([(guard, part[i]) for guard, part in parts if i < len(part)]) for i in range(longest)]
    if isinstance(value, ListValue):
        return [read_cell(m, cell, node) for cell in _sample(value.cells)]
    if isinstance(value, DictValue):
        keys: list[Value] = [Const(key) for key in list(value.cells)[:MOST_ITEMS]]
        return keys or [Unknown(), Unknown()] if value.rest.bound or not keys else keys
    if isinstance(value, Module) and value.container in ("sequential", "list"):
        return [read_cell(m, cell, node) for cell in _sample(value.children)]
    if isinstance(value, Instance) and value.module is not None and value.module.container:
        return items(m, value.module, node)
    if isinstance(value, Const):
        if isinstance(value.value, (str, bytes, tuple, range)):
            return [Const(part) for part in list(value.value)[:MOST_ITEMS]]
        return []
    tensor = value.tensor if isinstance(value, Unknown) else value
    if isinstance(tensor, Tensor) and (tensor.sure or isinstance(value, Tensor)):
        return _rows(m, tensor, node)
    if isinstance(value, Unknown):
        return [part(m, value, ("round", number)) for number in range(MOST_ROUNDS)]
    return [Unknown() for _ in range(MOST_ROUNDS)]


def shortened(values: list[Value], rounds: int) -> list[Value]:
    """The first values of a column that goes on: a constant among them stands for others too, so its value is open."""
    if len(values) <= rounds:
        return values
    return [Unknown(number=True) if isinstance(value, Const) else value for value in values[:rounds]]


def _sample(cells: list[Cell]) -> list[Cell]:
    """All of a short list; the first ones and the last of a long one."""
    return cells if len(cells) <= MOST_ITEMS else [*cells[: MOST_ITEMS - 1], cells[-1]]


def part(m: Machine, value: Unknown, key: object) -> Value:
    """A part of something unknown: the same each time it is asked for."""
    found = value.parts.get(key)
    if found is None:
        found = value.parts[key] = Unknown(number=value.number)
    return found


def _rows(m: Machine, tensor: Tensor, node: ast.AST) -> list[Value]:
    """The rows of a tensor: views that one unbind made."""
    from inplace_fix.analysis.tensors import method

    result = method(m, tensor, "__iter__", [], {}, node)
    if isinstance(result, ListValue):
        return [cell.latest() or Unknown() for cell in result.cells]
    return [result, result]


def _part_of_bundle(m: Machine, bundle: Tensor, node: ast.AST) -> Tensor:
    """One tensor of a tuple that a module returned beside its first result."""
    tensor = m.fresh(node, requires=bundle.requires)
    tensor.node, tensor.dtype, tensor.contiguous = bundle.node, bundle.dtype, bundle.contiguous
    return tensor


def unpacked(m: Machine, value: Value, count: int, star: int | None, node: ast.stmt | ast.expr) -> list[Value]:
    """A value as ``count`` parts, the one at ``star`` collecting what is left over."""
    if isinstance(value, Choice):
        each = [(guard, unpacked(m, part_, count, star, node)) for guard, part_ in value.options]
        return [choice([(guard, parts[i]) for guard, parts in each]) for i in range(count)]
    if isinstance(value, ListValue) and (value.exact or star is None):
        cells = value.cells
        if value.exact and star is None and len(cells) == count:
            return [read_cell(m, cell, node) for cell in cells]
        if value.exact and star is not None and len(cells) >= count - 1:
            after = count - star - 1
            head = [read_cell(m, cell, node) for cell in cells[:star]]
            middle = ListValue(cells[star : len(cells) - after], "list")
            return [*head, middle, *(read_cell(m, cell, node) for cell in cells[len(cells) - after :])]
        if cells:
            return [read_cell(m, cells[min(i, len(cells) - 1)], node) for i in range(count)]
    if isinstance(value, Const) and isinstance(value.value, tuple) and len(value.value) == count:
        return [Const(part_) for part_ in value.value]
    tensor = value.tensor if isinstance(value, Unknown) else value
    if isinstance(tensor, Tensor) and tensor.bundle:
        return [_part_of_bundle(m, tensor, node) for _ in range(count)]
    if isinstance(tensor, Tensor):
        rows = _rows(m, tensor, node)
        return [rows[min(i, len(rows) - 1)] if i < len(rows) else Unknown() for i in range(count)]
    if isinstance(value, Unknown):
        return [part(m, value, number) for number in range(count)]
    return [Unknown() for _ in range(count)]
