"""``copy.deepcopy`` of abstract values: every storage, module and container anew, shared parts still shared."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from inplace_fix.analysis.conditions import Cell
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import (
    Choice,
    DictValue,
    Instance,
    ListValue,
    Module,
    Optimizer,
    Storage,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments


def deepcopy(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """Copy the first argument."""
    return duplicate(arguments.get(0, "x") or Unknown(), {})


def duplicate(value: Value, memo: dict[int, object]) -> Value:
    """A copy of ``value`` in which nothing is shared with the original."""
    found = memo.get(id(value))
    if isinstance(found, Value):
        return found
    if isinstance(value, Tensor):
        storage = memo.setdefault(
            id(value.storage), Storage(value.storage.origin, value.storage.made, value.storage.label)
        )
        assert isinstance(storage, Storage)
        result: Value = replace(value, storage=storage, maybe=(), node=None, base=None, view="", gradient=None)
        memo[id(value)] = result
        return result
    if isinstance(value, Choice):
        return Choice(tuple((guard, duplicate(part, memo)) for guard, part in value.options))
    if isinstance(value, ListValue):
        copied = ListValue([], value.kind, value.exact, value.names)
        memo[id(value)] = copied
        copied.cells = [_cell(cell, memo) for cell in value.cells]
        return copied
    if isinstance(value, DictValue):
        mapping = DictValue()
        memo[id(value)] = mapping
        mapping.cells = {key: _cell(cell, memo) for key, cell in value.cells.items()}
        mapping.rest = _cell(value.rest, memo)
        return mapping
    if isinstance(value, Module):
        module = replace(value, tensors={}, children=[], keys=list(value.keys), forward_hooks=list(value.forward_hooks))
        memo[id(value)] = module
        module.tensors = {name: _cell(cell, memo) for name, cell in value.tensors.items()}
        module.children = [_cell(cell, memo) for cell in value.children]
        module.training = _cell(value.training, memo)
        return module
    if isinstance(value, Instance):
        instance = replace(value, attributes={}, module=None)
        memo[id(value)] = instance
        instance.attributes = {name: _cell(cell, memo) for name, cell in value.attributes.items()}
        if value.module is not None:
            part = duplicate(value.module, memo)
            instance.module = part if isinstance(part, Module) else None
        return instance
    if isinstance(value, Optimizer):
        copies = [duplicate(tensor, memo) for tensor in value.params]
        return replace(value, params=[c for c in copies if isinstance(c, Tensor)], groups=None)
    if isinstance(value, Unknown):
        fresh = Unknown(value.label, number=value.number)
        memo[id(value)] = fresh
        return fresh
    return value


def _cell(cell: Cell, memo: dict[int, object]) -> Cell:
    copied = Cell(cell.kind, cell.label)
    copied.bindings = [(condition, duplicate(value, memo), tick) for condition, value, tick in cell.bindings]
    return copied
