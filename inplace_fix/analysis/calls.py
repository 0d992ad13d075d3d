"""Calls: analysed functions are entered, classes instantiated, modules run, and everything from outside looked up."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from inplace_fix.analysis import evident, externs, modules, optimizers, pybuiltins
from inplace_fix.analysis.conditions import ALWAYS, Cell
from inplace_fix.analysis.facts import Frame
from inplace_fix.analysis.indexing import leave
from inplace_fix.analysis.machine import DEEPEST_CALL, Machine
from inplace_fix.analysis.operands import Operand, as_tensor, nodes_of, promote, tensors_of
from inplace_fix.analysis.tensors import method
from inplace_fix.analysis.values import (
    NONE,
    Bound,
    Choice,
    Class,
    Const,
    Context,
    DictValue,
    Extern,
    Function,
    Instance,
    ListValue,
    Module,
    Native,
    Optimizer,
    Tensor,
    Unknown,
    Value,
    choice,
)


@dataclass(slots=True)
class Arguments:
    """Evaluated arguments with the expressions they came from."""

    positional: list[Operand] = field(default_factory=list)
    keywords: dict[str, Operand] = field(default_factory=dict)
    open: bool = False  # a * or ** argument whose contents are not known

    def star(self, value: Value) -> None:
        """Unpack ``*value``."""
        if isinstance(value, ListValue):
            self.positional += [(cell.latest() or Unknown(), None) for cell in value.cells]
            self.open = self.open or not value.exact
        elif isinstance(value, Const) and isinstance(value.value, tuple):
            self.positional += [(Const(part), None) for part in value.value]
        else:
            self.open = True

    def double_star(self, value: Value) -> None:
        """Unpack ``**value``."""
        if isinstance(value, DictValue):
            for key, cell in value.cells.items():
                if isinstance(key, str):
                    self.keywords[key] = (cell.latest() or Unknown(), None)
            self.open = self.open or value.rest.bound
        else:
            self.open = True

    def values(self) -> list[Value]:
        """All argument values."""
        return [v for v, _ in self.positional] + [v for v, _ in self.keywords.values()]

    def first(self) -> Value:
        """The first positional argument, None where there is none."""
        return self.positional[0][0] if self.positional else NONE

    def get(self, position: int, name: str) -> Value | None:
        """An argument by position or keyword."""
        if name in self.keywords:
            return self.keywords[name][0]
        return self.positional[position][0] if position < len(self.positional) else None


def call(m: Machine, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call a value."""
    if isinstance(function, Choice):
        found = []
        for guard, part in function.options:
            with m.under(guard) as possible:
                if possible:
                    found.append((guard, call(m, part, arguments, node)))
        return choice(found) if found else Unknown()
    if isinstance(function, Function):
        return invoke(m, function, arguments, node)
    if isinstance(function, Bound):
        return call_bound(m, function, arguments, node)
    if isinstance(function, Class):
        return instantiate(m, function, arguments, node)
    if isinstance(function, Extern):
        return externs.call(m, function.name, arguments, node)
    if isinstance(function, (Module, Instance)):
        return call_object(m, function, arguments, node)
    if isinstance(function, Native):
        return function.call(m, arguments, node)
    if isinstance(function, Context):
        return externs.decorate(m, function, arguments)
    if isinstance(function, Unknown):
        name = evident.called(m, node)
        return externs.call(m, name, arguments, node) if name else call_unknown(m, function, arguments)
    return Unknown()


def call_unknown(m: Machine, function: Unknown, arguments: Arguments) -> Value:
    """Something not known is called: what it is given may be kept or written by it, which is not held against it."""
    nodes = list(function.nodes)
    for value in arguments.values():
        leave(value)
        nodes += [node for _, tensor in tensors_of(m, value) for node in nodes_of(tensor)]
        nodes += value.nodes if isinstance(value, Unknown) else ()
    return Unknown(nodes=tuple(dict.fromkeys(nodes))[:16])


def call_bound(m: Machine, function: Bound, arguments: Arguments, node: ast.AST) -> Value:
    """Call a method."""
    owner = function.owner
    if isinstance(function.function, Function):
        positional = [(owner, function.receiver), *arguments.positional]
        return invoke(m, function.function, Arguments(positional, arguments.keywords, arguments.open), node)
    if isinstance(owner, Tensor):
        return tensor_method(m, owner, function, arguments, node)
    evident.written(m, owner, node, name=function.name)
    evident.asked(m, owner, function.name, node)
    if isinstance(owner, Unknown):
        if m.catalog.method(function.name) is not None:
            result = tensor_method(m, owner, function, arguments, node)
            if owner.tensor is not None:
                return result
        return pybuiltins.unknown_method(m, owner, function.name, arguments, node)
    if isinstance(owner, (Module, Instance)):
        return modules.method(m, owner, function.name, arguments, node)
    if isinstance(owner, Optimizer):
        return optimizers.call_method(m, owner, function.name, arguments, node)
    if isinstance(owner, Class):
        return externs.class_method(m, owner, function.name, arguments, node)
    return pybuiltins.method(m, owner, function.name, arguments, node)


