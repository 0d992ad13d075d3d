"""Rewrites ``x += y`` to ``x = x + y``: an augmented assignment becomes a plain one, for every operator there is."""

from __future__ import annotations

import argparse

import libcst as cst

from codemods.command import StepCommand
from codemods.places import Trail
from codemods.plan import Plan
from codemods.steps import OutOfPlaceAssign, Span
from codemods.syntax import alone, binary, call_method, parenthesized, pure
from codemods.temporaries import settled

STEP = OutOfPlaceAssign
WHAT = "augmented assignment"

OPERATORS: dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.MatrixMultiplyAssign: cst.MatrixMultiply,
    cst.DivideAssign: cst.Divide,
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.PowerAssign: cst.Power,
    cst.BitAndAssign: cst.BitAnd,
    cst.BitOrAssign: cst.BitOr,
    cst.BitXorAssign: cst.BitXor,
    cst.LeftShiftAssign: cst.LeftShift,
    cst.RightShiftAssign: cst.RightShift,
}


def is_augmented(node: cst.CSTNode) -> bool:
    """Whether the node is an augmented assignment."""
    return isinstance(node, cst.AugAssign)


ACCEPTS = is_augmented


def plan_step(plan: Plan, trail: Trail, step: OutOfPlaceAssign) -> None:
    """Plan the rewrite of one augmented assignment."""
    statement = trail[-1]
    assert isinstance(statement, cst.AugAssign)
    if isinstance(statement.target, cst.Name) and step.declare:
        plan.declare(trail, step.declare, statement.target.value)
    slot = None if pure(statement.target) else plan.insert_before(trail, step.span)

    def change(updated: cst.AugAssign) -> cst.Assign:
        target: cst.BaseExpression = updated.target
        if slot is not None:
            slot.statements, target = settled(plan, updated.target)
        value: cst.BaseExpression
        equal, value = combined(plan, updated, target, updated.value)
        if step.cast:
            value = call_method(parenthesized(value), "to", cst.Attribute(_bare(target), cst.Name("dtype")))
        assert isinstance(target, cst.Name | cst.Attribute | cst.Subscript)
        return cst.Assign([equal.with_changes(target=target)], value, semicolon=updated.semicolon)

    plan.change(trail, change)


def combined(
    plan: Plan, statement: cst.AugAssign, target: cst.BaseExpression, value: cst.BaseExpression
) -> tuple[cst.AssignTarget, cst.BinaryOperation]:
    """The assignment sign in the statement's own spacing, and ``target operator value``."""
    sign = statement.operator
    before: cst.SimpleWhitespace = sign.whitespace_before  # type: ignore[attr-defined]
    after: cst.BaseParenthesizableWhitespace = sign.whitespace_after  # type: ignore[attr-defined]
    gap = cst.SimpleWhitespace(" " if _spaced(after) else "")
    operator = OPERATORS[type(sign)](whitespace_before=gap, whitespace_after=after)  # type: ignore[call-arg]
    equal = cst.AssignTarget(cst.Name("_"), whitespace_before_equal=before, whitespace_after_equal=gap)
    return equal, binary(_bare(target), operator, alone(value, plan.tree.code(value)))


def _spaced(whitespace: cst.BaseParenthesizableWhitespace) -> bool:
    return not isinstance(whitespace, cst.SimpleWhitespace) or whitespace.value != ""


def _bare(target: cst.BaseExpression) -> cst.BaseExpression:
    copy = target.deep_clone()
    return copy.with_changes(lpar=(), rpar=())


class OutOfPlaceAssignCommand(StepCommand):
    """``out_of_place_assign.OutOfPlaceAssignCommand``"""

    DESCRIPTION = "Turn the augmented assignment at a position into a plain one."
    accepts = staticmethod(is_augmented)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position and cast."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--cast", action="store_true", help="cast the result to the target's dtype")

    def step(self, span: Span) -> OutOfPlaceAssign:
        """The step that the command line asks for."""
        return OutOfPlaceAssign(span, self.flag("cast"))
