"""What an operation saves for its backward: its inputs and results, as the catalog's rules name them."""

from __future__ import annotations

import ast

from inplace_fix.analysis.conditions import Condition, both, compatible
from inplace_fix.analysis.facts import Node, Save
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import Call, requires_of, tensors_of
from inplace_fix.analysis.values import NONE, ListValue, Tensor, Tri, Value
from inplace_fix.catalog.model import Save as SaveRule


def _needed(rule: SaveRule, operands: dict[str, list[tuple[Condition, Tensor]]]) -> Tri:
    """Whether the parameters that must require grad for this save do."""
    if not rule.needs:
        return Tri.YES
    found = [requires_of(t) for param in rule.needs for _, t in operands.get(param, ())]
    return max(found, default=Tri.NO)


def save_inputs(
    m: Machine,
    call: Call,
    rules: tuple[SaveRule, ...],
    operands: dict[str, list[tuple[Condition, Tensor]]],
    node: Node,
) -> None:
    """Note what is saved of the inputs, where those that the rule asks about require grad."""
    for rule in rules:
        if rule.what.startswith("result"):
            continue
        needed = _needed(rule, operands)
        if needed is Tri.NO:
            continue
        argument = call.bound.get(rule.what, (NONE, None))[1] if rule.what not in call.own else None
        for guard, tensor in operands.get(rule.what, ()):
            save_tensor(m, call, rule, node, guard, tensor, argument and _passed(m, call, tensor, argument), needed)


def _passed(m: Machine, call: Call, tensor: Tensor, argument: ast.expr) -> ast.expr:
    """The expression that passed a tensor: of several operands under one parameter, the one that holds it."""
    if len(call.sources) > len(call.op.params):
        for value, expression in call.sources:
            if expression is not None and any(t is tensor for _, t in tensors_of(m, value)):
                return expression
    if isinstance(argument, (ast.Tuple, ast.List)):
        held = call.bound.get(next((p for p, (_, e) in call.bound.items() if e is argument), ""), (NONE, None))[0]
        if isinstance(held, ListValue) and len(held.cells) == len(argument.elts):
            for cell, element in zip(held.cells, argument.elts, strict=True):
                latest = cell.latest()
                if latest is not None and any(t is tensor for _, t in tensors_of(m, latest)):
                    return element
    return argument


def save_results(m: Machine, call: Call, rules: tuple[SaveRule, ...], result: Value, node: Node) -> None:
    """Note what is saved of the results."""
    for rule in rules:
        if not rule.what.startswith("result"):
            continue
        value = result
        if isinstance(result, ListValue):
            index = int(rule.what[7:-1]) if "[" in rule.what else 0
            if index >= len(result.cells):
                continue
            value = result.cells[index].latest() or NONE
        for guard, tensor in tensors_of(m, value):
            save_tensor(m, call, rule, node, guard, tensor, None, Tri.YES)


def save_tensor(
    m: Machine,
    call: Call,
    rule: SaveRule,
    node: Node,
    guard: Condition,
    tensor: Tensor,
    argument: ast.expr | None,
    needed: Tri,
) -> None:
    """Note one saved tensor, on every memory that it may look at."""
    assert m.frame is not None
    condition = both(m.condition, guard)
    if not compatible(m.condition, guard):
        return
    tick = m.now()
    for storage, surely in tensor.storages():
        save = Save(
            tick,
            condition,
            node,
            storage,
            tensor,
            rule.what,
            m.site(call.node),
            argument,
            rule.always,
            surely and tensor.sure and needed is Tri.YES,
            m.frame,
            call.op.silent and rule.what in call.op.writes,
        )
        node.saves.append(save)
        storage.saves.append(save)
