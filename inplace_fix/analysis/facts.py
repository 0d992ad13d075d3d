"""What the abstract run observes: writes, saves, graph nodes, reads, and the places where a backward needs a value."""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inplace_fix.analysis.conditions import Cell, Condition
from inplace_fix.analysis.values import Storage, Tensor, Tri, Value

if TYPE_CHECKING:
    from inplace_fix.analysis.units import Unit
    from inplace_fix.catalog.model import Op


class Form(str, enum.Enum):
    """How a write is spelt in the source."""

    METHOD = "method"  # x.add_(y)
    FUNCTION = "function"  # torch.relu_(x), nn.init.zeros_(w), torch._foreach_add_(xs, ys)
    AUGMENTED = "augmented"  # x += y, self.h *= k
    STORE = "store"  # x[i] = v
    AUGMENTED_STORE = "augmented-store"  # x[i] += v
    FLAG = "flag"  # F.relu(x, inplace=True)
    MODULE = "module"  # nn.ReLU(inplace=True) called
    OUT = "out"  # torch.add(a, b, out=x)
    OPTIMIZER = "optimizer"  # optimizer.step()
    IMPLICIT = "implicit"  # an Embedding with max_norm, batch norm's statistics, zero_grad, load_state_dict
    DATA = "data"  # p.data = v
    ARRAY = "array"  # a write through NumPy


@dataclass(frozen=True, slots=True)
class Site:
    """A node of one file's syntax tree."""

    unit: Unit
    node: ast.AST

    @property
    def line(self) -> int:
        """The row it starts on."""
        return int(getattr(self.node, "lineno", 1))


@dataclass(slots=True, eq=False)
class Frame:
    """One activation of a function: what a rewrite needs to know of the code around a write."""

    unit: Unit
    function: ast.AST | None
    name: str
    cells: dict[str, Cell]
    parent: Frame | None = None
    entry: bool = False  # called by nobody in the analysed source
    call: Site | None = None
    closure: tuple[dict[str, Cell], ...] = ()
    returns: list[tuple[Condition, Value]] = field(default_factory=list)
    yields: list[Value] | None = None


@dataclass(slots=True, eq=False)
class Read:
    """A tensor was read from a place."""

    tick: int
    condition: Condition
    cell: Cell
    site: Site
    frame: Frame
    bound: int  # tick at which the place was bound to what was read


@dataclass(slots=True, eq=False)
class Node:
    """One recorded operation of the autograd graph."""

    op: str
    site: Site
    inputs: tuple[Node, ...]
    requires: Tri
    condition: Condition
    tick: int
    saves: list[Save] = field(default_factory=list)
    freed: int | None = None


@dataclass(slots=True, eq=False)
class Save:
    """A value that a graph node keeps for its backward.

    ``what`` is the parameter's name or ``result``; ``argument`` the expression that was passed for it, None for results
    and for tensors of a module itself.
    """

    tick: int
    condition: Condition
    node: Node
    storage: Storage
    tensor: Tensor
    what: str
    site: Site
    argument: ast.expr | None
    always: bool
    sure: bool
    frame: Frame
    own_statistics: bool = False  # the operation overwrites it itself: its version is checked, its value not used


@dataclass(slots=True, eq=False)
class Write:
    """An in-place write to the storage of a tensor, with the state of things just before it."""

    tick: int
    condition: Condition
    form: Form
    site: Site  # the whole construct: call, statement
    statement: ast.stmt | None
    receiver: ast.expr | None
    tensor: Tensor
    op: Op | None
    frame: Frame
    cell: Cell | None  # where the receiver was read from, None for a temporary
    grad: bool | None
    inference: bool
    silent: bool = False
    made: Site | None = None  # constructor of the module whose flag writes
    operands: tuple[Tensor, ...] = ()
    value: ast.expr | None = None
    level: int = 0
    requires: Tri = Tri.NO
    leaf: bool = False
    view: str = ""
    random: bool = False
    scalar_given_first: bool = False  # spelt in the deprecated order, add_(alpha, x)
    flag_position: int | None = None  # where the inplace flag stands among positional arguments

    @property
    def by_flag(self) -> bool:
        """Whether the call gives its result to somebody: reading the receiver again is then no use of that result."""
        if self.form not in (Form.MODULE, Form.FLAG):
            return False
        return not isinstance(self.site.unit.parent(self.site.node), ast.Expr)

    @property
    def storage(self) -> Storage:
        """The storage surely or most likely written."""
        return self.tensor.storage


@dataclass(slots=True, eq=False)
class Conflict:
    """A value saved for backward and written before a backward that needs it."""

    write: Write
    save: Save
    backward: Site | None  # None: the graph leaves the analysed code alive
    certain: bool
    hangs_on: str = ""


@dataclass(slots=True, eq=False)
class Observation:
    """Anything else that a rule speaks of, by kind: see the rules for the kinds."""

    kind: str
    site: Site
    message: str = ""
    write: Write | None = None
    certain: bool = True
    related: tuple[tuple[str, Site], ...] = ()


@dataclass(slots=True, eq=False)
class Facts:
    """All that one abstract run, or several over the same files, observed."""

    writes: list[Write] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    gave_up: list[tuple[Site, str]] = field(default_factory=list)
