"""Rewrites ``torch.add(a, b, out=c)`` to ``c = torch.add(a, b)``, or to ``c.copy_(torch.add(a, b))``."""

from __future__ import annotations

import argparse

import libcst as cst

from codemods.arguments import keyword_index, without
from codemods.binding import Binding, bind
from codemods.command import StepCommand
from codemods.places import Trail, is_call
from codemods.plan import Plan
from codemods.steps import CannotRewrite, OutArgument, Span
from codemods.syntax import call_method, parse, pure, receiver

STEP = OutArgument
ACCEPTS = is_call
WHAT = "call"


def plan_step(plan: Plan, trail: Trail, step: OutArgument) -> None:
    """Plan the rewrite of one call."""
    call = trail[-1]
    assert isinstance(call, cst.Call)
    index = keyword_index(call, "out")
    if index is None:
        raise CannotRewrite(step.span, "the call has no out= argument of its own")
    out = call.args[index].value
    if not pure(out):
        raise CannotRewrite(step.span, "the out= argument has effects and would no longer be evaluated there")
    if step.copy and (step.target is None or isinstance(out, cst.Tuple | cst.List)):
        raise CannotRewrite(step.span, "only a single tensor can be copied into")
    if step.cast and isinstance(out, cst.Tuple | cst.List):
        raise CannotRewrite(step.span, "only a single result can be cast")

    def build(updated: cst.Call) -> cst.BaseExpression:
        place = keyword_index(updated, "out")
        assert place is not None
        value: cst.BaseExpression = without(updated, place)
        if step.cast:
            kept = updated.args[place].value if step.target is None else parse(step.target)
            value = call_method(value, "to", cst.Attribute(receiver(kept.deep_clone()), cst.Name("dtype")))
        if step.copy:
            value = call_method(parse(step.target or ""), "copy_", value)
        return value

    bind(plan, trail, Binding(step.span, None if step.copy else step.target, step.declare), build)


class OutArgumentCommand(StepCommand):
    """``out_argument.OutArgumentCommand``"""

    DESCRIPTION = "Replace the out= argument of the call at a position by an assignment."
    accepts = staticmethod(is_call)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position, target and whether to copy."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--target", default=None, help="what to bind to the result; nothing if left out")
        arg_parser.add_argument("--copy", action="store_true", help="copy into the target instead of binding it")
        arg_parser.add_argument("--cast", action="store_true", help="cast the result to the target's dtype")

    def step(self, span: Span) -> OutArgument:
        """The step that the command line asks for."""
        return OutArgument(span, self.text("target") or None, self.flag("copy"), self.flag("cast"))
