"""Callables from outside the analysed source: torch's functions, grad modes, optimizers, and the rest as unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from inplace_fix.analysis import (
    arrays,
    autograd,
    copying,
    custom,
    dtypes,
    modules,
    optimizers,
    pybuiltins,
    transforms,
)
from inplace_fix.analysis.conditions import ALWAYS, Cell
from inplace_fix.analysis.facts import Form, Node
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import Call, as_tensor, nodes_of, promote, tensors_of
from inplace_fix.analysis.tensors import apply, bind, overload
from inplace_fix.analysis.values import (
    NONE,
    Class,
    Const,
    Context,
    DictValue,
    Function,
    ListValue,
    Native,
    Optimizer,
    Tensor,
    Tri,
    Unknown,
    Value,
)
from inplace_fix.catalog.model import Kind, Op, Result

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments

Handler = Callable[[Machine, "Arguments", ast.AST], Value]


def call(m: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call something by its qualified name."""
    handler = HANDLERS.get(name)
    if handler is not None:
        return handler(m, arguments, node)
    if name in m.helpers:
        return helper(m, name, m.helpers[name], arguments, node)
    if name.startswith("builtins."):
        return pybuiltins.call(m, name[9:], arguments, node)
    if name.startswith("torch."):
        return torch_call(m, name, arguments, node)
    if name.startswith(("numpy.", "np.")):
        return arrays.numpy_call(m, name, arguments, node)
    if name.startswith(("collections.", "functools.", "copy.", "itertools.", "asyncio.", "dataclasses.")):
        return pybuiltins.library(m, name, arguments, node)
    if name.startswith(("math.", "random.", "time.", "os.", "operator.")):
        return Unknown(number=True)
    return unknown(m, arguments)


def helper(m: Machine, name: str, position: int, arguments: Arguments, node: ast.AST) -> Value:
    """A function of the user's own that is said to write to one of its arguments in place."""
    if position >= len(arguments.positional):
        return unknown(m, arguments)
    value, expression = arguments.positional[position]
    op = Op(name, ("self",), Result.SAME, differentiable=("self",), writes=("self",), kind=Kind.PARTIAL)
    return apply(m, Call(op, {"self": (value, expression)}, node, Form.FUNCTION, expression))


