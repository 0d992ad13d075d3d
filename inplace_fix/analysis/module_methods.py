"""Methods that ``nn.Module`` and its containers bring: registration, iteration, modes, hooks, state."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from inplace_fix.analysis import iteration, modules
from inplace_fix.analysis.conditions import ALWAYS, Cell
from inplace_fix.analysis.dtypes import CONVERSIONS, named
from inplace_fix.analysis.facts import Form
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.names import read_cell
from inplace_fix.analysis.operands import Call, as_tensor
from inplace_fix.analysis.values import (
    NONE,
    Const,
    DictValue,
    Extern,
    Function,
    Instance,
    ListValue,
    Module,
    Tensor,
    Tri,
    Unknown,
    Value,
)
from inplace_fix.catalog.model import Op

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments

Owner = Module | Instance
Method = Callable[[Machine, Owner, "Arguments", ast.AST], Value]


def call(m: Machine, owner: Owner, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call ``owner.name(...)``."""
    handler = METHODS.get(name)
    if handler is not None:
        return handler(m, owner, arguments, node)
    if name in CONVERSIONS:
        return _convert(m, owner, CONVERSIONS[name])
    if isinstance(owner, Instance) and isinstance(owner.cls, Extern):
        return _of_outer(m, owner, name, arguments)
    if isinstance(owner, Instance) and owner.optimizer is not None:
        from inplace_fix.analysis.optimizers import call_method

        return call_method(m, owner.optimizer, name, arguments, node)
    return Unknown()


def _of_outer(m: Machine, owner: Instance, name: str, arguments: Arguments) -> Value:
    """A method of the context that a custom Function is handed."""
    if name in ("save_for_backward", "mark_dirty"):
        slots = [iteration.slot(m, value) for value, _ in arguments.positional]
        key = "saved_tensors" if name == "save_for_backward" else "dirty"
        cell = owner.attributes[key] = Cell("attribute", f"ctx.{key}")
        cell.write(ALWAYS, ListValue(slots, "tuple"), m.now())
    return NONE


def module_of(owner: Owner) -> Module | None:
    """The torch side of a module."""
    return owner.module if isinstance(owner, Instance) else owner


def listed(m: Machine, pairs: list[tuple[str, Value]], named_: bool) -> ListValue:
    """Values, or (name, value) tuples, as a list."""
    cells = []
    for name, value in pairs:
        item: Value = value
        if named_:
            item = ListValue([iteration.slot(m, Const(name)), iteration.slot(m, value)], "tuple")
        cells.append(iteration.slot(m, item))
    return ListValue(cells)


