"""Puts statements under ``with torch.no_grad():``; neighbours share one block."""

from __future__ import annotations

import argparse

import libcst as cst

from codemods.command import StepCommand
from codemods.places import Trail, is_statement
from codemods.plan import Plan, is_elif
from codemods.steps import CannotRewrite, NoGrad, Span
from codemods.torch_name import known_torch

STEP = NoGrad
ACCEPTS = is_statement
WHAT = "statement"


def plan_step(plan: Plan, trail: Trail, step: NoGrad) -> None:
    """Plan the block around one statement."""
    if is_elif(trail, len(trail) - 1):
        raise CannotRewrite(step.span, "an elif cannot be put into a block of its own")
    if any(isinstance(other, NoGrad) for node in trail[:-1] for other in plan.steps_at(node)):
        return
    if _suspends(trail[-1]):
        # The mode belongs to the thread: whoever runs in between would run without gradients.
        raise CannotRewrite(
            step.span, "the statement yields or awaits, and no_grad would leak to whoever runs meanwhile"
        )
    plan.wrap(trail, known_torch(plan, step.torch, step.span))


def _suspends(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.FunctionDef | cst.Lambda):
        return False
    if isinstance(node, cst.Yield | cst.Await):
        return True
    if isinstance(node, cst.For | cst.With | cst.CompFor) and node.asynchronous is not None:
        return True
    return any(_suspends(child) for child in node.children)


class NoGradCommand(StepCommand):
    """``no_grad.NoGradCommand``"""

    DESCRIPTION = "Put the statement at a position under torch.no_grad()."
    accepts = staticmethod(is_statement)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position and the name of torch."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--torch", default="torch", help="torch's name in the file; '' to have it imported")

    def step(self, span: Span) -> NoGrad:
        """The step that the command line asks for."""
        return NoGrad(span, self.text("torch"))
