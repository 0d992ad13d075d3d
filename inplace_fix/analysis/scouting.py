"""Scouting: which definitions of a file are worth a run, each function that may write tried on its own first.

What looks like a write at a glance (``table[key] = value``, ``count += step``) is mostly none of a tensor's; a function
that turns out to write to no tensor need not be run again, nor its callers for its sake.
"""

from __future__ import annotations

from functools import partial

from inplace_fix.analysis.facts import Facts
from inplace_fix.analysis.machine import STEPS_OF_FUNCTION, Machine
from inplace_fix.analysis.names import definer, module_scope
from inplace_fix.analysis.reach import Names, Outline, reaching
from inplace_fix.analysis.runs import guarded, run_function
from inplace_fix.analysis.statements import run_block
from inplace_fix.analysis.units import Unit
from inplace_fix.analysis.values import Function


def writers(m: Machine, unit: Unit, thorough: bool) -> Names:
    """The definitions of a file that write, or run what does; ``thorough`` tries none of them beforehand."""
    outlined = m.project.outline(unit)
    alone = (lambda name: False) if thorough else partial(harmless, m, unit)
    return reaching(outlined, imported_writers(m, unit, outlined), alone)


def imported_writers(m: Machine, unit: Unit, outlined: Outline) -> Names:
    """The names that a file imports from files of the project and that write there."""
    functions: set[str] = set()
    classes: set[str] = set()
    for statement in outlined.imports:
        source = m.project.find(m.project.absolute(statement.module, statement.level, unit), unit)
        if source is None or source is unit:
            continue
        known = m.project.reaching.get(source.path)
        if known is None:
            known = reaching(m.project.outline(source), Names(), partial(harmless, m, source))
            m.project.reaching[source.path] = known
        functions |= {alias.asname or alias.name for alias in statement.names if alias.name in known.functions}
        classes |= {alias.asname or alias.name for alias in statement.names if alias.name in known.classes}
    return Names(frozenset(functions), frozenset(classes))


def harmless(m: Machine, unit: Unit, name: str) -> bool:
    """Whether a definition of a file is a function that writes to no tensor; found out once."""
    key = unit.path, name
    known = m.project.harmless.get(key)
    if known is None:
        known = m.project.harmless[key] = _tried(definer(m), unit, name)
    return known


def _tried(m: Machine, unit: Unit, name: str) -> bool:
    cell = module_scope(m, unit, run_block).get(name)
    function = cell.latest() if cell is not None and len(cell.bindings) == 1 else None
    if not isinstance(function, Function) or function.unit is not unit:
        return False
    done = guarded(m, function.node, partial(run_function, m, function, []), STEPS_OF_FUNCTION)
    found = m.facts
    m.facts = Facts()
    m.live.clear()
    m.named.clear()
    m.shared.clear()
    return done and not found.writes and not found.conflicts and not found.observations
