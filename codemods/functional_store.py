"""Rewrites ``x[i] = v`` or ``x[i] += v`` to ``x = torch.where(i, v, x)`` and the like: a store becomes a new tensor."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import libcst as cst

from codemods.binding import assignment
from codemods.command import StepCommand
from codemods.out_of_place_assign import combined
from codemods.places import Trail
from codemods.plan import Plan, Slot
from codemods.steps import CannotRewrite, FunctionalStore, Span
from codemods.syntax import alone, direct, parse_targets, pure, walk
from codemods.templates import fill, placeholders

STEP = FunctionalStore
WHAT = "subscript store"


def is_store(node: cst.CSTNode) -> bool:
    """Whether the node is an assignment to a subscript."""
    if isinstance(node, cst.AugAssign):
        return isinstance(node.target, cst.Subscript)
    return isinstance(node, cst.Assign) and any(isinstance(one.target, cst.Subscript) for one in node.targets)


ACCEPTS = is_store


def plan_step(plan: Plan, trail: Trail, step: FunctionalStore) -> None:
    """Plan the rewrite of one store."""
    statement = trail[-1]
    assert isinstance(statement, cst.Assign | cst.AugAssign)
    if isinstance(statement, cst.Assign) and len(statement.targets) > 1:
        raise CannotRewrite(step.span, "the statement assigns to several targets; write them one by one first")
    try:
        target, order = parse_targets(step.target), placeholders(step.template)
    except ValueError as error:
        raise CannotRewrite(step.span, str(error)) from error
    subscript = _subscript(statement)
    if not pure(subscript) or not pure(target):
        raise CannotRewrite(step.span, "the tensor or the index has effects and would be evaluated at another time")
    if isinstance(target, cst.Name):
        plan.rebind(trail, step.span, target.value, step.declare)
    # The value comes first in a store. Where it has effects they must not come after what they could change.
    slot = plan.insert_before(trail, step.span) if _must_be_kept(statement, subscript, order) else None

    def change(updated: cst.Assign | cst.AugAssign) -> cst.Assign:
        return _rewritten(plan, step, updated, slot)

    plan.change(trail, change)


def _subscript(statement: cst.Assign | cst.AugAssign) -> cst.Subscript:
    target = statement.target if isinstance(statement, cst.AugAssign) else statement.targets[0].target
    assert isinstance(target, cst.Subscript)
    return target


def _must_be_kept(statement: cst.Assign | cst.AugAssign, subscript: cst.Subscript, order: Sequence[str]) -> bool:
    if pure(statement.value):
        return False
    if order.count("value") != 1:
        return True
    if isinstance(statement, cst.AugAssign):
        return False
    if order[0] == "value":
        return False
    names_only = direct(subscript.value) and not any(isinstance(node, cst.Attribute) for node in walk(subscript))
    rebinds = any(isinstance(node, cst.NamedExpr | cst.Yield | cst.Await) for node in walk(statement.value))
    return rebinds or not names_only


def _rewritten(
    plan: Plan, step: FunctionalStore, statement: cst.Assign | cst.AugAssign, slot: Slot | None
) -> cst.Assign:
    subscript = _subscript(statement)
    value: cst.BaseExpression = statement.value
    if isinstance(statement, cst.AugAssign):
        _, value = combined(plan, statement, subscript, statement.value)
    if slot is not None:
        name = plan.fresh_name("value")
        slot.statements.append(assignment(plan, name, value))
        value = cst.Name(name)
    parts = {"x": subscript.value, "index": _index(subscript), "value": value}
    try:
        new = fill(step.template, parts)
    except (ValueError, KeyError) as error:
        raise CannotRewrite(step.span, str(error)) from error
    sign = statement.targets[0] if isinstance(statement, cst.Assign) else cst.AssignTarget(cst.Name("_"))
    target = sign.with_changes(target=parse_targets(step.target))
    return cst.Assign([target], alone(new, plan.tree.code(new)), semicolon=statement.semicolon)


def _index(subscript: cst.Subscript) -> cst.BaseExpression:
    """The index as an expression: a tuple where several are written, a ``slice(...)`` where one has a colon."""
    parts = [_one_index(element.slice) for element in subscript.slice]
    if len(parts) == 1 and isinstance(subscript.slice[0].comma, cst.MaybeSentinel):
        return parts[0]
    elements = [cst.Element(part) for part in parts]
    return cst.Tuple(elements, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _one_index(part: cst.BaseSlice) -> cst.BaseExpression:
    if isinstance(part, cst.Index):
        return cst.StarredElement(part.value) if part.star else part.value
    assert isinstance(part, cst.Slice)
    bounds = [part.lower, part.upper, part.step]
    while bounds and bounds[-1] is None:
        bounds.pop()
    if not bounds:
        bounds = [None]
    if bounds[0] is not None and len(bounds) == 1:
        bounds.append(None)
    if len(bounds) == 2 and bounds[0] is None and bounds[1] is not None:
        bounds = [bounds[1]]
    args = [cst.Arg(cst.Name("None") if bound is None else bound) for bound in bounds]
    return cst.Call(cst.Name("slice"), args)


class FunctionalStoreCommand(StepCommand):
    """``functional_store.FunctionalStoreCommand``"""

    DESCRIPTION = "Turn the subscript store at a position into an out-of-place expression."
    accepts = staticmethod(is_store)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position, template and target."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--template", required=True, help="for example 'torch.where({index}, {value}, {x})'")
        arg_parser.add_argument("--target", required=True, help="what to bind to the new tensor")

    def step(self, span: Span) -> FunctionalStore:
        """The step that the command line asks for."""
        return FunctionalStore(span, self.text("template"), self.text("target"))
