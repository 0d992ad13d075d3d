"""Attributes: of tensors, modules, objects, classes and modules of the source, and of what lies outside."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from inplace_fix.analysis import evident, indexing
from inplace_fix.analysis.conditions import ALWAYS, Cell
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.names import read_cell
from inplace_fix.analysis.operands import Call, promote
from inplace_fix.analysis.tensors import apply
from inplace_fix.analysis.values import (
    Bound,
    Choice,
    Class,
    Const,
    DictValue,
    Extern,
    Function,
    Instance,
    ListValue,
    Module,
    Namespace,
    Optimizer,
    Super,
    Tensor,
    Tri,
    Unknown,
    Value,
    choice,
)
from inplace_fix.catalog.model import Op

METADATA = frozenset(
    [
        "shape",
        "dtype",
        "device",
        "layout",
        "ndim",
        "is_cuda",
        "itemsize",
        "nbytes",
        "requires_grad",
        "is_leaf",
        "grad_fn",
        "_version",
        "names",
    ]
)


def get(m: Machine, owner: Value, name: str, node: ast.Attribute) -> Value:
    """``owner.name``."""
    if isinstance(owner, Choice):
        found = []
        for guard, part in owner.options:
            with m.under(guard) as possible:
                if possible:
                    found.append((guard, get(m, part, name, node)))
        return choice(found) if found else Unknown()
    handler = HANDLERS.get(type(owner))
    return handler(m, owner, name, node) if handler else Bound(owner, name, receiver=node.value)


def _of_tensor(m: Machine, owner: Tensor, name: str, node: ast.Attribute) -> Value:
    return tensor_attribute(m, owner, owner, name, node)


def tensor_attribute(m: Machine, tensor: Tensor, owner: Value, name: str, node: ast.Attribute) -> Value:
    """An attribute of a tensor: another window on it, its gradient, metadata, or a method."""
    if name == "grad":
        return gradient(m, tensor, node)
    relation = m.catalog.attributes.get(name)
    if relation is not None:
        op = Op("torch.Tensor." + name, ("self",), relation, differentiable=("self",))
        return apply(m, Call(op, {"self": (owner, node.value)}, node))
    if name in METADATA:
        return Unknown(name, number=name not in ("shape",))
    return Bound(owner, name, receiver=node.value)


def gradient(m: Machine, tensor: Tensor, node: ast.AST) -> Tensor:
    """The gradient of a tensor: a tensor of its own without a graph."""
    if tensor.gradient is None:
        tensor.gradient = m.fresh(node, origin="gradient", label="grad")
        tensor.gradient.dtype = tensor.dtype
    return tensor.gradient


def _of_unknown(m: Machine, owner: Unknown, name: str, node: ast.Attribute) -> Value:
    if name in ("grad_fn", "requires_grad", "is_leaf", "retain_grad") and owner.tensor is None:
        promote(m, owner, sure=True)
    evident.asked(m, owner, "__get__", node)
    if owner.tensor is not None and name not in owner.parts:
        return tensor_attribute(m, owner.tensor, owner, name, node)
    if name == "data" and owner.tensor is None and isinstance(m.unit.parent(node), ast.Attribute):
        call = m.unit.parent(m.unit.parent(node) or node)
        method = m.unit.parent(node)
        if isinstance(call, ast.Call) and isinstance(method, ast.Attribute) and method.attr.endswith("_"):
            tensor = promote(m, owner, sure=True)
            return tensor_attribute(m, tensor, owner, name, node)
    found = owner.parts.get(name)
    if found is None:
        if m.catalog.method(name) is not None and isinstance(m.unit.parent(node), ast.Call):
            return Bound(owner, name, receiver=node.value)
        found = owner.parts[name] = Unknown(f"{owner.label}.{name}" if owner.label else name)
    return found


def _of_module(m: Machine, owner: Module, name: str, node: ast.Attribute) -> Value:
    found = module_cell(owner, name)
    if found is not None:
        return read_cell(m, found, node)
    if name in owner.constants:
        return owner.constants[name]
    if name == "_modules":
        return DictValue(dict(zip(owner.keys, owner.children, strict=False)))
    return Bound(owner, name, receiver=node.value)


def module_cell(owner: Module, name: str) -> Cell | None:
    """The slot of a module's own tensor, of a child, or of its training flag."""
    if name == "training":
        return owner.training
    if name in owner.tensors:
        return owner.tensors[name]
    if name in owner.keys:
        return owner.children[owner.keys.index(name)]
    return None


