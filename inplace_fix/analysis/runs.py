"""Runs: one entry point run abstractly, with a budget of its own, and what leaves it alive."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container

from inplace_fix.analysis import autograd
from inplace_fix.analysis.calls import Arguments, blank, construct, invoke
from inplace_fix.analysis.conditions import ALWAYS
from inplace_fix.analysis.facts import Frame, Node
from inplace_fix.analysis.machine import STEPS_OF_FUNCTION, STEPS_OF_INIT, BudgetError, Machine
from inplace_fix.analysis.operands import nodes_of, tensors_of
from inplace_fix.analysis.units import Unit
from inplace_fix.analysis.values import Class, DictValue, Function, Instance, ListValue, Unknown, Value


def guarded(m: Machine, node: ast.AST, run: Callable[[], object], steps: int) -> bool:
    """Run one entry point with a budget of its own and clean state; False, and said so, where it was cut off."""
    m.most_steps = steps
    m.steps, m.depth, m.condition, m.grad, m.inference = 0, 0, ALWAYS, True, False
    m.frame, m.statement, m.level = None, None, 0
    m.active.clear()
    try:
        run()
    except (BudgetError, RecursionError) as error:
        reason = "too many steps" if isinstance(error, BudgetError) else "too deeply nested"
        m.gave_up(node, reason)
        return False
    return True


def enter_unit(m: Machine, unit: Unit) -> None:
    """Stand at the top level of a file, so that sites made before any call have one."""
    m.frame = Frame(unit, None, unit.module, m.scopes.get(unit.module, {}))


def run_module(m: Machine, cls: Class) -> None:
    """Make a module from unknown arguments and call it on unknown tensors; what it returns goes into some loss."""
    enter_unit(m, cls.unit)
    instance = made(m, cls)
    forward = cls.cells.get("forward")
    function = forward.latest() if forward is not None else None
    if isinstance(function, Function):
        result = invoke(m, function, Arguments([(instance, None)]), cls.node, entry=True)
        escape(m, result, instance)


def made(m: Machine, cls: Class) -> Instance:
    """An object made from unknown arguments, once; where its constructor is too long, as far as that got."""
    known = m.made.get(cls)
    if known is not None:
        return known
    instance = m.made[cls] = blank(m, cls, cls.node)
    steps, most = m.steps, m.most_steps
    m.steps, m.most_steps = 0, STEPS_OF_INIT
    try:
        construct(m, instance, cls, Arguments(open=True), cls.node)
    except BudgetError:
        m.gave_up(cls.node, "its constructor takes too many steps")
    finally:
        m.steps, m.most_steps = steps, most
    return instance


def run_methods(m: Machine, cls: Class, wanted: Container[str]) -> None:
    """Call each wanted method that nothing has called yet, on an object made from unknown arguments."""
    pending = [
        value
        for name, cell in cls.cells.items()
        if name in wanted
        for _, value, _ in cell.bindings
        if isinstance(value, Function) and value.node not in m.visited and value.unit is cls.unit
    ]
    if not pending:
        return
    enter_unit(m, cls.unit)
    instance = made(m, cls)
    for function in pending:
        if function.node not in m.visited:
            owner: list[Value] = [] if function.kind == "static" else [cls if function.kind == "class" else instance]
            run = lambda f=function, o=owner: run_function(m, f, o)  # noqa: E731
            guarded(m, function.node, run, STEPS_OF_FUNCTION)


def run_function(m: Machine, function: Function, owner: list[Value]) -> None:
    """Call a function on unknown arguments."""
    enter_unit(m, function.unit)
    result = invoke(m, function, Arguments([(value, None) for value in owner]), function.node, entry=True)
    escape(m, result, owner[0] if owner and isinstance(owner[0], Instance) else None)


def escape(m: Machine, result: Value, instance: Instance | None) -> None:
    """What an entry point returns, or keeps in its object, may be differentiated by whoever called it."""
    roots: list[Node] = [node for _, tensor in tensors_of(m, result) for node in nodes_of(tensor)]
    if instance is not None:
        for cell in list(instance.attributes.values()):
            for _, value, _ in cell.bindings:
                if isinstance(value, (ListValue, DictValue)) or not isinstance(value, Unknown):
                    roots += [node for _, tensor in tensors_of(m, value) for node in nodes_of(tensor)]
    if isinstance(result, Unknown):
        roots += result.nodes
    autograd.backward(m, roots, None)
