"""What the steps of one file come to: changes by node, statements to insert, blocks, declarations, imports.

Nothing is changed while steps are being planned, so that a step that cannot be carried out leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from codemods.places import Trail, Tree, scope_index, statement_index
from codemods.scopes import declared, unbound
from codemods.steps import CannotRewrite, DropFlag, OutArgument, OutOfPlaceCall, Span, Step
from codemods.syntax import normal

# A node's own type comes in and a node that may take its place goes out; LibCST's types cannot say so.
Change = Callable[[Any], cst.CSTNode]


@dataclass(slots=True)
class Slot:
    """Statements to be inserted; filled while the tree is rewritten, once their own parts have been rewritten."""

    statements: list[cst.BaseSmallStatement] = field(default_factory=list)


class Plan:
    """The changes to one module, collected step by step."""

    def __init__(self, tree: Tree, emptied: Set[cst.CSTNode] = frozenset()) -> None:
        self.tree = tree
        # Statements in which every call that can be bound in a statement before is bound there.
        self.emptied = emptied
        self.located: list[tuple[Step, Trail]] = []
        self._steps: dict[cst.CSTNode, list[Step]] = {}
        self.changes: dict[cst.CSTNode, list[Change]] = {}
        self.before: dict[cst.CSTNode, list[Slot]] = {}
        self.after: dict[cst.CSTNode, list[Slot]] = {}
        self.wraps: dict[cst.CSTNode, str] = {}
        self.declarations: dict[cst.CSTNode, list[tuple[str, str]]] = {}
        self.imports: list[str] = []
        self.moved: set[cst.CSTNode] = set()
        self.touched: set[cst.CSTNode] = set()
        self._taken: set[str] = set()

    def locate(self, step: Step, trail: Trail) -> None:
        """Note where a step's construct is; all steps are located before the first is planned."""
        self.located.append((step, trail))
        self._steps.setdefault(trail[-1], []).append(step)

    def steps_at(self, node: cst.CSTNode) -> list[Step]:
        """All steps whose construct is this node."""
        return self._steps.get(node, [])

    def targets(self, node: cst.CSTNode) -> list[str]:
        """What the steps at a node bind to its value."""
        return [target for step in self.steps_at(node) for target in _targets(step)]

    def bindings_in(self, statement: cst.CSTNode) -> list[tuple[Trail, str]]:
        """The expressions of a statement whose values get bound, each with its target."""
        return [(trail, target) for step, trail in self.located if statement in trail for target in _targets(step)]

    def change(self, trail: Trail, change: Change) -> None:
        """Apply ``change`` to the trail's last node once everything below it has been changed."""
        self.changes.setdefault(trail[-1], []).append(change)
        self.touched.update(trail)

    def insert_before(self, trail: Trail, span: Span, first: bool = False) -> Slot:
        """Make room for statements before the one that holds the trail's last node, ``first`` ahead of all others."""
        return self._insert(self.before, trail, span, first)

    def insert_after(self, trail: Trail, span: Span) -> Slot:
        """Make room for statements after the one that holds the trail's last node."""
        return self._insert(self.after, trail, span, False)

    def _insert(self, where: dict[cst.CSTNode, list[Slot]], trail: Trail, span: Span, first: bool) -> Slot:
        index = statement_index(trail)
        if is_elif(trail, index):
            raise CannotRewrite(span, "no statement can be put before an elif without changing what runs")
        slot = Slot()
        slots = where.setdefault(trail[index], [])
        slots.insert(0 if first else len(slots), slot)
        self.touched.update(trail[: index + 1])
        return slot

    def wrap(self, trail: Trail, torch: str) -> None:
        """Put the statement at the trail's end under ``with torch.no_grad():``."""
        self.wraps[trail[-1]] = torch
        self.touched.update(trail)

    def declare(self, trail: Trail, kind: str, name: str) -> None:
        """Have the function around the trail's end say ``global name`` or ``nonlocal name`` unless it does."""
        index = scope_index(trail)
        if index == 0:
            return
        scope = trail[index]
        if normal(name) in declared(scope):
            return
        wanted = self.declarations.setdefault(trail[index + 1], [])
        if (kind, normal(name)) not in wanted:
            wanted.append((kind, normal(name)))
        self.touched.update(trail[: index + 2])

    def rebind(self, trail: Trail, span: Span, name: str, declare: str) -> None:
        """See to it that binding ``name`` at the trail's end binds the variable that is read there, or refuse."""
        if declare:
            if any(isinstance(node, cst.Lambda) for node in trail[scope_index(trail) :]):
                raise CannotRewrite(span, f"a lambda cannot declare {name} {declare}")
            self.declare(trail, declare, name)
            return
        reason = unbound(trail, name)
        if reason:
            raise CannotRewrite(span, reason)

    def fresh_name(self, wish: str) -> str:
        """``wish``, or ``wish`` with a number where the file already uses that word anywhere; never the same twice."""
        name, number = wish, 2
        while name in self.tree.words or name in self._taken:
            name, number = f"{wish}_{number}", number + 1
        self._taken.add(name)
        return name

    def import_torch(self) -> str:
        """The name by which torch is known once the import has been added."""
        if "torch" not in self.imports:
            self.imports.append("torch")
            self.touched.add(self.tree.module)
        return "torch"


def _targets(step: Step) -> list[str]:
    target = getattr(step, "target", None)
    binds = isinstance(step, OutOfPlaceCall | OutArgument | DropFlag) and not getattr(step, "copy", False)
    return [target] if binds and isinstance(target, str) else []


def is_elif(trail: Trail, index: int) -> bool:
    """Whether the node at ``index`` is the ``elif`` of the ``if`` that holds it."""
    return index > 0 and isinstance(trail[index], cst.If) and isinstance(trail[index - 1], cst.If)
