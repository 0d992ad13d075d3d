"""Data types as far as the source tells them: what a conversion or a creation names, and what arithmetic keeps."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from inplace_fix.analysis.conditions import Condition
from inplace_fix.analysis.values import Const, Extern, ListValue, Tensor, Value
from inplace_fix.catalog.model import Op, Result

# the dtype whose name a conversion method bears
CONVERSIONS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
FLOATING = "float"  # the default floating type, or whatever the model's is


def named(value: Value) -> str | None:
    """The dtype that a value names (``torch.bfloat16``), None for anything else."""
    if isinstance(value, Extern) and value.name.startswith("torch."):
        name = value.name.split(".", 1)[1]
        name = ALIASES.get(name, name)
        return name if name.rstrip("0123456789") in ("float", "bfloat", "int", "uint", "complex", "bool") else None
    return None


def converts(op: Op) -> bool:
    """Whether a method converts to the dtype whose name it bears."""
    return op.name.rsplit(".", 1)[-1] in CONVERSIONS


def of_result(
    op: Op,
    bound: Mapping[str, tuple[Value, ast.expr | None]],
    operands: dict[str, list[tuple[Condition, Tensor]]],
    tensor: Tensor,
) -> None:
    """Set the dtype (and whether it is 0-dim) of a result from the call's arguments."""
    short = op.name.rsplit(".", 1)[-1]
    asked = [named(value) for value, _ in bound.values()]
    given = next((name for name in asked if name), None)
    if given:
        tensor.dtype = given
    elif op.name.startswith("torch.Tensor.") and short in CONVERSIONS:
        tensor.dtype = CONVERSIONS[short]
    elif op.result is Result.FRESH and op.differentiable:
        kinds = {t.dtype for found in operands.values() for _, t in found}
        tensor.dtype = kinds.pop() if len(kinds) == 1 else None
    elif op.result is Result.FRESH and not operands:
        tensor.dtype = _created(bound)
        size = bound.get("size")
        if size is not None and isinstance(size[0], ListValue) and not size[0].cells and size[0].exact:
            tensor.scalar = True
    elif op.result is Result.FRESH:
        kinds = {t.dtype for found in operands.values() for _, t in found}
        tensor.dtype = kinds.pop() if len(kinds) == 1 and op.name.endswith("_like") else None


def _created(bound: Mapping[str, tuple[Value, ast.expr | None]]) -> str | None:
    for key in ("data", "fill_value", "end"):
        if key in bound:
            value = _element(bound[key][0])
            if isinstance(value, Const) and isinstance(value.value, bool):
                return "bool"
            if isinstance(value, Const) and isinstance(value.value, int):
                return "int64"
            return FLOATING if isinstance(value, Const) and isinstance(value.value, float) else None
    return FLOATING


def _element(value: Value) -> Value:
    """The first number in nested lists."""
    while isinstance(value, ListValue) and value.cells:
        value = value.cells[0].latest() or ListValue([])
    return value


def may_differ(receiver: Tensor, operands: tuple[Tensor, ...]) -> bool:
    """Whether an operand's dtype could change the result's.

    Where the source names no dtype on either side, both are taken to be the one type that a model works in.
    """
    return any(_differ(receiver.dtype, operand.dtype) for operand in operands if operand.scalar is not True)


def _differ(receiver: str | None, operand: str | None) -> bool:
    if receiver == operand or {receiver, operand} <= {FLOATING, "float32"}:
        return False
    if receiver in (None, FLOATING) and operand in (None, FLOATING, "bool", "int64", "int32", "uint8"):
        return False
    return not (receiver == "float32" and operand in ("bool", "int64", "int32", "uint8"))
