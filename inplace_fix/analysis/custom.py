"""Custom ``autograd.Function`` classes: forward run under their own rules, backward run once to see what it writes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from inplace_fix.analysis.attributes import class_member
from inplace_fix.analysis.conditions import Condition
from inplace_fix.analysis.facts import Node, Observation, Save
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import nodes_of, requires_of, tensors_of
from inplace_fix.analysis.values import Class, Extern, Function, Instance, Tensor, Tri, Unknown, Value, choice

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments


def run(m: Machine, cls: Class, arguments: Arguments, node: ast.AST) -> Value:
    """``cls.apply(...)``."""
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import invoke

    forward = _function(cls, "forward")
    if forward is None:
        return Unknown()
    context = Instance(Extern("torch.autograd.function.FunctionCtx"), label="ctx")
    inputs = [pair for value in arguments.values() for pair in tensors_of(m, value)]
    requires = max((requires_of(t) for _, t in inputs), default=Tri.NO) if m.grad is not False else Tri.NO
    for value in arguments.values():
        if isinstance(value, Unknown) and value.tensor is None and not value.number:
            requires = max(requires, Tri.MAYBE) if m.grad is not False else requires
    with m.grad_mode(False):
        result = invoke(
            m, forward, Args([(context, None), *arguments.positional], arguments.keywords, arguments.open), node
        )
    saved = _saved(m, context, "saved_tensors")
    dirty = {id(t) for _, t, _ in _saved(m, context, "dirty")}
    recorded = None
    if requires is not Tri.NO:
        sources = tuple(dict.fromkeys(n for _, t in inputs for n in nodes_of(t)))
        recorded = Node(f"{cls.node.name}.apply", m.site(node), sources, requires, m.condition, m.now())
        m.live.append(recorded)
        _keep(m, recorded, saved, forward, node)
    _run_backward(m, cls, context, node)
    given = {id(t.storage): t for _, t in inputs}
    results = []
    for guard, tensor in tensors_of(m, result):
        source = given.get(id(tensor.storage))
        if source is not None and id(source) in dirty:
            if recorded is not None:
                tensor.storage.history = recorded
            results.append((guard, tensor))
        elif source is not None and recorded is not None:
            view = Tensor(
                tensor.storage,
                tensor.maybe,
                recorded,
                requires,
                view="function",
                base=source,
                made=m.site(node),
                made_tick=m.now(),
                dtype=tensor.dtype,
            )
            results.append((guard, view))
        elif isinstance(result, Tensor):
            result.node, result.requires = recorded, requires
            return result
        else:
            tensor.node, tensor.requires = recorded, requires
    return choice(results) if results and not hasattr(result, "cells") else result


def _function(cls: Class, name: str) -> Function | None:
    member = class_member(cls, name)
    value = member.latest() if member is not None else None
    return value if isinstance(value, Function) else None


def _saved(m: Machine, context: Instance, key: str) -> list[tuple[Condition, Tensor, int]]:
    cell = context.attributes.get(key)
    if cell is None:
        return []
    found = []
    for _, value, tick in cell.bindings:
        found += [(guard, tensor, tick) for guard, tensor in tensors_of(m, value)]
    return found


def _keep(m: Machine, node: Node, saved: list[tuple[Condition, Tensor, int]], forward: Function, call: ast.AST) -> None:
    """The tensors are packed when forward returns, so that edits after ``save_for_backward`` go unseen."""
    assert m.frame is not None
    for guard, tensor, noted in saved:
        condition = {**m.condition, **guard}
        tick = m.now()
        save = Save(
            tick,
            condition,
            node,
            tensor.storage,
            tensor,
            "saved_tensors",
            m.site(call),
            None,
            True,
            not tensor.maybe,
            m.frame,
        )
        node.saves.append(save)
        tensor.storage.saves.append(save)
        for write in tensor.storage.writes:
            if noted < write.tick < tick:
                m.facts.observations.append(Observation("edit-after-save", write.site, write=write))


def _run_backward(m: Machine, cls: Class, context: Instance, node: ast.AST) -> None:
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import invoke

    backward = _function(cls, "backward")
    if backward is None or backward.node in m.visited:
        return
    gradients = []
    for _ in range(max(1, len(backward.node.args.args) - 1)):
        gradient = m.fresh(node, origin="gradient", label="gradient")
        gradient.role = "incoming"
        gradients.append((gradient, None))
    with m.grad_mode(False):
        invoke(m, backward, Args([(context, None), *gradients]), node)
