"""NumPy arrays next to tensors: memory that both share, and that NumPy writes without a version."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import NONE, Tensor, Unknown, Value

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments

# functions of numpy that give memory of their own which the program goes on to fill
CREATORS = frozenset(
    ["empty", "zeros", "ones", "full", "array", "arange", "linspace", "empty_like", "zeros_like", "ones_like"]
)


def numpy_call(m: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A call of numpy: a fresh array for the creators, something unknown that is no tensor for the rest."""
    if name.rsplit(".", 1)[-1] in CREATORS:
        array = m.fresh(node, origin="array")
        array.array, array.versioned, array.shares_graph = True, False, False
        return Unknown("array", tensor=None, number=True, parts={"array": array})
    return Unknown(number=True)


def from_numpy(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """A tensor on an array's memory."""
    value = arguments.get(0, "ndarray") or NONE
    if isinstance(value, Unknown):
        array = value.parts.get("array")
        if not isinstance(array, Tensor):
            array = m.fresh(node, origin="array")
            array.array, array.versioned, array.shares_graph = True, False, False
            value.parts["array"] = array
        return Tensor(array.storage, made=m.site(node), made_tick=m.now())
    if isinstance(value, Tensor):
        return Tensor(value.storage, value.maybe, made=m.site(node), made_tick=m.now())
    return m.fresh(node)


def array_of(value: Value) -> Tensor | None:
    """The memory behind an array value, None for anything else."""
    if isinstance(value, Tensor) and value.array:
        return value
    if isinstance(value, Unknown):
        found = value.parts.get("array")
        return found if isinstance(found, Tensor) else None
    return None
