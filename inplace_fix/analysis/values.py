"""The abstract values of a run: tensors over storages, modules, containers, functions, classes, and the unknown."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition

if TYPE_CHECKING:
    from inplace_fix.analysis.facts import Node, Read, Save, Site, Write
    from inplace_fix.analysis.units import Unit
    from inplace_fix.catalog.model import ModuleFacts


class Tri(enum.IntEnum):
    """No, maybe, yes; ``max`` of two is the answer for "one of them"."""

    NO = 0
    MAYBE = 1
    YES = 2


class Value:
    """Anything the abstract run can hold."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Const(Value):
    """A known Python value: a number, string, None, a slice's bound."""

    value: Any


@dataclass(slots=True, eq=False)
class Unknown(Value):
    """A value nothing is known of yet. Its attributes and items are remembered, so that reading twice gives the same.

    ``tensor`` is set once some use shows that it is one. ``number`` says that a use shows it to be none.
    """

    label: str = ""
    tensor: Tensor | None = None
    number: bool = False
    nodes: tuple[Node, ...] = ()  # the graph it may depend on, where a call nothing is known of gave it
    parts: dict[Any, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Choice(Value):
    """One of several values, each under its condition."""

    options: tuple[tuple[Condition, Value], ...]


class Storage:
    """The memory behind tensors, with all that was done to it.

    ``history`` is the graph node of the last recorded write (it becomes part of every alias's graph). ``closed`` is
    False once code outside the analysis may look at it (an argument of an entry point, a global).
    """

    __slots__ = (
        "blank",
        "closed",
        "history",
        "holders",
        "inference",
        "label",
        "level",
        "made",
        "origin",
        "reads",
        "saves",
        "writes",
    )

    def __init__(self, origin: str, made: Site | None, label: str = "") -> None:
        self.origin = origin  # fresh, parameter, buffer, argument, constant, array, gradient
        self.made = made
        self.label = label
        self.writes: list[Write] = []
        self.saves: list[Save] = []
        self.reads: list[Read] = []
        self.history: Node | None = None
        self.holders: list[tuple[Cell, int]] = []  # lists, dicts and objects that keep it, since when
        self.inference = False
        self.blank = False  # filled with one value or with numbers by its creation, computed from nothing
        self.level = 0  # depth of function transforms when it was made
        self.closed = True  # False where code outside the analysis may hold it


@dataclass(slots=True, eq=False)
class Tensor(Value):
    """A tensor object: a window on one storage, or on one of several that a layout decides between.

    ``view`` is "" for a tensor of its own, else how it looks at its base: view, multi, function, hook, expanded,
    overlapping, same-maybe. ``sure`` is False while it is only likely that this is a tensor at all. ``shares_graph`` is
    False for detached aliases.
    """

    storage: Storage
    maybe: tuple[Storage, ...] = ()
    node: Node | None = None
    requires: Tri = Tri.NO
    leaf: bool = False
    parameter: bool = False
    view: str = ""
    base: Tensor | None = None
    made: Site | None = None
    made_tick: int = 0
    sure: bool = True
    shares_graph: bool = True
    versioned: bool = True
    array: bool = False
    dtype: str | None = None
    scalar: bool | None = None  # 0-dim: yes, no, unknown
    contiguous: bool | None = None
    gradient: Tensor | None = None
    role: str = ""  # "incoming" for a gradient handed to a hook or a backward, "dual", "slot" ...
    owner: Tensor | None = None  # of an alias made by .data: the tensor it was taken from
    bundle: bool = False  # a further result of a module, which may be a tuple of tensors (an LSTM's state)
    stepped: bool = False  # held by an optimizer
    unique: bool = False  # as an index: holds no value twice (arange, randperm, a mask's nonzero)

    def storages(self) -> Iterator[tuple[Storage, bool]]:
        """Each storage the tensor may look at, with whether it surely does."""
        yield self.storage, not self.maybe
        for other in self.maybe:
            yield other, False


@dataclass(slots=True, eq=False)
class ListValue(Value):
    """A list, tuple, set or generator's yield; ``exact`` is False where elements stand for any number of them."""

    cells: list[Cell]
    kind: str = "list"
    exact: bool = True
    names: tuple[str, ...] = ()  # fields of a named tuple result (values, indices)


@dataclass(slots=True, eq=False)
class DictValue(Value):
    """A dict; ``rest`` holds what went in under keys that are not known. One of dicts makes what is asked for."""

    cells: dict[Any, Cell] = field(default_factory=dict)
    rest: Cell = field(default_factory=lambda: Cell("item", "[...]"))
    of_dicts: bool = False


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function or lambda of the analysed source with its closure."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    unit: Unit
    scopes: tuple[dict[str, Cell], ...]
    defaults: dict[str, Value] = field(default_factory=dict)
    grad: bool | None = None  # grad mode that a decorator sets
    inference: bool = False
    kind: str = ""  # property, static, class, or ""
    owner: Class | None = None
    remembered: Value | None = None  # result of a function under lru_cache, once called
    cached: bool = False
    attributes: dict[str, Cell] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name, or <lambda>."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of the analysed source."""

    node: ast.ClassDef
    unit: Unit
    bases: tuple[Value, ...]
    cells: dict[str, Cell]
    scopes: tuple[dict[str, Cell], ...] = ()


@dataclass(slots=True, eq=False)
class Extern(Value):
    """Something imported from outside the analysed source, by qualified name (``torch.nn.functional.relu``)."""

    name: str


@dataclass(slots=True, eq=False)
class Namespace(Value):
    """A module of the analysed source, by its globals."""

    cells: dict[str, Cell]


@dataclass(slots=True, eq=False)
class Instance(Value):
    """An object of an analysed class, or of a class from outside (``cls`` an Extern)."""

    cls: Class | Extern
    attributes: dict[str, Cell] = field(default_factory=dict)
    made: Site | None = None
    label: str = ""
    module: Module | None = None  # the torch.nn part where the class derives from a torch.nn module
    optimizer: Optimizer | None = None


@dataclass(slots=True, eq=False)
class Module(Value):
    """The torch.nn side of a module: catalog facts, own tensors, flags, children in order, hooks.

    ``flag_set`` says whether the ``inplace`` argument (or max_norm) turns the write on.
    """

    facts: ModuleFacts | None
    name: str
    made: Site | None = None
    call: ast.Call | None = None
    flag_set: Tri = Tri.NO
    tensors: dict[str, Cell] = field(default_factory=dict)
    children: list[Cell] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    container: str = ""  # sequential, list, dict or ""
    exact: bool = True
    training: Cell = field(default_factory=lambda: Cell("attribute", "training"))
    forward_hooks: list[Value] = field(default_factory=list)
    backward_hooked: Tri = Tri.NO
    dtype: str | None = None
    constants: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Optimizer(Value):
    """A torch.optim optimizer and the tensors it steps."""

    name: str
    params: list[Tensor] = field(default_factory=list)
    fused: bool = False
    groups: Value | None = None


@dataclass(slots=True, eq=False)
class Bound(Value):
    """A method taken from an object, not called yet."""

    owner: Value
    name: str
    function: Value | None = None  # the analysed function, or None for a built-in method
    receiver: ast.expr | None = None


@dataclass(slots=True, eq=False)
class Super(Value):
    """``super()`` in a method of ``owner`` on ``instance``."""

    instance: Instance
    owner: Class


@dataclass(slots=True, eq=False)
class Native(Value):
    """A callable that the analysis itself implements (partial, a transformed function, a closure's counter)."""

    name: str
    call: Callable[..., Value]


@dataclass(slots=True, eq=False)
class Context(Value):
    """A context manager or decorator that sets the grad mode."""

    grad: bool | None
    inference: bool = False
    entered: Value | None = None


NONE = Const(None)


def options(value: Value) -> tuple[tuple[Condition, Value], ...]:
    """The value as guarded alternatives; one that always holds for anything but a choice."""
    return value.options if isinstance(value, Choice) else ((ALWAYS, value),)


def choice(alternatives: Sequence[tuple[Condition, Value]]) -> Value:
    """One value out of guarded alternatives, flattened; a single alternative is that value."""
    flat: list[tuple[Condition, Value]] = []
    for condition, value in alternatives:
        if isinstance(value, Choice):
            flat += [({**condition, **inner}, part) for inner, part in value.options]
        else:
            flat.append((condition, value))
    if not flat:
        return Unknown()
    first = flat[0][1]
    if all(value is first for _, value in flat):
        return first
    return Choice(tuple(flat[:8]))
