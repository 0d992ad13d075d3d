"""``nn.Module`` objects: made, called with their hooks, walked for their children, parameters and buffers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from inplace_fix.analysis import iteration
from inplace_fix.analysis.attributes import class_member
from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition
from inplace_fix.analysis.facts import Form, Site
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.names import read_cell
from inplace_fix.analysis.operands import Call, requires_of, tensors_of
from inplace_fix.analysis.tensors import apply, bind
from inplace_fix.analysis.values import (
    NONE,
    Choice,
    Class,
    Const,
    DictValue,
    Extern,
    Function,
    Instance,
    ListValue,
    Module,
    Optimizer,
    Tensor,
    Tri,
    Unknown,
    Value,
    choice,
    options,
)

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments

MODULE = "torch.nn.Module"
SEQUENTIAL = "torch.nn.Sequential"
CONTAINERS = {
    SEQUENTIAL: "sequential",
    "torch.nn.ModuleList": "list",
    "torch.nn.ParameterList": "list",
    "torch.nn.ModuleDict": "dict",
    "torch.nn.ParameterDict": "dict",
}


def outer_bases(cls: Value, depth: int = 0) -> Iterator[str]:
    """Names of the bases that lie outside the analysed source, nearest first."""
    if isinstance(cls, Extern):
        yield cls.name
    elif isinstance(cls, Class) and depth < 12:
        for base in cls.bases:
            yield from outer_bases(base, depth + 1)


def base_of(m: Machine, instance: Instance) -> None:
    """Give an object the built-in part that its outer bases bring."""
    for name in outer_bases(instance.cls):
        if name == MODULE or name in CONTAINERS or m.catalog.module(name) is not None:
            instance.module = blank(m, name, instance.made)
            return
        if name.startswith("torch.optim"):
            instance.optimizer = Optimizer(name)
            return
        if name.rsplit(".", 1)[-1] in ("LightningModule", "PreTrainedModel", "Module"):
            instance.module = blank(m, MODULE, instance.made)
            return


def is_module(cls: Value) -> bool:
    """Whether a class of the source derives from a torch module."""
    return any(
        name.startswith("torch.nn.") or name.rsplit(".", 1)[-1] in ("LightningModule", "PreTrainedModel", "Module")
        for name in outer_bases(cls)
    )


def blank(m: Machine, name: str, made: Site | None) -> Module:
    """A module with nothing set yet, in training mode as every module starts."""
    module = Module(m.catalog.module(name), name, made=made)
    module.container = CONTAINERS.get(name, "")
    module.training.write(ALWAYS, Const(True), m.now())
    return module


def build(m: Machine, name: str, arguments: Arguments, node: ast.AST) -> Module:
    """``nn.X(...)``."""
    module = blank(m, name, m.site(node))
    module.call = node if isinstance(node, ast.Call) else None
    initialise(m, module, arguments, node)
    return module


def initialise(m: Machine, module: Module, arguments: Arguments, node: ast.AST) -> None:
    """What a module's own constructor sets up from its arguments."""
    if module.container:
        _fill(m, module, arguments, node)
        return
    facts = module.facts
    if facts is None:
        return
    names = [name for name in facts.init if name != "self"]
    given = dict(zip(names, (value for value, _ in arguments.positional), strict=False))
    given.update({name: value for name, (value, _) in arguments.keywords.items()})
    module.constants = {k: v for k, v in given.items() if k not in facts.parameters}
    for name in (*facts.parameters, *facts.buffers):
        cell = module.tensors[name] = Cell("attribute", name)
        switch = given.get(name)
        absent = isinstance(switch, Const) and switch.value in (False, None) and name in given
        absent = absent or any(
            _is(given.get(k), False) for k in ("affine", "elementwise_affine") if name in ("weight", "bias")
        )
        absent = absent or (_is(given.get("track_running_stats"), False) and name in facts.buffers)
        absent = absent or ("bias" in name and _is(given.get("bias"), False))
        cell.write(ALWAYS, NONE if absent else _own(m, name, name in facts.parameters, node), m.now())
    flag = given.get("inplace") if facts.inplace is not None else given.get(facts.train.flag)
    if flag is None:
        module.flag_set = Tri.NO
    elif isinstance(flag, Const):
        module.flag_set = Tri.YES if flag.value not in (False, None) else Tri.NO
    else:
        module.flag_set = Tri.MAYBE


def _is(value: Value | None, constant: object) -> bool:
    return isinstance(value, Const) and value.value is constant


