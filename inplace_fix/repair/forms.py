"""The steps for one write: which code form it takes, with the names and templates that form needs."""

from __future__ import annotations

import ast
from pathlib import Path

from codemods.steps import (
    CloneBefore,
    DropFlag,
    NoGrad,
    OutArgument,
    OutOfPlaceAssign,
    OutOfPlaceCall,
    ReplaceExpression,
    ScalarFirst,
    Step,
)
from inplace_fix.analysis.dtypes import may_differ
from inplace_fix.analysis.facts import Form, Site, Write
from inplace_fix.analysis.units import Unit
from inplace_fix.repair.aliases import Others, in_loop, rebindable

METHODS = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.Div: "div_",
    ast.FloorDiv: "floor_divide_",
    ast.Mod: "remainder_",
    ast.Pow: "pow_",
    ast.BitAnd: "bitwise_and_",
    ast.BitOr: "bitwise_or_",
    ast.BitXor: "bitwise_xor_",
    ast.LShift: "bitwise_left_shift_",
    ast.RShift: "bitwise_right_shift_",
}


def words(around: Others) -> str:
    """Who else reads, in words."""
    places = sorted({(read.cell.label, read.site.line) for read in around.reads})[:3]
    if not places:
        return "other holders of the memory"
    return " and ".join(f"`{label}` on line {line}" for label, line in places)


def target_text(write: Write) -> str | None:
    """The receiver's own text, where it can be bound."""
    receiver = write.receiver
    if isinstance(receiver, ast.Attribute) and receiver.attr == "data":
        receiver = receiver.value
    return write.site.unit.segment(receiver) if isinstance(receiver, (ast.Name, ast.Attribute, ast.Subscript)) else None


def out_of_place(write: Write, saving: set[ast.AST]) -> tuple[Step, ...] | None:
    """Steps that send a write to a new tensor; None where no form is right.

    ``saving`` are the expressions that saved the value: a clone made before a statement that itself saves helps nobody.
    """
    op, unit, node = write.op, write.site.unit, write.site.node
    if op is None:
        return None
    cast = op.can_change_dtype and may_differ(write.tensor, write.operands)
    if write.form is Form.AUGMENTED and isinstance(node, ast.AugAssign):
        return (OutOfPlaceAssign(unit.span(node), cast=cast),)
    if write.form in (Form.STORE, Form.AUGMENTED_STORE):
        return clone_before(write, saving)
    if write.form in (Form.METHOD, Form.FUNCTION) and isinstance(node, ast.Call) and op.out_of_place:
        return method_call(write, node, op.out_of_place, cast, op.scalar_first)
    return None


def method_call(write: Write, node: ast.Call, template: str, cast: bool, scalar_first: str) -> tuple[Step, ...] | None:
    """``x.add_(y)`` or ``torch.add_(x, y)`` out of place."""
    unit = write.site.unit
    target = None
    if write.receiver is not None:
        if not rebindable(write):
            return None
        target = target_text(write)
        if target is None:
            return None
    method = write.form is Form.METHOD
    steps: list[Step] = []
    operands = node.args if method else node.args[1:]
    if scalar_first and len(operands) >= 2 and len(operands) > 1 and write.scalar_given_first:
        steps.append(ScalarFirst(unit.span(node), keyword=scalar_first, position=0 if method else 1))
    steps.append(OutOfPlaceCall(unit.span(node), template, target, cast=cast, receiver=None if method else 0))
    return tuple(steps)


def clone_before(write: Write, saving: set[ast.AST]) -> tuple[Step, ...] | None:
    """``x = x.clone()`` before an item assignment, unless that would copy a whole buffer in every round of a loop."""
    statement = write.statement
    if statement is None or in_loop(write) or any(inside(node, statement) for node in saving):
        return None
    target = base_name(write)
    if target is None:
        return None
    return (CloneBefore(write.site.unit.span(statement), target),)


def base_name(write: Write) -> str | None:
    """The name, or attribute, that holds the tensor an item assignment writes into."""
    receiver = write.receiver
    if isinstance(receiver, (ast.Name, ast.Attribute)) and rebindable(write):
        return write.site.unit.segment(receiver)
    return None


