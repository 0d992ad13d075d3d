"""Names: where one is looked up and bound, what imports bring in, and what a function returns."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition, PendingCell, implies
from inplace_fix.analysis.facts import Frame
from inplace_fix.analysis.machine import STEPS_OF_DEFINITION, BudgetError, Machine
from inplace_fix.analysis.trees import nodes
from inplace_fix.analysis.units import Unit
from inplace_fix.analysis.values import Choice, Const, Extern, Namespace, Unknown, Value

# the statements of an imported module that bind names; what else it does when imported is not followed
DEFINING = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AnnAssign,
    ast.If,
    ast.Try,
)

# a statement of these kinds that binds one name does nothing else that anybody could miss
SINGLE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)

RunBlock = Callable[[Machine, Sequence[ast.stmt]], str]


def lookup(m: Machine, name: str) -> Cell | None:
    """The cell that a name means in the running frame: local, enclosing, global."""
    frame = m.frame
    assert frame is not None
    cell = frame.cells.get(name)
    if cell is not None:
        return cell
    for scope in frame.closure:
        cell = scope.get(name)
        if cell is not None:
            return cell
    return None


def load(m: Machine, node: ast.Name) -> Value:
    """The value of a name, with what was read remembered for the tensors among it."""
    cell = lookup(m, node.id)
    if cell is None or not cell.bound:
        return Extern("builtins." + node.id) if hasattr(builtins, node.id) else Unknown(node.id)
    return read_cell(m, cell, node)


def read_cell(m: Machine, cell: Cell, node: ast.AST) -> Value:
    """The value in a cell under the present condition."""
    bindings = cell.bindings
    if bindings:
        guard, value, bound = bindings[-1]
        if not guard or guard is m.condition or implies(m.condition, guard):
            m.note_read(cell, value, node, bound)
            return value
    found = []
    for condition, value, bound in cell.read(m.condition):
        m.note_read(cell, value, node, bound)
        extra = {key: arm for key, arm in condition.items() if key not in m.condition}
        found.append((extra or ALWAYS, value))
    if not found:
        latest = cell.latest()
        return latest if latest is not None else Unknown(cell.label)
    if len(found) == 1:
        return found[0][1]
    first = found[0][1]
    if all(value is first for _, value in found):
        return first
    flat: list[tuple[Condition, Value]] = []
    for condition, value in found:
        if isinstance(value, Choice):
            flat += [({**condition, **inner}, part) for inner, part in value.options]
        else:
            flat.append((condition, value))
    return Choice(tuple(flat[:8]))


def bind(m: Machine, name: str, value: Value) -> None:
    """Bind a name where Python would: locally unless declared otherwise."""
    frame = m.frame
    assert frame is not None
    cell = frame.cells.get(name)
    if cell is None:
        kind = "global" if frame.function is None else "local"
        cell = frame.cells[name] = Cell(kind, name)
    cell.write(m.condition, value, m.now())


def declare(m: Machine, node: ast.Global | ast.Nonlocal) -> None:
    """Let the declared names mean the outer cells."""
    frame = m.frame
    assert frame is not None
    if isinstance(node, ast.Global):
        scope = module_cells(m, frame.unit)
        for name in node.names:
            frame.cells[name] = scope.setdefault(name, Cell("global", name))
    else:
        for name in node.names:
            for outer in frame.closure:
                if name in outer:
                    frame.cells[name] = outer[name]
                    break


def module_cells(m: Machine, unit: Unit) -> dict[str, Cell]:
    """The global names of a unit."""
    return m.scopes.setdefault(unit.module, {})


def returned(m: Machine, value: Value) -> None:
    """Note a value that the running function returns on the present path."""
    if m.frame is not None:
        m.frame.returns.append((m.condition, value))


def imported(m: Machine, node: ast.Import | ast.ImportFrom, run_block: RunBlock) -> None:
    """Bind what an import statement brings in."""
    for alias in node.names:
        import_one(m, node, alias, run_block)


def import_one(m: Machine, node: ast.Import | ast.ImportFrom, alias: ast.alias, run_block: RunBlock) -> None:
    """Bind what one name of an import statement brings in."""
    assert m.frame is not None
    unit = m.frame.unit
    if isinstance(node, ast.Import):
        whole = alias.name if alias.asname else alias.name.split(".")[0]
        bind(m, alias.asname or whole, module_value(m, whole, unit, run_block))
        if not alias.asname and "." in alias.name:
            module_value(m, alias.name, unit, run_block)
        return
    base = m.project.absolute(node.module, node.level, unit)
    if alias.name != "*":
        bind(m, alias.asname or alias.name, member(m, base, alias.name, unit, run_block))
        return
    source = module_value(m, base, unit, run_block)
    if isinstance(source, Namespace):
        for name, cell in list(source.cells.items()):
            m.frame.cells.setdefault(name, cell)


def member(m: Machine, base: str, name: str, unit: Unit, run_block: RunBlock) -> Value:
    """``name`` taken from the module ``base``: a submodule, or a cell that may still be filled later (cycles)."""
    source = module_value(m, base, unit, run_block)
    if not isinstance(source, Namespace):
        return Extern(f"{base}.{name}")
    cell = source.cells.get(name)
    if cell is not None and cell.bound:
        return cell.latest() or Unknown(name)
    inner = module_value(m, f"{base}.{name}", unit, run_block)
    return inner if isinstance(inner, Namespace) else Unknown(name)


def module_value(m: Machine, name: str, importer: Unit, run_block: RunBlock) -> Value:
    """A module of the project, run once; an Extern for everything else."""
    unit = m.project.find(name, importer)
    if unit is None:
        return Extern(name)
    return Namespace(module_scope(m, unit, run_block))


def module_scope(m: Machine, unit: Unit, run_block: RunBlock, main: bool = False, lazy: bool = True) -> dict[str, Cell]:
    """The globals of a unit, running its top level the first time; ``lazy`` leaves names until somebody reads them."""
    cells = m.scopes.get(unit.module)
    if cells is not None:
        return cells
    body: Sequence[ast.stmt] = unit.tree.body
    runner = m
    if not main:
        # what a module defines does not depend on who imports it, so it is worked out once for the whole project
        shared = m.project.scopes.get(unit.path)
        if shared is not None:
            m.scopes[unit.module] = shared
            return shared
        body = [statement for statement in body if isinstance(statement, DEFINING)]
        runner = definer(m)
    cells = m.scopes[unit.module] = {"__name__": Cell("global", "__name__")}
    cells["__name__"].write(ALWAYS, Const("__main__" if main else unit.module), m.now())
    if not main:
        m.project.scopes[unit.path] = runner.scopes[unit.module] = cells
    frame = Frame(unit, None, unit.module, cells)
    if lazy:
        body = put_off(runner, body, frame, run_block)
    at_top(runner, frame, lambda: run_block(runner, body), None if main else STEPS_OF_DEFINITION)
    return cells


def definer(m: Machine) -> Machine:
    """The machine that works out what imported modules define, for the whole project: no run of a file stays alive."""
    if m.project.definer is None:
        m.project.definer = Machine(m.project, m.catalog, m.helpers)
    return m.project.definer


def at_top(m: Machine, frame: Frame, run: Callable[[], object], steps: int | None) -> None:
    """Run something at the top level of a module, whatever is being run just now; with a budget of its own if given.

    Where such a budget ends, the names that were still to be bound stay unknown.
    """
    saved = m.frame, m.condition, m.grad, m.inference, m.statement, m.class_scope, m.steps, m.most_steps, m.depth
    m.frame, m.condition, m.grad, m.inference, m.class_scope = frame, ALWAYS, True, False, None
    if steps is not None:
        m.steps, m.most_steps, m.depth = 0, steps, 0
    try:
        run()
    except BudgetError:
        if steps is None:
            raise
    finally:
        (m.frame, m.condition, m.grad, m.inference, m.statement, m.class_scope), budget = saved[:6], saved[6:]
        if steps is not None:
            m.steps, m.most_steps, m.depth = budget


def put_off(m: Machine, body: Sequence[ast.stmt], frame: Frame, run_block: RunBlock) -> list[ast.stmt]:
    """Leave the names that plain statements bind pending; the statements that must run at once are given back."""
    binds = Counter(name for statement in body for name in bound_names(statement))
    now: list[ast.stmt] = []
    for statement in body:
        names = bound_names(statement)
        once = bool(names) and all(binds[name] == 1 for name in names)
        if once and isinstance(statement, (ast.Import, ast.ImportFrom)) and names != ["*"]:
            for name, alias in zip(names, statement.names, strict=True):
                pend(m, frame, name, partial(import_one, m, statement, alias, run_block))
        elif once and len(names) == 1 and isinstance(statement, SINGLE):
            pend(m, frame, names[0], partial(run_block, m, (statement,)))
        else:
            now.append(statement)
    return now


def pend(m: Machine, frame: Frame, name: str, run: Callable[[], object]) -> None:
    """Put off what binds a global name until somebody reads it."""
    fill = partial(at_top, m, frame, run, STEPS_OF_DEFINITION)
    frame.cells[name] = PendingCell("global", name, fill)


def bound_names(statement: ast.stmt) -> list[str]:
    """The names that a statement may bind at its own level, or more."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    found = []
    for node in nodes(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        elif isinstance(node, ast.alias):
            found.append(node.asname or node.name.split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append(node.name)
    return found
