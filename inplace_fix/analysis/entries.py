"""Entry points: which parts of a file are run abstractly, and in which order."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial

from inplace_fix.analysis import modules
from inplace_fix.analysis.conditions import Cell
from inplace_fix.analysis.facts import Facts
from inplace_fix.analysis.hindsight import look_back
from inplace_fix.analysis.machine import STEPS_OF_FUNCTION, STEPS_OF_MODULE, STEPS_OF_PROGRAM, Machine
from inplace_fix.analysis.names import module_scope
from inplace_fix.analysis.project import Project
from inplace_fix.analysis.reach import reaching_methods
from inplace_fix.analysis.runs import guarded, run_function, run_methods, run_module
from inplace_fix.analysis.scouting import writers
from inplace_fix.analysis.statements import run_block
from inplace_fix.analysis.units import Unit
from inplace_fix.analysis.values import Class, Function, options
from inplace_fix.catalog.model import Catalog


def analyse(
    project: Project,
    unit: Unit,
    catalog: Catalog,
    helpers: Mapping[str, int] | None = None,
    thorough: bool = False,
) -> Facts:
    """Run a file's top level, then each module class, then every function that nothing has called.

    ``helpers`` are functions from outside that write to an argument, by qualified name with the argument's position.

    A definition in which nothing can write to a tensor, itself or through what it calls, is not run on its own; nor,
    unless ``thorough``, one that writes to nothing but what it made itself and what no backward needs.
    """
    m = Machine(project, catalog, helpers or {})
    writing = writers(m, unit, thorough)
    if not writing.functions and not writing.classes:
        return m.facts
    top = partial(module_scope, m, unit, run_block, main=True, lazy="" not in writing.functions)
    guarded(m, unit.tree, top, STEPS_OF_PROGRAM)
    cells = m.scopes.get(unit.module, {})
    parts = project.outline(unit).parts
    complete: set[ast.AST] = set(m.visited) if m.trained else set()
    classes = [
        (part, value)
        for name, part in parts.items()
        if name in writing.classes
        for value in defined(cells, name, unit)
        if isinstance(value, Class)
    ]
    # the last classes of a file are as a rule built from the first, and show them in the setting they are meant for
    for _, cls in reversed(classes):
        if modules.is_module(cls):
            forward = cls.cells.get("forward")
            function = forward.latest() if forward is not None else None
            done = isinstance(function, Function) and function.node in complete
            if not done and guarded(m, cls.node, partial(run_module, m, cls), STEPS_OF_MODULE):
                complete = set(m.visited)
    for part, cls in classes:
        wanted = part.methods or {} if thorough else reaching_methods(part, writing)
        guarded(m, cls.node, partial(run_methods, m, cls, wanted), STEPS_OF_FUNCTION)
    for name, part in parts.items():
        # where the budget went into what a function calls, the next one that calls it would get no further
        if name not in writing.functions or not (part.writes or part.uses.isdisjoint(m.too_long)):
            continue
        for function in defined(cells, name, unit):
            if isinstance(function, Function) and function.node not in m.visited:
                guarded(m, function.node, partial(run_function, m, function, []), STEPS_OF_FUNCTION)
    look_back(m)
    return m.facts


def defined(cells: Mapping[str, Cell], name: str, unit: Unit) -> list[Class | Function]:
    """What a file itself defines under a name, all alternatives."""
    bindings = cells[name].bindings if name in cells else []
    found = [value for _, option, _ in bindings for _, value in options(option)]
    return [value for value in found if isinstance(value, (Class, Function)) and value.unit is unit]