def _of_instance(m: Machine, owner: Instance, name: str, node: ast.Attribute) -> Value:
    found = owner.attributes.get(name)
    if found is not None and found.bound:
        return read_cell(m, found, node)
    if name == "__class__":
        return owner.cls
    member = class_member(owner.cls, name)
    if member is not None:
        return bind_member(m, owner, name, member, node)
    if owner.module is not None:
        part = module_cell(owner.module, name)
        if part is not None and part.bound:
            return read_cell(m, part, node)
        if name in owner.module.constants:
            return owner.module.constants[name]
        if name == "training":
            return Unknown("training")
    if owner.optimizer is not None and name == "param_groups":
        return groups(m, owner.optimizer)
    if owner.optimizer is not None and name in ("state", "defaults"):
        found = owner.attributes[name] = Cell("attribute", f"self.{name}")
        found.write(ALWAYS, DictValue(of_dicts=name == "state"), m.now())
        return read_cell(m, found, node)
    outer = owner.module is not None or isinstance(owner.cls, Extern) or has_outer_base(owner.cls)
    parent = m.unit.parent(node)
    if outer and isinstance(parent, ast.Call) and parent.func is node:
        return Bound(owner, name, receiver=node.value)
    # an attribute set where the analysis did not see it
    found = owner.attributes[name] = Cell("attribute", f"{owner.label or 'self'}.{name}")
    found.write(ALWAYS, Unknown(f"{owner.label or 'self'}.{name}"), m.now())
    return read_cell(m, found, node)


def groups(m: Machine, optimizer: Optimizer) -> Value:
    """``param_groups``: one dict whose params are the tensors that the optimizer was given."""
    if optimizer.groups is None:
        slots = []
        for tensor in optimizer.params:
            slot = Cell("item", "params[...]")
            slot.write(ALWAYS, tensor, m.now())
            slots.append(slot)
        group = DictValue()
        params = Cell("item", "['params']")
        params.write(ALWAYS, ListValue(slots, exact=False) if slots else Unknown("params"), m.now())
        group.cells["params"] = params
        outer = Cell("item", "[...]")
        outer.write(ALWAYS, group, m.now())
        optimizer.groups = ListValue([outer])
    return optimizer.groups


def has_outer_base(cls: Class) -> bool:
    """Whether a class derives from something outside the analysed source."""
    return any(not isinstance(base, Class) or has_outer_base(base) for base in cls.bases)


def class_member(cls: Value, name: str, depth: int = 0) -> Cell | None:
    """A class attribute, looked for depth first in the bases."""
    if not isinstance(cls, Class) or depth > 8:
        return None
    found = cls.cells.get(name)
    if found is not None and found.bound:
        return found
    for base in cls.bases:
        found = class_member(base, name, depth + 1)
        if found is not None:
            return found
    return None


def bind_member(m: Machine, owner: Instance | Class, name: str, member: Cell, node: ast.Attribute) -> Value:
    """A class attribute seen through an object: methods bound, properties called, values as they are."""
    from inplace_fix.analysis.calls import Arguments, invoke

    value = read_cell(m, member, node)
    if isinstance(value, Function):
        if value.kind == "static":
            return value
        if value.kind == "property" and isinstance(owner, Instance):
            return invoke(m, value, Arguments([(owner, node.value)]), node)
        if value.kind == "class":
            return Bound(owner.cls if isinstance(owner, Instance) else owner, name, value, node.value)
        return Bound(owner, name, value, node.value) if isinstance(owner, Instance) else value
    return value


def _of_class(m: Machine, owner: Class, name: str, node: ast.Attribute) -> Value:
    member = class_member(owner, name)
    if member is not None:
        return bind_member(m, owner, name, member, node)
    return Bound(owner, name, receiver=node.value)


def _of_extern(m: Machine, owner: Extern, name: str, node: ast.Attribute) -> Value:
    full = f"{owner.name}.{name}"
    if owner.name in ("torch", "math", "numpy", "np") and name in ("pi", "inf", "nan", "e", "tau"):
        return Unknown(name, number=True)
    unit = m.project.find(full, m.unit)
    if unit is not None:
        from inplace_fix.analysis.names import module_value
        from inplace_fix.analysis.statements import run_block

        return module_value(m, full, m.unit, run_block)
    return Extern(full)


