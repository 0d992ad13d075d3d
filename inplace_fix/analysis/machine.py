"""The state of an abstract run: time, path condition, grad mode, frames, budget, and what was observed so far."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager

from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition
from inplace_fix.analysis.facts import Facts, Frame, Node, Observation, Read, Site, Write
from inplace_fix.analysis.project import Project
from inplace_fix.analysis.units import Unit
from inplace_fix.analysis.values import Choice, Class, Function, Instance, Storage, Tensor, Tri, Unknown, Value, options
from inplace_fix.catalog.model import Catalog

# Bounds that keep any input from hanging the analysis; what is cut off is reported once per entry point.
STEPS_OF_PROGRAM = 30_000  # statements and calls of a file's top level and all that it calls
STEPS_OF_INIT = 700  # of the constructor of a class; the object is used as far as it was made by then
STEPS_OF_MODULE = 1_200  # of a module called once
STEPS_OF_FUNCTION = 300  # of a function that nothing in the file calls
STEPS_OF_DEFINITION = 2_000  # of one statement at the top of a file, where only the name it binds is asked for
DEEPEST_CALL = 24
MOST_ROUNDS = 2  # rounds of a loop whose number of rounds is unknown: a value saved in one, overwritten in the next
MOST_ITEMS = 8  # items of a literal container that a loop visits one by one


MAY_HOLD_TENSORS = (Tensor, Unknown, Choice)


class BudgetError(Exception):
    """The entry point took more steps than the analysis allows."""


# The key of a branch one arm of which leaves a block early is a tuple that begins with how it leaves. Unlike other keys
# it stays in force after the arm, for whatever the arm skips.
EXITS = frozenset(("return", "break", "continue"))


def is_exit(key: Hashable) -> bool:
    """Whether a branch is one that an arm leaves early."""
    return type(key) is tuple and key[0] in EXITS


class Machine:
    """One abstract run from one entry point (or several, one after the other, over the same heap of modules)."""

    def __init__(self, project: Project, catalog: Catalog, helpers: Mapping[str, int]) -> None:
        self.helpers = helpers
        self.project = project
        self.seen = project.seen
        self.catalog = catalog
        self.facts = Facts()
        self.tick = 0
        self.condition: Condition = ALWAYS
        self.grad: bool | None = True
        self.inference = False
        self.level = 0  # depth of torch.func transforms
        # memory that an assignment made two tensors share: where, since when, and the place the vector was read from
        self.shared: list[tuple[Storage, Site, int, Tensor | None]] = []
        self.frame: Frame | None = None
        self.depth = 0
        self.steps = 0
        self.most_steps = STEPS_OF_PROGRAM
        self.statement: ast.stmt | None = None
        self.class_scope: dict[str, Cell] | None = None  # names of the class whose body is being run
        self.active: list[Function] = []
        self.scopes: dict[str, dict[str, Cell]] = {}  # module globals by module name
        self.visited: set[ast.AST] = set()
        self.too_long: set[str] = set()  # functions whose run used up the budget of an entry point that called them
        self.live: list[Node] = []  # every node recorded, in order
        self.trained = False  # whether a backward was seen
        self.named: list[Value] = []  # values that conditions are named after; kept alive so that names stay unique
        self.made: dict[Class, Instance] = {}  # objects that entry points made, by class
        self._branch = 0

    # time and budget

    def now(self) -> int:
        """The next tick."""
        self.tick += 1
        return self.tick

    def step(self) -> None:
        """Count one statement or call. Raises BudgetError."""
        self.steps += 1
        if self.steps > self.most_steps:
            if len(self.active) > 1:
                self.too_long.add(self.active[1].name)
            raise BudgetError

    # conditions

    def branch(self) -> int:
        """A key for a branch that nothing else correlates with."""
        self._branch += 1
        return self._branch

    def exit(self, kind: str) -> Hashable:
        """A key for an arm that leaves early."""
        return kind, self.branch()

    def rejoin(self, before: Condition, *kinds: str) -> None:
        """At the end of a round or a loop, forget the early exits that end there; those made before stay."""
        gone = [k for k in self.condition if type(k) is tuple and k[0] in kinds and k not in before]
        if gone:
            self.condition = {k: arm for k, arm in self.condition.items() if k not in gone}

    @contextmanager
    def arm(self, *literals: tuple[Hashable, int]) -> Iterator[None]:
        """Run under these arms; exits recorded inside stay in force after it (see ``leave``)."""
        before = self.condition
        self.condition = {**before, **dict(literals)}
        try:
            yield
        finally:
            exits = {key: arm for key, arm in self.condition.items() if is_exit(key) and key not in before}
            self.condition = {**before, **exits} if exits else before

    @contextmanager
    def under(self, condition: Condition) -> Iterator[bool]:
        """Run under an alternative's condition; yields False where it contradicts the path so far."""
        before = self.condition
        if not condition or condition is before:
            yield True
            return
        merged = {**before, **condition}
        if any(merged[key] != arm for key, arm in before.items()):
            yield False
            return
        self.condition = merged
        try:
            yield True
        finally:
            self.condition = before

    @contextmanager
    def grad_mode(self, grad: bool | None, inference: bool = False) -> Iterator[None]:
        """Run with a grad mode."""
        before = self.grad, self.inference
        self.grad, self.inference = grad, inference
        try:
            yield
        finally:
            self.grad, self.inference = before

    def branched(self) -> Condition:
        """The present condition and one more open branch: for a binding that may or may not take place."""
        return {**self.condition, self.branch(): 1}

    # sites and observations

    @property
    def unit(self) -> Unit:
        """The file being run."""
        assert self.frame is not None
        return self.frame.unit

    def site(self, node: ast.AST) -> Site:
        """A node of the running file as a site."""
        return Site(self.unit, node)

    def observe(self, kind: str, node: ast.AST, *, write: Write | None = None, certain: bool = True) -> None:
        """Note something a rule may speak of."""
        self.facts.observations.append(Observation(kind, self.site(node), write=write, certain=certain))

    def gave_up(self, node: ast.AST, reason: str) -> None:
        """Say once that an entry point was not followed to its end."""
        if self.frame is not None:
            self.facts.gave_up.append((self.site(node), reason))

    def keep(self, cell: Cell, value: Value) -> None:
        """Remember that a list, dict or object keeps a value, through which it can be read as a whole."""
        for _, option in options(value):
            tensor = option.tensor if isinstance(option, Unknown) else option
            if isinstance(tensor, Tensor):
                for storage, _ in tensor.storages():
                    storage.holders.append((cell, self.tick))

    def note_read(self, cell: Cell, value: Value, node: ast.AST, bound: int) -> None:
        """Remember that a tensor was read from a place."""
        if value.__class__ not in MAY_HOLD_TENSORS:
            return
        assert self.frame is not None
        for guard, option in options(value):
            tensor = option.tensor if isinstance(option, Unknown) else option
            if isinstance(tensor, Tensor):
                condition = {**self.condition, **guard} if guard else self.condition
                read = Read(self.now(), condition, cell, self.site(node), self.frame, bound)
                for storage, _ in tensor.storages():
                    storage.reads.append(read)

    # tensors

    def fresh(self, node: ast.AST | None, *, requires: Tri = Tri.NO, origin: str = "fresh", label: str = "") -> Tensor:
        """A tensor with memory of its own."""
        made = self.site(node) if node is not None and self.frame is not None else None
        storage = Storage(origin, made, label)
        storage.inference = self.inference
        storage.level = self.level
        return Tensor(storage, requires=requires, made=made, made_tick=self.tick)
