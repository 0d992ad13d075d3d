"""Operands: an operation about to be carried out, and the tensors that are in the values it is given."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition, both
from inplace_fix.analysis.facts import Form, Node
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import Choice, DictValue, ListValue, Storage, Tensor, Tri, Unknown, Value
from inplace_fix.catalog.model import Op

Operand = tuple[Value, "ast.expr | None"]


@dataclass(slots=True)
class Call:
    """One operation about to be carried out: its catalog entry, its operands by parameter, and where it stands.

    ``own`` are tensors of the module itself that carries it out; ``form`` is how a write by it is spelt.
    """

    op: Op
    bound: Mapping[str, Operand]
    node: ast.AST
    form: Form = Form.METHOD
    receiver: ast.expr | None = None
    in_place: Tri | None = None
    made: object = None
    module: bool = False
    own: dict[str, Value] = field(default_factory=dict)
    scalar_first: bool = False
    flag_position: int | None = None
    sources: list[Operand] = field(default_factory=list)


def as_tensor(m: Machine, value: Value) -> Tensor | None:
    """The tensor that a value is known to be, None where it is not known to be one; of a choice, any of them."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Unknown):
        return value.tensor
    if isinstance(value, Choice):
        return next((t for _, part in value.options if (t := as_tensor(m, part)) is not None), None)
    return None


def promote(m: Machine, value: Unknown, sure: bool) -> Tensor:
    """Take something unknown for a tensor from now on: it may need grad, and others may hold it."""
    if value.tensor is None:
        storage = Storage("argument", None, value.label)
        storage.closed = False
        storage.level = -1
        value.tensor = Tensor(storage, requires=Tri.MAYBE, sure=sure)
        if value.nodes and m.frame is not None and m.grad is not False:
            requires = max(node.requires for node in value.nodes)
            site = value.nodes[0].site
            value.tensor.node = Node("call", site, value.nodes, requires, m.condition, m.tick)
            value.tensor.requires = requires
    elif sure:
        value.tensor.sure = True
    return value.tensor


def tensors_of(m: Machine, value: Value, guard: Condition = ALWAYS, depth: int = 0) -> list[tuple[Condition, Tensor]]:
    """All tensors in a value, containers opened, each with the condition under which it is there."""
    if isinstance(value, Tensor):
        return [(guard, value)]
    if isinstance(value, Unknown):
        return [(guard, value.tensor)] if value.tensor is not None else []
    if isinstance(value, Choice):
        return [pair for inner, part in value.options for pair in tensors_of(m, part, both(guard, inner), depth)]
    if depth > 3:
        return []
    cells: list[Cell] = []
    if isinstance(value, ListValue):
        cells = value.cells[:16]
    elif isinstance(value, DictValue):
        cells = [*list(value.cells.values())[:16], value.rest]
    found = []
    for cell in cells:
        for condition, part, _ in cell.read(m.condition):
            found += tensors_of(m, part, both(guard, condition) if guard else condition, depth + 1)
    return found


def requires_of(tensor: Tensor) -> Tri:
    """Whether a tensor needs grad now: of its own, or through a recorded write to its memory."""
    if not tensor.shares_graph:
        return tensor.requires
    result = tensor.requires
    for storage, _ in tensor.storages():
        if storage.history is not None:
            result = max(result, storage.history.requires)
    return result


def nodes_of(tensor: Tensor) -> list[Node]:
    """The graph nodes behind a tensor."""
    found = [tensor.node] if tensor.node is not None else []
    if tensor.shares_graph:
        found += [s.history for s, _ in tensor.storages() if s.history is not None]
    return found


def is_tensor(value: Value) -> bool | None:
    """Whether an argument is a tensor or a list of tensors, None where that is open."""
    if isinstance(value, Unknown):
        return True if value.tensor is not None and value.tensor.sure else False if value.number else None
    if isinstance(value, Choice):
        answers = {is_tensor(part) for _, part in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, ListValue):
        return any(is_tensor(part) is not False for cell in value.cells if (part := cell.latest()) is not None)
    return isinstance(value, Tensor)
