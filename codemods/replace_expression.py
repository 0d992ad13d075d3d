"""Replaces an expression by another one given as text, for repairs that fit no other form."""

from __future__ import annotations

import argparse

import libcst as cst

from codemods.binding import guarded
from codemods.clone_expression import written
from codemods.command import StepCommand
from codemods.places import Trail, is_expression
from codemods.plan import Plan
from codemods.steps import CannotRewrite, ReplaceExpression, Span
from codemods.syntax import fitted, parse

STEP = ReplaceExpression
ACCEPTS = is_expression
WHAT = "expression"


def plan_step(plan: Plan, trail: Trail, step: ReplaceExpression) -> None:
    """Plan the replacement of one expression."""
    node, parent = trail[-1], trail[-2]
    reason = written(node, parent)
    if reason:
        raise CannotRewrite(step.span, reason)
    try:
        new = parse(step.text)
    except ValueError as error:
        raise CannotRewrite(step.span, str(error)) from error

    def change(updated: cst.BaseExpression) -> cst.CSTNode:
        kept = new.with_changes(lpar=[*updated.lpar, *new.lpar], rpar=[*new.rpar, *updated.rpar])
        return guarded(plan, trail, step.span, fitted(kept, parent, node))

    plan.change(trail, change)


class ReplaceExpressionCommand(StepCommand):
    """``replace_expression.ReplaceExpressionCommand``"""

    DESCRIPTION = "Replace the expression at a position by another."
    accepts = staticmethod(is_expression)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position and replacement."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--text", required=True, help="the new expression")

    def step(self, span: Span) -> ReplaceExpression:
        """The step that the command line asks for."""
        return ReplaceExpression(span, self.text("text"))