def _init(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    if isinstance(owner, Instance) and owner.optimizer is not None:
        from inplace_fix.analysis.optimizers import fill

        fill(m, owner.optimizer, arguments)
        return NONE
    module = module_of(owner)
    if module is not None:
        modules.initialise(m, module, arguments, node)
    return NONE


def _forward(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    module = module_of(owner)
    return modules.builtin(m, module, arguments, node) if module is not None else Unknown()


def _tensors(parameters: bool, buffers: bool, named_: bool) -> Method:
    def run(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
        found = modules.tensors(owner, parameters, buffers)
        if not found and _opaque(owner):
            return Unknown("parameters")
        return listed(m, list(found), named_)

    return run


def _opaque(owner: Owner) -> bool:
    """Whether a module may hold tensors that the analysis has not seen."""
    return any(
        isinstance(c.latest(), Unknown) for _, part in modules.walk(owner) for _, c in modules.named_children(part)
    )


def _modules(named_: bool) -> Method:
    def run(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
        return listed(m, list(modules.walk(owner)), named_)

    return run


def _children(named_: bool) -> Method:
    def run(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
        pairs = [(name, read_cell(m, cell, node)) for name, cell in modules.named_children(owner)]
        return listed(m, pairs, named_)

    return run


def _mode(training: bool) -> Method:
    def run(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
        wanted = arguments.get(0, "mode") if training else None
        value = wanted if wanted is not None else Const(training)
        for _, part in modules.walk(owner):
            module = module_of(part)
            if module is not None:
                module.training.write(m.condition, value, m.now())
        return owner

    return run


def _same(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.values():
        dtype = named(value)
        if dtype is not None:
            _convert(m, owner, dtype)
    return owner


def _convert(m: Machine, owner: Owner, dtype: str) -> Value:
    """``.half()``, ``.to(torch.bfloat16)``: the floating tensors of the tree change type."""
    for _, tensor in modules.tensors(owner, True, True):
        if tensor.dtype is None or "float" in tensor.dtype:
            tensor.dtype = dtype
    for _, part in modules.walk(owner):
        module = module_of(part)
        if module is not None:
            module.dtype = dtype
    return owner


def _requires_grad(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    wanted = arguments.get(0, "requires_grad")
    answer = Tri.YES if wanted is None else Tri.MAYBE
    if isinstance(wanted, Const):
        answer = Tri.YES if wanted.value else Tri.NO
    for _, tensor in modules.tensors(owner, True, False):
        tensor.requires = answer
    return owner


def _register(parameter: bool) -> Method:
    def run(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
        name, value = arguments.get(0, "name"), arguments.get(1, "param" if parameter else "tensor")
        if not isinstance(name, Const) or not isinstance(name.value, str) or value is None:
            return NONE
        tensor = as_tensor(m, value)
        if tensor is not None and not parameter and tensor.storage.origin == "fresh":
            tensor.storage.origin = "buffer"
        cells = owner.attributes if isinstance(owner, Instance) else owner.tensors
        cells.setdefault(name.value, Cell("attribute", f"self.{name.value}")).write(m.condition, value, m.now())
        return NONE

    return run


def _add_module(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    name, value = arguments.get(0, "name"), arguments.get(1, "module")
    module = module_of(owner)
    if module is not None and value is not None:
        key = str(name.value) if isinstance(name, Const) else f"?{len(module.keys)}"
        modules.adopt(m, module, key, value)
    return NONE


def _append(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    module = module_of(owner)
    if module is not None:
        for value in arguments.values():
            modules.adopt(m, module, str(len(module.keys)), value)
    return owner


def _extend(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    module = module_of(owner)
    if module is not None:
        for value in arguments.values():
            for item in iteration.items(m, value, node):
                modules.adopt(m, module, str(len(module.keys)), item)
    return owner


def _views(keys: bool, values: bool) -> Method:
    def run(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
        module = module_of(owner)
        if module is None:
            return Unknown()
        pairs = [(key, read_cell(m, cell, node)) for key, cell in zip(module.keys, module.children, strict=False)]
        if keys and not values:
            return ListValue([iteration.slot(m, Const(key)) for key, _ in pairs])
        return listed(m, pairs, keys)

    return run


def _forward_hook(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    module, hook = module_of(owner), arguments.get(0, "hook")
    if module is not None and hook is not None:
        module.forward_hooks.append(hook)
    return Unknown("handle")


def _backward_hook(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    module = module_of(owner)
    if module is not None:
        module.backward_hooked = Tri.YES if not m.condition else Tri.MAYBE
    return Unknown("handle")


def _zero_grad(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    keep = arguments.get(0, "set_to_none")
    zero_gradients(m, [t for _, t in modules.tensors(owner, True, False)], keep, node)
    return NONE


def zero_gradients(m: Machine, tensors: list[Tensor], set_to_none: Value | None, node: ast.AST) -> None:
    """``zero_grad``: the gradients are dropped, or written to where ``set_to_none`` is False."""
    from inplace_fix.analysis.writes import perform

    writing = isinstance(set_to_none, Const) and set_to_none.value is False
    op = Op("torch.optim.Optimizer.zero_grad", ("self",), writes=("self",))
    for tensor in tensors:
        if tensor.gradient is None:
            continue
        if writing:
            call_ = Call(op, {}, node, Form.IMPLICIT)
            perform(m, call_, ALWAYS, tensor.gradient, None, (), None, Tri.YES)
        elif not m.condition:
            tensor.gradient = None


def _state_dict(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    result = DictValue()
    for name, tensor in modules.tensors(owner, True, True):
        alias = Tensor(tensor.storage, shares_graph=False, dtype=tensor.dtype, made=m.site(node), made_tick=m.now())
        cell = result.cells[name] = Cell("item", f"[{name!r}]")
        cell.write(ALWAYS, alias, m.now())
    if not result.cells:
        result.rest.write(ALWAYS, Unknown(), m.now())
    return result


def _load_state(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis.writes import perform

    assigned = arguments.get(2, "assign")
    if isinstance(assigned, Const) and assigned.value:
        return Unknown()
    op = Op("torch.nn.Module.load_state_dict", ("self",), writes=("self",))
    with m.grad_mode(False):
        for _, tensor in modules.tensors(owner, True, True):
            perform(m, Call(op, {}, node, Form.IMPLICIT), ALWAYS, tensor, None, (), None, Tri.YES)
    return Unknown()


def _apply(m: Machine, owner: Owner, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call as call_value

    function = arguments.get(0, "fn")
    if isinstance(function, Function) or function is not None:
        for _, part in list(modules.walk(owner))[:16]:
            call_value(m, function, Args([(part, None)]), node)
    return owner


METHODS: dict[str, Method] = {
    "__init__": _init,
    "forward": _forward,
    "__call__": _forward,
    "parameters": _tensors(True, False, False),
    "named_parameters": _tensors(True, False, True),
    "buffers": _tensors(False, True, False),
    "named_buffers": _tensors(False, True, True),
    "modules": _modules(False),
    "named_modules": _modules(True),
    "children": _children(False),
    "named_children": _children(True),
    "train": _mode(True),
    "eval": _mode(False),
    "to": _same,
    "cuda": _same,
    "cpu": _same,
    "requires_grad_": _requires_grad,
    "register_buffer": _register(False),
    "register_parameter": _register(True),
    "add_module": _add_module,
    "register_module": _add_module,
    "append": _append,
    "extend": _extend,
    "items": _views(True, True),
    "keys": _views(True, False),
    "values": _views(False, True),
    "register_forward_hook": _forward_hook,
    "register_full_backward_hook": _backward_hook,
    "register_full_backward_pre_hook": _backward_hook,
    "zero_grad": _zero_grad,
    "state_dict": _state_dict,
    "load_state_dict": _load_state,
    "apply": _apply,
}