def tensor_method(m: Machine, owner: Value, function: Bound, arguments: Arguments, node: ast.AST) -> Value:
    """Call a tensor's method: special ones first, then what the catalog says."""
    special = externs.TENSOR_METHODS.get(function.name)
    if special is not None:
        tensor = as_tensor(m, owner)
        if tensor is None and isinstance(owner, Unknown) and function.name not in ("numpy",):
            tensor = promote(m, owner, sure=True)
        if tensor is not None:
            return special(m, owner, tensor, arguments, node)
    positional = arguments.positional
    op = m.catalog.method(function.name)
    if op is not None and op.scalar_first and len(positional) >= 2:
        first = positional[0][0]
        params = [p for p in op.params if p != "self"]
        if not as_tensor(m, first) and as_tensor(m, positional[1][0]) is not None and len(params) >= 2:
            keywords = {**arguments.keywords, op.scalar_first: positional[0]}
            return method(m, owner, function.name, positional[1:], keywords, node, function.receiver, scalar_first=True)
    return method(m, owner, function.name, positional, arguments.keywords, node, function.receiver)


def call_object(m: Machine, owner: Module | Instance, arguments: Arguments, node: ast.AST) -> Value:
    """``owner(...)``: a module's forward with its hooks, or ``__call__``."""
    return modules.run(m, owner, arguments, node)


def invoke(m: Machine, function: Function, arguments: Arguments, node: ast.AST, *, entry: bool = False) -> Value:
    """Enter an analysed function."""
    if function.cached and function.remembered is not None:
        return function.remembered
    if m.depth >= DEEPEST_CALL or m.active.count(function) >= 2:
        return Unknown()
    m.step()
    m.visited.add(function.node)
    cells: dict[str, Cell] = {}
    frame = Frame(
        function.unit,
        function.node,
        function.name,
        cells,
        parent=m.frame,
        entry=entry,
        call=m.site(node) if m.frame is not None else None,
        closure=function.scopes,
        yields=[] if function.node in function.unit.generators else None,
    )
    saved = m.frame, m.condition, m.statement, m.grad, m.inference
    m.frame = frame
    m.depth += 1
    m.active.append(function)
    if function.grad is not None or function.inference:
        m.grad, m.inference = function.grad, m.inference or function.inference
    try:
        bind_parameters(m, function, arguments, cells)
        result = run_body(m, function, frame)
    finally:
        m.frame, m.condition, m.statement, m.grad, m.inference = saved
        m.depth -= 1
        m.active.pop()
    if function.cached:
        leave(result)
        function.remembered = result
    return result


def run_body(m: Machine, function: Function, frame: Frame) -> Value:
    """Run the statements of a function and gather what it returns."""
    from inplace_fix.analysis.expressions import evaluate
    from inplace_fix.analysis.statements import run_block

    before = m.condition
    if isinstance(function.node, ast.Lambda):
        return evaluate(m, function.node.body)
    run_block(m, function.node.body)
    if frame.yields is not None:
        slots = []
        for value in frame.yields:
            slot = Cell("item", "[...]")
            slot.write(ALWAYS, value, m.now())
            slots.append(slot)
        return ListValue(slots, exact=False)
    alternatives = []
    for condition, value in frame.returns:
        alternatives.append(({k: arm for k, arm in condition.items() if before.get(k) != arm}, value))
    if not alternatives:
        return NONE
    if len(alternatives) == 1 and not alternatives[0][0]:
        return alternatives[0][1]
    return choice(alternatives)


