"""Rewrites the deprecated scalar-first call ``x.add_(2, y)`` to ``x.add_(y, alpha=2)``."""

from __future__ import annotations

import argparse

import libcst as cst

from codemods.command import StepCommand
from codemods.places import Trail, is_call
from codemods.plan import Plan
from codemods.steps import CannotRewrite, ScalarFirst, Span
from codemods.syntax import pure

STEP = ScalarFirst
ACCEPTS = is_call
WHAT = "call"


def plan_step(plan: Plan, trail: Trail, step: ScalarFirst) -> None:
    """Plan the rewrite of one call."""
    call = trail[-1]
    assert isinstance(call, cst.Call)
    args = call.args
    if len(args) <= step.position + 1 or any(arg.star for arg in args):
        raise CannotRewrite(step.span, "the call has no scalar in front of its tensor arguments")
    scalar = args[step.position]
    others = [arg for arg in args[step.position + 1 :] if arg.keyword is None]
    if scalar.keyword is not None or not others:
        raise CannotRewrite(step.span, "the scalar is not a positional argument in front of others")
    if any(arg.keyword is not None and arg.keyword.value == step.keyword for arg in args):
        raise CannotRewrite(step.span, f"the call has {step.keyword}= already")
    if not pure(scalar.value) and not all(pure(arg.value) for arg in others):
        raise CannotRewrite(step.span, "scalar and tensor both have effects and would change places")

    def change(updated: cst.Call) -> cst.CSTNode:
        return updated.with_changes(args=moved(list(updated.args), step.position, step.keyword))

    plan.change(trail, change)


def moved(args: list[cst.Arg], position: int, keyword: str) -> list[cst.Arg]:
    """The arguments with the one at ``position`` as a keyword behind the positional ones; gaps keep their layout."""
    last = max(index for index, arg in enumerate(args) if arg.keyword is None)
    order = [*range(position), *range(position + 1, last + 1), position, *range(last + 1, len(args))]
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    out = []
    for place, source in zip(args, order, strict=True):
        arg = args[source]
        if source == position:
            arg = arg.with_changes(keyword=cst.Name(keyword), equal=equal)
        out.append(arg.with_changes(comma=place.comma, whitespace_after_arg=place.whitespace_after_arg))
    return out


class ScalarFirstCommand(StepCommand):
    """``scalar_first.ScalarFirstCommand``"""

    DESCRIPTION = "Move the leading scalar of a deprecated call into a keyword."
    accepts = staticmethod(is_call)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position, keyword and which argument is the scalar."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--keyword", default="alpha", help="the scalar's keyword")
        arg_parser.add_argument("--position", type=int, default=0, help="the scalar's position, counted from 0")

    def step(self, span: Span) -> ScalarFirst:
        """The step that the command line asks for."""
        return ScalarFirst(span, self.text("keyword"), int(self.text("position") or 0))
