"""Appends ``.clone()`` to an expression, so that what is saved or kept is no alias of what is written later."""

from __future__ import annotations

import libcst as cst

from codemods.binding import guarded
from codemods.command import StepCommand
from codemods.places import Trail, is_expression
from codemods.plan import Plan
from codemods.steps import CannotRewrite, CloneExpression, Span
from codemods.syntax import call_method

STEP = CloneExpression
ACCEPTS = is_expression
WHAT = "expression"


def plan_step(plan: Plan, trail: Trail, step: CloneExpression) -> None:
    """Plan the clone of one expression."""
    node, parent = trail[-1], trail[-2]
    reason = written(node, parent)
    if reason:
        raise CannotRewrite(step.span, reason)

    def change(updated: cst.BaseExpression) -> cst.CSTNode:
        return guarded(plan, trail, step.span, call_method(updated, "clone"))

    plan.change(trail, change)


def written(node: cst.CSTNode, parent: cst.CSTNode) -> str:
    """Why an expression is none whose value is used (a target, a keyword, an attribute's name), "" where it is one."""
    stores = (
        (cst.AssignTarget, "target"),
        (cst.AnnAssign, "target"),
        (cst.AugAssign, "target"),
        (cst.For, "target"),
        (cst.CompFor, "target"),
        (cst.NamedExpr, "target"),
        (cst.Del, "target"),
        (cst.AsName, "name"),
        (cst.Param, "name"),
        (cst.FunctionDef, "name"),
        (cst.ClassDef, "name"),
        (cst.Attribute, "attr"),
        (cst.Arg, "keyword"),
    )
    for kind, field in stores:
        if isinstance(parent, kind) and getattr(parent, field) is node:
            return "this is no value but the name of what is written or called"
    if isinstance(parent, cst.NameItem | cst.ImportAlias | cst.ImportFrom):
        return "this is no value but the name of what is declared"
    return ""


class CloneExpressionCommand(StepCommand):
    """``clone_expression.CloneExpressionCommand``"""

    DESCRIPTION = "Clone the expression at a position."
    accepts = staticmethod(is_expression)
    what = WHAT

    def step(self, span: Span) -> CloneExpression:
        """The step that the command line asks for."""
        return CloneExpression(span)
