"""Applies what runs showed to abstract values: what is unknown becomes the tensor that was seen.

Every function does nothing where there is no run, and never changes what the source itself says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from inplace_fix.analysis.conditions import Condition
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import promote, requires_of
from inplace_fix.analysis.seen import Glimpse
from inplace_fix.analysis.values import ListValue, Tensor, Tri, Unknown, Value, options

LIBRARIES = ("torch.nn.functional.", "torch.", "torch.Tensor.")


def written(m: Machine, value: Value, *nodes: ast.AST, name: str = "") -> None:
    """``value`` may be written to by one of ``nodes``: it is the tensor that runs saw written there, by ``name``."""
    if m.seen is None:
        return
    for node in nodes:
        glimpse = m.seen.receiver(m.unit, node)
        if glimpse is not None and (not name or name in glimpse.ops):
            _settle(m, value, glimpse)
            return


def asked(m: Machine, value: Value, name: str, node: ast.AST) -> None:
    """``value.name``, ``value.name(...)`` or ``value[...]``: where that gave a tensor by ``name``, it is one itself."""
    if m.seen is None or not isinstance(value, Unknown) or value.number:
        return
    glimpse = m.seen.result(m.unit, node)
    if glimpse is not None and name in glimpse.ops:
        promote(m, value, sure=True)


def combined(m: Machine, values: Iterable[Value], node: ast.AST) -> None:
    """Operands of an operator that gave a tensor: one of them at least is a tensor, the only unknown one surely."""
    if m.seen is None or m.seen.result(m.unit, node) is None:
        return
    values = list(values)
    if any(isinstance(v, Tensor) or (isinstance(v, Unknown) and v.tensor is not None) for v in values):
        return
    open_ones = [v for v in values if isinstance(v, Unknown) and not v.number]
    for value in open_ones:
        promote(m, value, sure=len(open_ones) == 1)


def called(m: Machine, node: ast.AST) -> str | None:
    """The qualified name of the torch function that a call of something unknown was seen to be, where it was one."""
    glimpse = m.seen.result(m.unit, node) if m.seen is not None else None
    if glimpse is None or len(glimpse.ops) != 1:
        return None
    names = (library + glimpse.ops[0] for library in LIBRARIES)
    return next((name for name in names if m.catalog.function(name) is not None), None)


def requires(m: Machine, source: Tri, sources: Sequence[tuple[Condition, Tensor]], node: ast.AST) -> Tri:
    """Whether an operation's result requires grad, where the source leaves that open.

    ``sources`` are the tensors it is differentiable in. Where just one of them may require grad, that is the one.
    """
    doubtful = [tensor for _, tensor in sources if requires_of(tensor) is Tri.MAYBE]
    glimpse = m.seen.result(m.unit, node) if m.seen is not None and doubtful and source is not Tri.YES else None
    if glimpse is None or not glimpse.requires:
        return source
    if len(doubtful) == 1 and doubtful[0].requires is Tri.MAYBE:
        doubtful[0].requires = Tri.YES
    return Tri.YES


def given(m: Machine, value: Value, node: ast.AST) -> None:
    """``value`` is what ``node`` gave: the tensor that runs saw."""
    glimpse = m.seen.result(m.unit, node) if m.seen is not None else None
    if glimpse is not None and not isinstance(value, ListValue):  # of several results only the first was looked at
        _settle(m, value, glimpse)


def is_view(m: Machine, node: ast.AST) -> bool | None:
    """Whether an expression gave a view of its operand's memory, None where that was not seen or differed."""
    glimpse = m.seen.result(m.unit, node) if m.seen is not None else None
    return glimpse.view if glimpse is not None else None


def grad_mode(m: Machine, node: ast.AST) -> bool | None:
    """The grad mode, as runs saw it where the source leaves it open."""
    if m.grad is not None or m.seen is None:
        return m.grad
    glimpse = m.seen.receiver(m.unit, node) or m.seen.result(m.unit, node)
    return glimpse.grad if glimpse is not None else None


def _settle(m: Machine, value: Value, glimpse: Glimpse) -> None:
    parts = [part for _, part in options(value)]
    unknown = [part for part in parts if isinstance(part, Unknown) and part.tensor is None and not part.number]
    if len(unknown) == 1 and not any(isinstance(part, Tensor) for part in parts):
        promote(m, unknown[0], sure=True)
    tensors = [part.tensor if isinstance(part, Unknown) else part for part in parts]
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        _refine(tensors[0], glimpse)


def _refine(tensor: Tensor, glimpse: Glimpse) -> None:
    """Fill in what is open of a tensor."""
    tensor.sure = True
    if tensor.dtype is None:
        tensor.dtype = glimpse.dtype
    if tensor.scalar is None:
        tensor.scalar = glimpse.scalar
    if requires_of(tensor) is Tri.MAYBE and tensor.shares_graph and glimpse.requires is not None:
        tensor.requires = Tri.YES if glimpse.requires else Tri.NO
        tensor.leaf = tensor.leaf or (glimpse.requires and bool(glimpse.leaf) and tensor.node is None)
