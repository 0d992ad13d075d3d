"""``torch.func`` transforms: the function runs with wrapped arguments, and what it captured must not be written."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from inplace_fix.analysis import autograd, iteration
from inplace_fix.analysis.conditions import Cell
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import nodes_of, promote, tensors_of
from inplace_fix.analysis.values import (
    Choice,
    DictValue,
    ListValue,
    Native,
    Tensor,
    Tri,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments

Handler = Callable[[Machine, "Arguments", ast.AST], Value]


def wrap(m: Machine, value: Value, role: str, requires: Tri) -> Value:
    """An argument as the transformed function sees it."""
    if isinstance(value, Unknown):
        if value.number:
            return value
        return wrap(m, promote(m, value, sure=True), role, requires)
    if isinstance(value, Tensor):
        return replace(value, role=role, requires=max(value.requires, requires), leaf=False, node=None, view="")
    if isinstance(value, Choice):
        return Choice(tuple((guard, wrap(m, part, role, requires)) for guard, part in value.options))
    if isinstance(value, ListValue):
        return ListValue(
            [iteration.slot(m, wrap(m, c.latest() or Unknown(), role, requires)) for c in value.cells],
            value.kind,
            value.exact,
        )
    if isinstance(value, DictValue):
        result = DictValue()
        for key, cell in value.cells.items():
            result.cells[key] = Cell(cell.kind, cell.label)
            result.cells[key].write({}, wrap(m, cell.latest() or Unknown(), role, requires), m.now())
        if value.rest.bound:
            result.rest.write({}, wrap(m, value.rest.latest() or Unknown(), role, requires), m.now())
        return result
    return value


def transform(kind: str, *, immediate: bool = False, pair: bool = False) -> Handler:
    """A transform that gives a function (``grad(f)``), or runs at once (``vjp(f, x)``)."""

    def make(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
        from inplace_fix.analysis.calls import Arguments as Args

        function = arguments.get(0, "func") or Unknown()

        def run(m: Machine, inner: Args, node: ast.AST) -> Value:
            result = enter(m, function, inner, kind, node)
            gradients = (
                wrap(m, inner.positional[0][0], "", Tri.NO) if inner.positional and kind == "grad" else m.fresh(node)
            )
            first = fresh_like(m, gradients, node)
            if kind == "vmap":
                return result
            if pair:
                return ListValue([iteration.slot(m, first), iteration.slot(m, fresh_like(m, result, node))], "tuple")
            return first

        if immediate:
            rest = Args(arguments.positional[1:], arguments.keywords)
            outcome = run(m, rest, node)
            return (
                outcome
                if pair
                else ListValue([iteration.slot(m, m.fresh(node)), iteration.slot(m, Unknown())], "tuple")
            )
        return Native(kind, run)

    return make


def fresh_like(m: Machine, value: Value, node: ast.AST) -> Value:
    """New tensors in the shape of a value's containers."""
    if isinstance(value, DictValue):
        result = DictValue()
        for key, cell in value.cells.items():
            result.cells[key] = Cell(cell.kind, cell.label)
            result.cells[key].write({}, m.fresh(node), m.now())
        return result
    return m.fresh(node)


def enter(m: Machine, function: Value, arguments: Arguments, kind: str, node: ast.AST) -> Value:
    """Run the function one level deeper, then the backward that the transform takes."""
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call

    role = "batched" if kind == "vmap" else "dual" if kind == "jvp" else "transformed"
    requires = Tri.YES if kind == "grad" else Tri.NO
    positional = [
        (wrap(m, value, role, requires if i == 0 or kind != "grad" else Tri.NO), n)
        for i, (value, n) in enumerate(arguments.positional)
    ]
    keywords = {name: (wrap(m, value, role, Tri.NO), n) for name, (value, n) in arguments.keywords.items()}
    m.level += 1
    try:
        with m.grad_mode(True if kind == "grad" else m.grad, m.inference):
            result = call(m, function, Args(positional, keywords, arguments.open), node)
            if kind == "grad":
                nodes = [n for _, t in tensors_of(m, result) for n in nodes_of(t)]
                autograd.backward(m, nodes, m.site(node))
        return result
    finally:
        m.level -= 1


def functional_call(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """``functional_call(module, params, args)``: the module's forward, its own tensors in place of those given."""
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call

    module, inner = arguments.get(0, "module") or Unknown(), arguments.get(2, "args")
    positional = [(cell.latest() or Unknown(), None) for cell in inner.cells] if isinstance(inner, ListValue) else []
    if inner is not None and not isinstance(inner, ListValue):
        positional = [(inner, None)]
    return call(m, module, Args(list(positional)), node)


_GRAD = transform("grad")

TRANSFORMS: dict[str, Handler] = {
    "torch.func.grad": _GRAD,
    "torch.func.grad_and_value": transform("grad", pair=True),
    "torch.func.jacrev": _GRAD,
    "torch.func.hessian": _GRAD,
    "torch.func.jacfwd": transform("jvp"),
    "torch.func.vmap": transform("vmap"),
    "torch.vmap": transform("vmap"),
    "torch.func.vjp": transform("grad", immediate=True),
    "torch.func.jvp": transform("jvp", immediate=True, pair=True),
    "torch.func.functional_call": functional_call,
    "torch.nn.utils.stateless.functional_call": functional_call,
    "torch.autograd.functional.jacobian": transform("grad", immediate=True),
    "torch.autograd.functional.hessian": transform("grad", immediate=True),
}