def _of_namespace(m: Machine, owner: Namespace, name: str, node: ast.Attribute) -> Value:
    found = owner.cells.get(name)
    if found is not None and found.bound:
        return read_cell(m, found, node)
    return Unknown(name)


def _of_list(m: Machine, owner: ListValue, name: str, node: ast.Attribute) -> Value:
    if owner.names and name in owner.names:
        return read_cell(m, owner.cells[owner.names.index(name)], node)
    named = name in ("values", "indices", "sign", "logabsdet", "Q", "R", "U", "S", "Vh")
    if named and owner.kind == "tuple" and owner.cells:
        return read_cell(m, owner.cells[0 if name in ("values", "sign", "Q", "U") else -1], node)
    return Bound(owner, name, receiver=node.value)


def _of_function(m: Machine, owner: Function, name: str, node: ast.Attribute) -> Value:
    found = owner.attributes.get(name)
    return read_cell(m, found, node) if found is not None else Bound(owner, name, receiver=node.value)


def _of_optimizer(m: Machine, owner: Optimizer, name: str, node: ast.Attribute) -> Value:
    if name == "param_groups":
        return groups(m, owner)
    if name == "state":
        return Unknown("state")
    return Bound(owner, name, receiver=node.value)


def set_(m: Machine, owner: Value, name: str, value: Value, node: ast.Attribute) -> None:
    """``owner.name = value`` for anything but a tensor."""
    if isinstance(owner, Instance):
        if owner.module is not None and name in owner.module.tensors and name not in owner.attributes:
            owner.module.tensors[name].write(m.condition, value, m.now())
            return
        label = f"{m.unit.segment(node.value)}.{name}"
        place = owner.attributes.setdefault(name, Cell("attribute", label))
        place.write(m.condition, value, m.now())
        m.keep(place, value)
    elif isinstance(owner, Module):
        found = module_cell(owner, name)
        if name == "inplace":
            owner.flag_set = (Tri.YES if value.value else Tri.NO) if isinstance(value, Const) else Tri.MAYBE
        elif found is not None:
            found.write(m.condition, value, m.now())
        else:
            owner.tensors[name] = Cell("attribute", name)
            owner.tensors[name].write(m.condition, value, m.now())
    elif isinstance(owner, Class):
        owner.cells.setdefault(name, Cell("attribute", f"{owner.node.name}.{name}")).write(m.condition, value, m.now())
    elif isinstance(owner, Function):
        owner.attributes.setdefault(name, Cell("attribute", name)).write(m.condition, value, m.now())
    elif isinstance(owner, Namespace):
        owner.cells.setdefault(name, Cell("global", name)).write(m.condition, value, m.now())
    elif isinstance(owner, Unknown):
        owner.parts[name] = value
        indexing.leave(value)


def cell(owner: Value, name: str) -> Cell | None:
    """The slot behind ``owner.name`` where there is one."""
    if isinstance(owner, Instance):
        found = owner.attributes.get(name)
        if found is not None and found.bound:
            return found
        if owner.module is not None:
            part = module_cell(owner.module, name)
            if part is not None:
                return part
        return class_member(owner.cls, name)
    if isinstance(owner, Module):
        return module_cell(owner, name)
    if isinstance(owner, Class):
        return class_member(owner, name)
    if isinstance(owner, Namespace):
        return owner.cells.get(name)
    return None


def _of_super(m: Machine, owner: Super, name: str, node: ast.Attribute) -> Value:
    for base in owner.owner.bases:
        member = class_member(base, name)
        if member is not None:
            return bind_member(m, owner.instance, name, member, node)
    return Bound(owner, name, receiver=node.value)


HANDLERS: dict[type[Value], Callable[[Machine, Any, str, ast.Attribute], Value]] = {
    Super: _of_super,
    Tensor: _of_tensor,
    Unknown: _of_unknown,
    Module: _of_module,
    Instance: _of_instance,
    Class: _of_class,
    Extern: _of_extern,
    Namespace: _of_namespace,
    ListValue: _of_list,
    Function: _of_function,
    Optimizer: _of_optimizer,
}
