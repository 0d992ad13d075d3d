"""Augmented assignments: in place where the target is a tensor, a new binding where it is immutable."""

from __future__ import annotations

import ast

from inplace_fix.analysis import arrays, attributes, evident, indexing, names
from inplace_fix.analysis.conditions import Cell, Condition
from inplace_fix.analysis.facts import Form
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import Call, Operand, as_tensor
from inplace_fix.analysis.tensors import apply, operate, overload
from inplace_fix.analysis.values import (
    DictValue,
    Instance,
    ListValue,
    Tensor,
    Unknown,
    Value,
    choice,
    options,
)
from inplace_fix.analysis.writes import write_array
from inplace_fix.catalog.model import Op

SYMBOLS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}


def augmented(m: Machine, node: ast.AugAssign) -> None:
    """``target op= value``: in place for tensors (never for ``@=``), a new binding for everything immutable."""
    from inplace_fix.analysis.expressions import evaluate
    from inplace_fix.analysis.statements import assign

    target = node.target
    symbol = SYMBOLS[type(node.op)]
    owner: Value | None = None
    index: Value | None = None
    if isinstance(target, ast.Subscript):
        owner, index = evaluate(m, target.value), evaluate(m, target.slice)
        evident.written(m, owner, target)
        old = indexing.get_item(m, owner, index, target)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(m, target.value)
        old = attributes.get(m, owner, target.attr, target)
    else:
        old = names.load(m, target)
    value = evaluate(m, node.value)
    held = owner if index is not None and owner is not None else old
    array = arrays.array_of(held)
    if array is not None:
        write_array(m, array, target.value if isinstance(target, ast.Subscript) else target, node)
        return
    evident.written(m, old, node)
    tensor = as_tensor(m, old)
    op = m.catalog.operator(symbol + "=")
    if isinstance(target, ast.Subscript) and index is not None and as_tensor(m, held) is not None and op is not None:
        augmented_store(m, node, target, held, index, old, value, op)
        return
    if tensor is None or op is None:
        if isinstance(old, (ListValue, DictValue)):
            indexing.extend(m, old, value, node)
            return
        result = operate(m, symbol, [(old, target), (value, node.value)], node)
        if isinstance(old, Unknown) and not old.number and not isinstance(result, Tensor):
            return  # an object that may well have changed in place: the name still means it
        rebind(m, node, result)
        return
    results: list[tuple[Condition, Value]] = []
    for guard, part in options(old):
        with m.under(guard) as possible:
            if not possible:
                continue
            receiver = part.tensor if isinstance(part, Unknown) else part
            if isinstance(receiver, Tensor) and (
                isinstance(part, Tensor) or receiver.sure or isinstance(part, Unknown)
            ):
                operands: list[Operand] = [(part, target), (value, node.value)]
                chosen = overload(m, op, operands, {})
                call = Call(chosen, dict(zip(chosen.params, operands, strict=False)), node, Form.AUGMENTED, target)
                apply(m, call)
                results.append((guard, part))
            else:
                results.append((guard, operate(m, symbol, [(part, target), (value, node.value)], node)))
    if any(a is not b for (_, a), (_, b) in zip(results, options(old), strict=False)):
        assign(m, target, choice(results), node)
    elif isinstance(target, ast.Attribute):
        written_attribute(m, node, owner, target, tensor)


def rebind(m: Machine, node: ast.AugAssign, value: Value) -> None:
    """Bind the target of an augmented assignment to a new value."""
    from inplace_fix.analysis.statements import assign

    assign(m, node.target, value, node)


def written_attribute(
    m: Machine, node: ast.AugAssign, owner: Value | None, target: ast.Attribute, tensor: Tensor
) -> None:
    """``x.T += v`` writes and then fails: the view attribute cannot be set."""
    if owner is not None and as_tensor(m, owner) is not None and target.attr in m.catalog.attributes:
        if target.attr != "data":
            m.observe("view-attribute", node, certain=True)
    elif isinstance(owner, Instance) and target.attr not in owner.attributes:
        cell = Cell("attribute", f"{m.unit.segment(target.value)}.{target.attr}")
        cell.write(m.condition, tensor, m.now())
        owner.attributes[target.attr] = cell


def augmented_store(
    m: Machine,
    node: ast.AugAssign,
    target: ast.Subscript,
    owner: Value,
    index: Value,
    old: Value,
    value: Value,
    op: Op,
) -> None:
    """``x[i] op= v``: through a view for basic indices, gather and put back for index tensors."""
    advanced = indexing.is_advanced(m, index)
    bound: dict[str, Operand] = dict(zip(op.params, [(old, target), (value, node.value)], strict=False))
    if advanced:
        operate(m, SYMBOLS[type(node.op)], [(old, target), (value, node.value)], node)
        put = m.catalog.method("__setitem__.advanced")
        if put is not None:
            own: dict[str, Operand] = dict(
                zip(put.params, [(owner, target.value), (index, target.slice), (value, node.value)], strict=False)
            )
            apply(m, Call(put, own, node, Form.AUGMENTED_STORE, target.value))
            indexing.check_repeated(m, node, owner, index, value)
        return
    apply(m, Call(op, bound, node, Form.AUGMENTED_STORE, target.value))
