"""Optimizers: the parameters one is made with, and the writes of its step."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from inplace_fix.analysis import module_methods
from inplace_fix.analysis.conditions import ALWAYS
from inplace_fix.analysis.facts import Form
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import Call, requires_of, tensors_of
from inplace_fix.analysis.values import NONE, Const, Optimizer, Tri, Unknown, Value
from inplace_fix.catalog.model import Op

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments


def fill(m: Machine, optimizer: Optimizer, arguments: Arguments) -> None:
    """The parameters an optimizer is made with."""
    params = arguments.get(0, "params")
    if params is not None:
        optimizer.params = list({id(t): t for _, t in tensors_of(m, params)}.values())
        for tensor in optimizer.params:
            tensor.stepped = True
    fused = arguments.keywords.get("fused")
    optimizer.fused = fused is not None and isinstance(fused[0], Const) and fused[0].value is True


def call_method(m: Machine, owner: Optimizer, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """``step``, ``zero_grad`` and the like."""
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call as call_value
    from inplace_fix.analysis.writes import perform

    if name == "__init__":
        fill(m, owner, arguments)
    elif name == "step":
        closure = arguments.get(0, "closure")
        result: Value = NONE
        op = Op(owner.name + ".step", ("self",), writes=("self",), silent=owner.fused)
        rounds = 1 if closure is None or isinstance(closure, Const) else 2
        for _ in range(rounds):
            if rounds == 2 and closure is not None:
                with m.grad_mode(True):
                    result = call_value(m, closure, Args(), node)
            with m.grad_mode(False):
                for tensor in owner.params:
                    if requires_of(tensor) is not Tri.NO:
                        perform(m, Call(op, {}, node, Form.OPTIMIZER), ALWAYS, tensor, None, (), None, Tri.YES)
        return result
    elif name == "zero_grad":
        module_methods.zero_gradients(m, owner.params, arguments.get(0, "set_to_none"), node)
    elif name == "add_param_group":
        for value in arguments.values():
            owner.params += [t for _, t in tensors_of(m, value) if all(t is not p for p in owner.params)]
    return NONE if name != "state_dict" else Unknown()