def _own(m: Machine, name: str, parameter: bool, node: ast.AST) -> Tensor:
    tensor = m.fresh(node, origin="parameter" if parameter else "buffer", label=name)
    tensor.requires = Tri.YES if parameter else Tri.NO
    tensor.leaf = tensor.parameter = parameter
    tensor.dtype = "float"
    tensor.contiguous = True
    return tensor


def _fill(m: Machine, module: Module, arguments: Arguments, node: ast.AST) -> None:
    """The children of a container."""
    module.exact = not arguments.open
    values = [value for value, _ in arguments.positional]
    if len(values) == 1 and not isinstance(values[0], (Module, Instance)):
        first = values[0]
        for _, part in options(first)[:1]:
            if isinstance(part, DictValue):
                for key, cell in part.cells.items():
                    adopt(m, module, str(key), cell.latest() or Unknown())
                return
            if isinstance(part, ListValue):
                module.exact = module.exact and part.exact
                pairs = [cell.latest() for cell in part.cells]
                for number, value in enumerate(pairs):
                    if isinstance(value, ListValue) and value.kind == "tuple" and len(value.cells) == 2:
                        key = value.cells[0].latest()
                        name = str(key.value) if isinstance(key, Const) else str(number)
                        adopt(m, module, name, value.cells[1].latest() or Unknown())
                    else:
                        adopt(m, module, str(number), value or Unknown())
                return
        if isinstance(first, Unknown):
            module.exact = False
            for number, value in enumerate(iteration.items(m, first, node)):
                adopt(m, module, str(number), value)
            return
    for number, value in enumerate(values):
        adopt(m, module, str(number), value)


def adopt(m: Machine, module: Module, name: str, value: Value) -> None:
    """Add a child."""
    if name in module.keys:
        module.children[module.keys.index(name)].write(m.condition, value, m.now())
        return
    cell = Cell("item", f"[{name}]")
    cell.write(ALWAYS, value, m.now())
    module.keys.append(name)
    module.children.append(cell)


def default_init(m: Machine, instance: Instance, arguments: Arguments, node: ast.AST) -> None:
    """An object whose class has no ``__init__``: a module's own, or a dataclass's fields."""
    if instance.module is not None:
        initialise(m, instance.module, arguments, node)
        return
    if isinstance(instance.cls, Class):
        fields = [
            s.target.id
            for s in instance.cls.node.body
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
        ]
        given = dict(zip(fields, (value for value, _ in arguments.positional), strict=False))
        given.update({name: value for name, (value, _) in arguments.keywords.items()})
        for name, value in given.items():
            cell = instance.attributes[name] = Cell("attribute", f"self.{name}")
            cell.write(m.condition, value, m.now())


# calling


def run(m: Machine, owner: Module | Instance, arguments: Arguments, node: ast.AST) -> Value:
    """``owner(...)``: forward, then the forward hooks; backward hooks turn the outputs into views."""
    result = forward(m, owner, arguments, node)
    module = owner.module if isinstance(owner, Instance) else owner
    if module is None:
        return result
    for hook in list(module.forward_hooks):
        from inplace_fix.analysis.calls import Arguments as Args
        from inplace_fix.analysis.calls import call

        slots = [iteration.slot(m, value) for value, _ in arguments.positional]
        answer = call(m, hook, Args([(owner, None), (ListValue(slots, "tuple"), None), (result, None)]), node)
        if tensors_of(m, answer) and not isinstance(answer, Choice):
            result = answer
    if module.backward_hooked is not Tri.NO and m.grad is not False:
        result = hooked(m, result, node)
    return result


def hooked(m: Machine, value: Value, node: ast.AST) -> Value:
    """An output as a full backward hook hands it on: a view made by a Function."""
    found: list[tuple[Condition, Value]] = []
    for guard, tensor in tensors_of(m, value):
        if requires_of(tensor) is Tri.NO:
            return value
        view = Tensor(
            tensor.storage, tensor.maybe, tensor.node, tensor.requires, view="hook", base=tensor, made=m.site(node),
            made_tick=m.now(), dtype=tensor.dtype, sure=tensor.sure,
        )  # fmt: skip
        found.append((guard, view))
    return choice(found) if found and isinstance(value, (Tensor, Choice)) else value