def torch_call(m: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A callable of torch: a function of the catalog, a module class, an optimizer, a transform."""
    if name.startswith("torch.optim.") and ".lr_scheduler" not in name:
        optimizer = Optimizer(name)
        optimizers.fill(m, optimizer, arguments)
        return optimizer
    if name in modules.CONTAINERS or m.catalog.module(name) is not None:
        return modules.build(m, name, arguments, node)
    transform = transforms.TRANSFORMS.get(name)
    if transform is not None:
        return transform(m, arguments, node)
    if name.startswith("torch.Tensor.") and arguments.positional:
        from inplace_fix.analysis.calls import Arguments as Args
        from inplace_fix.analysis.calls import tensor_method
        from inplace_fix.analysis.values import Bound

        owner, receiver = arguments.positional[0]
        rest = Args(arguments.positional[1:], arguments.keywords, arguments.open)
        return tensor_method(m, owner, Bound(owner, name[13:], receiver=receiver), rest, node)
    op = m.catalog.function(name)
    if op is None:
        return unknown(m, arguments)
    form = Form.FLAG if op.flag else Form.FUNCTION
    positional = arguments.positional
    op = overload(m, op, positional, arguments.keywords)
    receiver = positional[0][1] if positional else None
    if name.startswith("torch.nn.init."):
        with m.grad_mode(False):
            return apply(m, Call(op, bind(op, positional, arguments.keywords), node, form, receiver))
    bound = bind(op, positional, arguments.keywords)
    result = apply(m, Call(op, bound, node, form, receiver, sources=list(positional)))
    if arguments.get(99, "reduction") is not None:
        reduction = arguments.keywords["reduction"][0]
        if isinstance(result, Tensor) and isinstance(reduction, Const):
            result.scalar = reduction.value != "none"
    return result


def unknown(m: Machine, arguments: Arguments) -> Value:
    """Nothing is known of the callee: its result may depend on what it is given."""
    from inplace_fix.analysis.calls import call_unknown

    return call_unknown(m, Unknown(), arguments)


# grad modes


def context(grad: bool, inference: bool = False) -> Handler:
    """``torch.no_grad()`` and its kind, as context managers and as decorators."""

    def make(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
        mode = arguments.get(0, "mode")
        result = Context(grad, inference)
        if mode is not None and isinstance(mode, Const) and mode.value is False:
            return Context(m.grad, False)
        if mode is not None and isinstance(mode, Function):
            return decorate(m, result, arguments)
        return result

    return make


def _set_grad_enabled(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0, "mode")
    grad = bool(value.value) if isinstance(value, Const) else None
    if isinstance(m.statement, ast.Expr):
        m.grad = grad
    return Context(grad)


def decorate(m: Machine, mode: Context, arguments: Arguments) -> Value:
    """``no_grad()(function)``."""
    from dataclasses import replace

    function = arguments.get(0, "func")
    if isinstance(function, Function):
        return replace(function, grad=mode.grad, inference=mode.inference)
    return function or Unknown()


# backward


def _backward(m: Machine, owner: Value, tensor: Tensor, arguments: Arguments, node: ast.AST) -> Value:
    keep = arguments.get(1, "retain_graph") or arguments.get(2, "create_graph")
    run_backward(m, owner, keep, node)
    return NONE


def run_backward(m: Machine, roots: Value, keep: Value | None, node: ast.AST) -> None:
    """A backward from all tensors in ``roots``."""
    m.trained = True
    nodes = [n for _, t in tensors_of(m, roots) for n in nodes_of(t)]
    keeps = keep is not None and not (isinstance(keep, Const) and not keep.value)
    autograd.backward(m, nodes, m.site(node), keeps)


def _autograd_backward(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    run_backward(m, arguments.get(0, "tensors") or NONE, arguments.get(2, "retain_graph"), node)
    return NONE


def _autograd_grad(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    outputs, inputs = arguments.get(0, "outputs") or NONE, arguments.get(1, "inputs") or NONE
    create = arguments.get(4, "create_graph")
    creates = create is not None and not (isinstance(create, Const) and not create.value)
    run_backward(m, outputs, Const(True) if creates else arguments.get(3, "retain_graph"), node)
    wanted = tensors_of(m, inputs)
    sources = [n for _, t in tensors_of(m, outputs) for n in nodes_of(t)]
    slots = []
    single = not isinstance(inputs, (ListValue, DictValue))
    for _ in range(1 if single else max(1, len(wanted))):
        gradient = m.fresh(node, origin="gradient")
        if creates:
            gradient.requires = Tri.YES
            gradient.node = Node("torch.autograd.grad", m.site(node), tuple(sources), Tri.YES, m.condition, m.now())
            m.live.append(gradient.node)
        slot = Cell("item", "[...]")
        slot.write(ALWAYS, gradient, m.now())
        slots.append(slot)
    return ListValue(slots, "tuple")


def _register_hook(m: Machine, owner: Value, tensor: Tensor, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call as call_value

    hook = arguments.get(0, "hook")
    if hook is not None:
        gradient = m.fresh(node, origin="gradient", label="gradient")
        gradient.role = "incoming"
        with m.grad_mode(False):
            call_value(m, hook, Args([(gradient, None)]), node)
    return Unknown("handle")


def _requires_grad_(m: Machine, owner: Value, tensor: Tensor, arguments: Arguments, node: ast.AST) -> Value:
    wanted = arguments.get(0, "requires_grad")
    for _, part in tensors_of(m, owner):
        if wanted is None or (isinstance(wanted, Const) and wanted.value):
            part.requires = Tri.YES if not m.condition or part.requires is Tri.YES else Tri.MAYBE
            part.leaf = part.node is None and part.storage.history is None
        elif isinstance(wanted, Const):
            part.requires = Tri.NO
        else:
            part.requires = Tri.MAYBE
            part.leaf = part.node is None
    return owner


def _detach_(m: Machine, owner: Value, tensor: Tensor, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis.facts import Observation
    from inplace_fix.analysis.writes import detach

    for _, part in tensors_of(m, owner):
        if part.view and part.base is not None and not part.maybe and part.storage.origin != "argument":
            m.facts.observations.append(Observation("detach-view", m.site(node)))
        detach(m, part)
    return owner


def _retain(m: Machine, owner: Value, tensor: Tensor, arguments: Arguments, node: ast.AST) -> Value:
    return owner


TENSOR_METHODS: dict[str, Callable[[Machine, Value, Tensor, Arguments, ast.AST], Value]] = {
    "backward": _backward,
    "register_hook": _register_hook,
    "requires_grad_": _requires_grad_,
    "detach_": _detach_,
    "retain_grad": _retain,
    "share_memory_": _retain,
}


# parameters


def _parameter(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    given = as_tensor(m, arguments.get(0, "data") or NONE)
    wanted = arguments.get(1, "requires_grad")
    if given is not None:
        result = Tensor(given.storage, given.maybe, dtype=given.dtype, made=m.site(node), made_tick=m.now())
        if given.storage.origin == "fresh":
            given.storage.origin = "parameter"
    else:
        result = m.fresh(node, origin="parameter")
        result.dtype = dtypes.FLOATING
    result.leaf = result.parameter = True
    result.shares_graph = True
    result.requires = Tri.YES
    if wanted is not None:
        result.requires = (Tri.YES if wanted.value else Tri.NO) if isinstance(wanted, Const) else Tri.MAYBE
    return result


def class_method(m: Machine, owner: Class, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of a class that its outer bases bring: ``Function.apply``."""
    bases = list(modules.outer_bases(owner))
    if name == "apply" and any(base.endswith(".Function") for base in bases):
        return custom.run(m, owner, arguments, node)
    return unknown(m, arguments)


def _as_tensor(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0, "data") or NONE
    if isinstance(value, Unknown) and value.tensor is None:
        promote(m, value, sure=True)
    op = m.catalog.function("torch.as_tensor")
    if op is not None and as_tensor(m, value) is not None:
        return apply(m, Call(op, bind(op, arguments.positional, arguments.keywords), node))
    return m.fresh(node)


def _make_dual(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    primal, tangent = (
        as_tensor(m, arguments.get(0, "tensor") or NONE),
        as_tensor(m, arguments.get(1, "tangent") or NONE),
    )
    if primal is None:
        return Unknown()
    maybe = (tangent.storage,) if tangent is not None else ()
    return Tensor(primal.storage, maybe, made=m.site(node), made_tick=m.now(), role="dual", dtype=primal.dtype)


def _checkpoint(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call as call_value

    function = arguments.get(0, "function")
    own = ("use_reentrant", "context_fn", "determinism_check", "debug", "preserve_rng_state", "early_stop")
    keywords = {name: value for name, value in arguments.keywords.items() if name not in own}
    return call_value(m, function or Unknown(), Args(arguments.positional[1:], keywords, arguments.open), node)


def _vector_to_parameters(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """Parameters become windows on the vector, without a copy (its documentation says otherwise)."""
    vector = as_tensor(m, arguments.get(0, "vec") or NONE)
    parameters = arguments.get(1, "parameters") or NONE
    if vector is not None:
        for _, tensor in tensors_of(m, parameters):
            tensor.storage = vector.storage
        m.shared.append((vector.storage, m.site(node), m.tick, vector))
    return NONE


def _partial(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call as call_value

    function, rest = arguments.get(0, "func") or Unknown(), arguments.positional[1:]

    def run(m: Machine, more: Args, node: ast.AST) -> Value:
        merged = Args([*rest, *more.positional], {**arguments.keywords, **more.keywords}, more.open)
        return call_value(m, function, merged, node)

    return Native("partial", run)


def _fresh(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    return m.fresh(node)


def _unknown(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    return Unknown()


HANDLERS: dict[str, Handler] = {
    "torch.no_grad": context(False),
    "torch.autograd.no_grad": context(False),
    "torch.autograd.grad_mode.no_grad": context(False),
    "torch.inference_mode": context(False, inference=True),
    "torch.autograd.inference_mode": context(False, inference=True),
    "torch.enable_grad": context(True),
    "torch.autograd.enable_grad": context(True),
    "torch.set_grad_enabled": _set_grad_enabled,
    "torch.autograd.set_grad_enabled": _set_grad_enabled,
    "torch.autograd.backward": _autograd_backward,
    "torch.autograd.grad": _autograd_grad,
    "torch.nn.Parameter": _parameter,
    "torch.nn.parameter.Parameter": _parameter,
    "torch.as_tensor": _as_tensor,
    "torch.from_numpy": arrays.from_numpy,
    "torch.autograd.forward_ad.make_dual": _make_dual,
    "torch.autograd.forward_ad.dual_level": _unknown,
    "torch.utils.checkpoint.checkpoint": _checkpoint,
    "torch.nn.utils.vector_to_parameters": _vector_to_parameters,
    "torch.nn.utils.convert_parameters.vector_to_parameters": _vector_to_parameters,
    "copy.deepcopy": copying.deepcopy,
    "copy.copy": lambda m, arguments, node: arguments.get(0, "x") or Unknown(),
    "functools.partial": _partial,
}
