"""Puts ``x = x.clone()`` before a statement that goes on writing in place."""

from __future__ import annotations

import argparse

import libcst as cst

from codemods.command import StepCommand
from codemods.places import Trail, is_statement
from codemods.plan import Plan
from codemods.steps import CannotRewrite, CloneBefore, Span
from codemods.syntax import call_method, parse_targets, pure

STEP = CloneBefore
ACCEPTS = is_statement
WHAT = "statement"


def plan_step(plan: Plan, trail: Trail, step: CloneBefore) -> None:
    """Plan the insertion of one clone."""
    try:
        target = parse_targets(step.target)
    except ValueError as error:
        raise CannotRewrite(step.span, str(error)) from error
    if not pure(target) or isinstance(target, cst.Tuple | cst.List):
        raise CannotRewrite(step.span, f"{step.target} would be evaluated twice")
    if isinstance(target, cst.Name):
        plan.rebind(trail, step.span, target.value, step.declare)
    clone = cst.Assign([cst.AssignTarget(target)], call_method(target.deep_clone(), "clone"))
    plan.insert_before(trail, step.span, first=True).statements.append(clone)


class CloneBeforeCommand(StepCommand):
    """``clone_before.CloneBeforeCommand``"""

    DESCRIPTION = "Clone a tensor before the statement at a position."
    accepts = staticmethod(is_statement)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position and target."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--target", required=True, help="what to clone, for example x or self.h")
        arg_parser.add_argument("--declare", choices=("nonlocal", "global"), default="", help="declare the target so")

    def step(self, span: Span) -> CloneBefore:
        """The step that the command line asks for."""
        return CloneBefore(span, self.text("target"), self.text("declare"))