def bind_parameters(m: Machine, function: Function, arguments: Arguments, cells: dict[str, Cell]) -> None:
    """Bind arguments to parameters; what is not given takes its default, or is unknown."""
    spec = function.node.args
    ordered = [*spec.posonlyargs, *spec.args]
    given: dict[str, Value] = {}
    for parameter, (value, _) in zip(ordered, arguments.positional, strict=False):
        given[parameter.arg] = value
    rest = [value for value, _ in arguments.positional[len(ordered) :]]
    known = {a.arg for a in (*ordered, *spec.kwonlyargs)}
    surplus = DictValue()
    for name, (value, _) in arguments.keywords.items():
        if name in known:
            given[name] = value
        else:
            slot = surplus.cells[name] = Cell("item", f"[{name!r}]")
            slot.write(ALWAYS, value, m.now())
    for parameter in (*ordered, *spec.kwonlyargs):
        bound = given.get(parameter.arg)
        if bound is None:
            if parameter.arg in function.defaults and (not arguments.open or usual(function.defaults[parameter.arg])):
                bound = function.defaults[parameter.arg]
                leave(bound)  # the function itself keeps it from one call to the next
            else:
                bound = unknown_parameter(m, parameter)
        elif isinstance(bound, Unknown) and bound.tensor is None and names_tensor(parameter.annotation):
            promote(m, bound, sure=True)
        cell = cells[parameter.arg] = Cell("local", parameter.arg)
        cell.write(m.condition, bound, m.now())
    if spec.vararg is not None:
        slots = []
        for value in rest:
            slot = Cell("item", "[...]")
            slot.write(ALWAYS, value, m.now())
            slots.append(slot)
        star = ListValue(slots, "tuple", exact=not arguments.open) if slots or not arguments.open else Unknown("args")
        cell = cells[spec.vararg.arg] = Cell("local", spec.vararg.arg)
        cell.write(m.condition, star, m.now())
    if spec.kwarg is not None:
        if arguments.open:
            surplus.rest.write(m.condition, Unknown(), m.now())
        cell = cells[spec.kwarg.arg] = Cell("local", spec.kwarg.arg)
        cell.write(m.condition, surplus, m.now())


def usual(default: Value) -> bool:
    """Whether a default stands for what callers usually give: a number or a word; a switch or None stays open."""
    return (
        isinstance(default, Const)
        and isinstance(default.value, (int, float, str))
        and not isinstance(default.value, bool)
    )


def unknown_parameter(m: Machine, parameter: ast.arg) -> Value:
    """A parameter nobody gave a value: a tensor where its annotation says so."""
    value = Unknown(parameter.arg)
    if names_tensor(parameter.annotation):
        promote(m, value, sure=True)
    elif isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in ("int", "float", "bool", "str"):
        value.number = True
    return value


# the leading words of jaxtyping's and torch's own tensor types; the checks they name are not the analysis's business
TENSOR_TYPES = frozenset(
    [
        "Tensor",
        "FloatTensor",
        "LongTensor",
        "BoolTensor",
        "IntTensor",
        "HalfTensor",
        "DoubleTensor",
        "ByteTensor",
        "Float",
        "Int",
        "Bool",
        "Shaped",
        "Num",
        "Inexact",
        "Real",
        "Complex",
        "Integer",
        "UInt",
        "Float32",
        "Float16",
        "BFloat16",
        "Float64",
        "Int64",
        "Int32",
    ]
)


def names_tensor(annotation: ast.expr | None) -> bool:
    """Whether an annotation says tensor: ``Tensor``, ``torch.Tensor``, optional, jaxtyping's, as a string too."""
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return names_tensor(ast.parse(annotation.value, mode="eval").body)
        except SyntaxError:
            return False
    if isinstance(annotation, ast.Name):
        return annotation.id.endswith("Tensor") and annotation.id in TENSOR_TYPES
    if isinstance(annotation, ast.Attribute):
        return annotation.attr.endswith("Tensor") and annotation.attr in TENSOR_TYPES
    if isinstance(annotation, ast.Subscript):
        head = annotation.value
        name = head.id if isinstance(head, ast.Name) else head.attr if isinstance(head, ast.Attribute) else ""
        if name == "Optional":
            return names_tensor(annotation.slice)
        if name in TENSOR_TYPES and isinstance(annotation.slice, ast.Tuple):
            return names_tensor(annotation.slice.elts[0])
        return False
    if isinstance(annotation, ast.BinOp):
        sides = [annotation.left, annotation.right]
        plain = [s for s in sides if not (isinstance(s, ast.Constant) and s.value is None)]
        return len(plain) == 1 and names_tensor(plain[0])
    return False


def instantiate(m: Machine, cls: Class, arguments: Arguments, node: ast.AST) -> Value:
    """Make an object of an analysed class and run its ``__init__``."""
    instance = blank(m, cls, node)
    construct(m, instance, cls, arguments, node)
    return instance


def blank(m: Machine, cls: Class, node: ast.AST) -> Instance:
    """An object of an analysed class before its ``__init__``."""
    instance = Instance(cls, made=m.site(node) if m.frame is not None else None, label="self")
    modules.base_of(m, instance)
    return instance


def construct(m: Machine, instance: Instance, cls: Class, arguments: Arguments, node: ast.AST) -> None:
    """Run the ``__init__`` of an object."""
    from inplace_fix.analysis.attributes import class_member

    init = class_member(cls, "__init__")
    value = init.latest() if init is not None else None
    if isinstance(value, Function):
        invoke(m, value, Arguments([(instance, None), *arguments.positional], arguments.keywords, arguments.open), node)
    elif init is None:
        modules.default_init(m, instance, arguments, node)
