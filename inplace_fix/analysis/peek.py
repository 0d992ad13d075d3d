"""Looking at a place without running anything: no effects, no reads noted."""

from __future__ import annotations

import ast

from inplace_fix.analysis.conditions import Cell
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import Class, Const, DictValue, Instance, ListValue, Module, Unknown, Value, choice


def peek(m: Machine, node: ast.expr) -> Value | None:
    """The present value of a name, of an attribute or literal slot of such a place, or of a literal; else None."""
    from inplace_fix.analysis import attributes, indexing, names

    if isinstance(node, ast.Constant):
        return Const(node.value)
    if isinstance(node, ast.Name):
        return seen(m, names.lookup(m, node.id))
    if isinstance(node, ast.Attribute):
        owner = peek(m, node.value)
        if isinstance(owner, (Instance, Module, Class)):
            return seen(m, attributes.cell(owner, node.attr))
        return owner.parts.get(node.attr) if isinstance(owner, Unknown) else None
    if isinstance(node, ast.Subscript):
        owner = peek(m, node.value)
        index = peek(m, node.slice)
        if isinstance(owner, (ListValue, DictValue)) and isinstance(index, Const):
            return seen(m, indexing.cell(owner, index.value))
    if isinstance(node, ast.BinOp):
        return Unknown(number=True)
    return None


def seen(m: Machine, cell: Cell | None) -> Value | None:
    """What a cell holds under the present condition."""
    if cell is None or not cell.bound:
        return None
    found = [(guard, value) for guard, value, _ in cell.read(m.condition)]
    return choice(found) if found else cell.latest()