def inside(node: ast.AST, statement: ast.stmt) -> bool:
    """Whether a node is part of a statement."""
    return any(part is node for part in ast.walk(statement))


def drop_flag(write: Write, site: Site) -> Step | None:
    """Turn off the flag that is written in the call at ``site``; None where it is not written there."""
    call, op, unit = site.node, write.op, site.unit
    if not isinstance(call, ast.Call) or op is None:
        return None
    keyword = op.flag or "inplace"
    if any(k.arg == keyword for k in call.keywords):
        position = None
    else:
        position = write.flag_position
        if position is None or position >= len(call.args):
            return None
    target = None
    if write.form is Form.FLAG and isinstance(unit.parent(call), ast.Expr):
        if write.receiver is None or not rebindable(write):
            return None
        target = target_text(write)
    return DropFlag(unit.span(call), keyword=keyword, position=position, target=target)


def no_grad(write: Write) -> Step | None:
    """The statement under ``no_grad``; its target must be a statement of its own."""
    statement, unit = write.statement, write.site.unit
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
        return None
    return NoGrad(unit.span(statement), torch=torch_name(unit))


def torch_name(unit: Unit) -> str:
    """The name by which a file knows torch, "" where it does not import it."""
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch":
                    return alias.asname or "torch"
                if alias.name.startswith("torch.") and alias.asname is None:
                    return "torch"
    return ""


def out_argument(write: Write, around: Others) -> tuple[tuple[Path, Step], ...] | None:
    """Steps for a call with ``out=``."""
    node, unit = write.site.node, write.site.unit
    if not isinstance(node, ast.Call):
        return None
    out = next((k.value for k in node.keywords if k.arg == "out"), None)
    if out is None:
        return None
    used = not isinstance(unit.parent(node), ast.Expr)
    cast = may_differ(write.tensor, write.operands)
    seen = around.reads or write.tensor.view or around.outside
    name = unit.segment(out) if isinstance(out, (ast.Name, ast.Attribute)) else None
    if used and not isinstance(out, (ast.Name, ast.Tuple)):
        step = OutArgument(unit.span(node), None, cast=False)
    elif seen and name is not None and not used:
        step = OutArgument(unit.span(node), name, copy=True)
    elif isinstance(out, ast.Tuple) or name is not None:
        text = name or unit.segment(out).strip("()")
        if used and not read_later(write):
            step = OutArgument(unit.span(node), None)
        else:
            step = OutArgument(unit.span(node), text, cast=cast)
    else:
        return None
    return ((unit.path, step),)


def read_later(write: Write) -> bool:
    """Whether the buffer is read after the call."""
    return any(read.tick > write.tick for read in write.storage.reads)


def detach(site: Site) -> Step | None:
    """``x.detach_()`` as a statement becomes ``x = x.detach()``."""
    node = site.node
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, (ast.Name, ast.Attribute))
    ):
        return OutOfPlaceCall(site.unit.span(node), "{x}.detach({args})", site.unit.segment(node.func.value))
    return None


def method_for_operator(site: Site) -> Step | None:
    """``x.T += v`` as a call of the in-place method."""
    node = site.node
    if not isinstance(node, ast.AugAssign) or type(node.op) not in METHODS:
        return None
    unit = site.unit
    text = f"{unit.segment(node.target)}.{METHODS[type(node.op)]}({unit.segment(node.value)})"
    return ReplaceExpression(unit.span(node), text)


def single_views(write: Write) -> tuple[Path, Step] | None:
    """Iterating over a tensor becomes iterating over its rows taken one by one."""
    made = write.tensor.made
    if made is None or not isinstance(made.node, (ast.For, ast.comprehension, ast.expr)):
        return None
    outer = made.node if isinstance(made.node, ast.expr) else made.node.iter
    named = [read.site.node for read in write.storage.reads if read.tick <= write.tick]
    base = next((node for node in reversed(named) if any(part is node for part in ast.walk(outer))), None)
    if base is None or isinstance(made.unit.parent(base), ast.Attribute):
        return None  # the views come from a method such as chunk, which a list of rows does not have
    text = made.unit.segment(base)
    return made.unit.path, ReplaceExpression(made.unit.span(base), f"[{text}[i] for i in range(len({text}))]")