def forward(m: Machine, owner: Module | Instance, arguments: Arguments, node: ast.AST) -> Value:
    """The forward of a module, or ``__call__`` of any other object."""
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import invoke

    if isinstance(owner, Instance):
        for name in ("forward", "__call__") if owner.module is not None else ("__call__",):
            member = class_member(owner.cls, name)
            value = member.latest() if member is not None else None
            if name in owner.attributes:
                value = owner.attributes[name].latest()
                if isinstance(value, Function):
                    return invoke(m, value, arguments, node)
            if isinstance(value, Function):
                args = Args([(owner, None), *arguments.positional], arguments.keywords, arguments.open)
                return invoke(m, value, args, node)
        if owner.module is None:
            return Unknown()
        return builtin(m, owner.module, arguments, node)
    return builtin(m, owner, arguments, node)


def builtin(m: Machine, module: Module, arguments: Arguments, node: ast.AST) -> Value:
    """The forward of a torch.nn class."""
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call

    m.step()
    if module.container == "sequential":
        operand = arguments.positional[0] if arguments.positional else (Unknown(), None)
        for cell in module.children[:32]:
            child = cell.latest()
            if child is not None:
                operand = (call(m, child, Args([operand]), node), operand[1] if child is None else None)
        return operand[0]
    facts = module.facts
    if facts is None:
        from inplace_fix.analysis.calls import call_unknown

        return call_unknown(m, Unknown(), arguments)
    training = module.training.latest()
    op = facts.evaluate if _is(training, False) else facts.train
    own = {name: read_cell(m, cell, node) for name, cell in module.tensors.items()}
    bound = bind(op, arguments.positional, arguments.keywords)
    dtype = module.dtype
    call_ = Call(
        op,
        bound,
        node,
        Form.MODULE if facts.inplace is not None else Form.IMPLICIT,
        in_place=module.flag_set if op.flag else None,
        made=module.made,
        module=True,
        flag_position=facts.inplace,
        own={k: v for k, v in own.items() if k not in bound},
    )
    result = apply(m, call_)
    if dtype is not None:
        for _, tensor in tensors_of(m, result):
            tensor.dtype = dtype
    return result


# walking


def named_children(owner: Module | Instance) -> Iterator[tuple[str, Cell]]:
    """Children in the order of registration."""
    if isinstance(owner, Instance):
        for name, cell in list(owner.attributes.items()):
            if any(isinstance(part, (Module, Instance)) for _, value, _ in cell.bindings for _, part in options(value)):
                yield name, cell
    module = owner.module if isinstance(owner, Instance) else owner
    if module is not None:
        yield from zip(module.keys, module.children, strict=False)


def walk(owner: Value, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Module | Instance]]:
    """A module and all below it with their dotted names."""
    seen = set() if seen is None else seen
    if not isinstance(owner, (Module, Instance)) or id(owner) in seen:
        return
    if isinstance(owner, Instance) and owner.module is None:
        return
    seen.add(id(owner))
    yield prefix, owner
    for name, cell in named_children(owner):
        for _, value, _ in cell.bindings:
            for _, part in options(value):
                yield from walk(part, f"{prefix}.{name}" if prefix else name, seen)


def own_tensors(owner: Module | Instance) -> Iterator[tuple[str, Tensor]]:
    """Parameters and buffers registered on one module itself."""
    module = owner.module if isinstance(owner, Instance) else owner
    cells: list[tuple[str, Cell]] = list(module.tensors.items()) if module is not None else []
    if isinstance(owner, Instance):
        cells += list(owner.attributes.items())
    if module is not None:
        cells += list(zip(module.keys, module.children, strict=False))
    for name, cell in cells:
        for _, value, _ in cell.bindings:
            for _, part in options(value):
                if isinstance(part, Tensor) and (part.parameter or part.storage.origin == "buffer"):
                    yield name, part


def tensors(owner: Value, parameters: bool, buffers: bool) -> list[tuple[str, Tensor]]:
    """All parameters or buffers of a module tree, each once."""
    found: dict[int, tuple[str, Tensor]] = {}
    for prefix, part in walk(owner):
        for name, tensor in own_tensors(part):
            if (
                tensor.parameter
                if parameters and not buffers
                else not tensor.parameter
                if buffers and not parameters
                else True
            ):
                found.setdefault(id(tensor), (f"{prefix}.{name}" if prefix else name, tensor))
    return list(found.values())


def method(m: Machine, owner: Module | Instance, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method that comes from torch rather than from the source."""
    from inplace_fix.analysis import module_methods

    return module_methods.call(m, owner, name, arguments, node)
