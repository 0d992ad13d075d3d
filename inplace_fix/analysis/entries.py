"""Entry points: which parts of a file are run abstractly, in which order, and what leaves them alive."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial

from inplace_fix.analysis import autograd, modules
from inplace_fix.analysis.calls import Arguments, instantiate, invoke
from inplace_fix.analysis.conditions import ALWAYS
from inplace_fix.analysis.facts import Facts, Node
from inplace_fix.analysis.hindsight import look_back
from inplace_fix.analysis.machine import (
    STEPS_OF_FUNCTION,
    STEPS_OF_MODULE,
    STEPS_OF_PROGRAM,
    BudgetError,
    Machine,
)
from inplace_fix.analysis.names import module_scope
from inplace_fix.analysis.operands import nodes_of, tensors_of
from inplace_fix.analysis.project import Project
from inplace_fix.analysis.reach import Outline, reaching
from inplace_fix.analysis.statements import run_block
from inplace_fix.analysis.units import Unit
from inplace_fix.analysis.values import Class, DictValue, Function, Instance, ListValue, Unknown, Value, options
from inplace_fix.catalog.model import Catalog


def analyse(project: Project, unit: Unit, catalog: Catalog, helpers: Mapping[str, int] | None = None) -> Facts:
    """Run a file's top level, then each module class, then every function that nothing has called.

    ``helpers`` are functions from outside that write to an argument, by qualified name with the argument's position.

    A definition in which nothing can write to a tensor, itself or through what it calls, is not run on its own.
    """
    m = Machine(project, catalog, helpers or {})
    outlined = project.outline(unit)
    writing = reaching(outlined, writers_imported(project, unit, outlined))
    if not writing:
        return m.facts
    lazy = "" not in writing
    guarded(m, unit.tree, lambda: module_scope(m, unit, run_block, main=True, lazy=lazy), STEPS_OF_PROGRAM)
    cells = m.scopes.get(unit.module, {})
    trained = m.trained
    defined = [
        value
        for name in outlined.writes
        if name in writing and name in cells
        for _, option, _ in cells[name].bindings
        for _, value in options(option)
    ]
    classes = [value for value in defined if isinstance(value, Class) and value.unit is unit]
    # the last classes of a file are as a rule built from the first, and show them in the setting they are meant for
    complete: set[ast.AST] = set(m.visited) if trained else set()
    for cls in reversed(classes):
        if modules.is_module(cls):
            forward = cls.cells.get("forward")
            function = forward.latest() if forward is not None else None
            done = isinstance(function, Function) and function.node in complete
            if not done and guarded(m, cls.node, partial(run_module, m, cls), STEPS_OF_MODULE):
                complete = set(m.visited)
    for cls in classes:
        guarded(m, cls.node, partial(run_methods, m, cls), STEPS_OF_FUNCTION)
    for function in defined:
        if isinstance(function, Function) and function.unit is unit and function.node not in m.visited:
            guarded(m, function.node, partial(run_function, m, function, []), STEPS_OF_FUNCTION)
    look_back(m)
    return m.facts


def writers_imported(project: Project, unit: Unit, outlined: Outline) -> frozenset[str]:
    """The names that a file imports from files of the project and that write there."""
    found: set[str] = set()
    for statement in outlined.imports:
        source = project.find(project.absolute(statement.module, statement.level, unit), unit)
        if source is not None and source is not unit:
            writing = project.writing(source)
            found |= {a.asname or a.name for a in statement.names if a.name in writing}
    return frozenset(found)


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
    from inplace_fix.analysis.facts import Frame

    m.frame = Frame(unit, None, unit.module, m.scopes.get(unit.module, {}))


def run_module(m: Machine, cls: Class) -> None:
    """Make a module from unknown arguments and call it on unknown tensors; what it returns goes into some loss."""
    enter_unit(m, cls.unit)
    instance = instantiate(m, cls, Arguments(open=True), cls.node)
    if not isinstance(instance, Instance):
        return
    m.made[cls] = instance
    forward = cls.cells.get("forward")
    function = forward.latest() if forward is not None else None
    if isinstance(function, Function):
        result = invoke(m, function, Arguments([(instance, None)]), cls.node, entry=True)
        escape(m, result, instance)


def run_methods(m: Machine, cls: Class) -> None:
    """Call each method that nothing has called yet, on an object made from unknown arguments."""
    pending = [
        value
        for cell in cls.cells.values()
        for _, value, _ in cell.bindings
        if isinstance(value, Function) and value.node not in m.visited and value.unit is cls.unit
    ]
    if not pending:
        return
    enter_unit(m, cls.unit)
    instance = m.made.get(cls) or instantiate(m, cls, Arguments(open=True), cls.node)
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
