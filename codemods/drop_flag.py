"""Rewrites ``nn.ReLU(inplace=True)`` to ``nn.ReLU()``: the flag that makes a call work in place goes."""

from __future__ import annotations

import argparse

import libcst as cst

from codemods.arguments import keyword_index, positional_index, replaced, with_keyword, without
from codemods.binding import Binding, bind
from codemods.command import StepCommand
from codemods.places import Trail, is_call
from codemods.plan import Plan
from codemods.steps import CannotRewrite, DropFlag, Span
from codemods.syntax import pure

STEP = DropFlag
ACCEPTS = is_call
WHAT = "call"


def plan_step(plan: Plan, trail: Trail, step: DropFlag) -> None:
    """Plan the change of one call."""
    call = trail[-1]
    assert isinstance(call, cst.Call)
    _check(call, step)
    bind(plan, trail, Binding(step.span, step.target, step.declare), lambda updated: flagless(updated, step))


def _check(call: cst.Call, step: DropFlag) -> None:
    index = _index(call, step)
    if index is not None:
        if not pure(call.args[index].value):
            raise CannotRewrite(step.span, f"the value of {step.keyword} has effects and would no longer be evaluated")
        return
    if sum(arg.star == "**" for arg in call.args) > 1:
        raise CannotRewrite(step.span, f"{step.keyword} may come from any of several ** arguments")
    if step.position is not None and any(arg.star == "*" for arg in call.args[: step.position + 1]):
        raise CannotRewrite(step.span, f"{step.keyword} may come from a * argument")


def _index(call: cst.Call, step: DropFlag) -> int | None:
    index = keyword_index(call, step.keyword)
    if index is None and step.position is not None:
        index = positional_index(call, step.position)
    return index


def flagless(call: cst.Call, step: DropFlag) -> cst.Call:
    """The call with the flag removed where it was a written ``True``, else turned off."""
    index = _index(call, step)
    off = cst.Name("False")
    if index is not None:
        arg = call.args[index]
        if not isinstance(arg.value, cst.Name) or arg.value.value != "True":
            return replaced(call, index, off)
        later_positional = any(other.keyword is None for other in call.args[index + 1 :])
        return replaced(call, index, off) if arg.keyword is None and later_positional else without(call, index)
    for place, arg in enumerate(call.args):
        if arg.star == "**":
            merged = cst.Dict([cst.StarredDictElement(arg.value), cst.DictElement(_quoted(step.keyword), off)])
            return replaced(call, place, merged)
    return with_keyword(call, step.keyword, off)


def _quoted(keyword: str) -> cst.SimpleString:
    return cst.SimpleString(f'"{keyword}"')


class DropFlagCommand(StepCommand):
    """``drop_flag.DropFlagCommand``"""

    DESCRIPTION = "Remove the in-place flag of the call at a position, or turn it off."
    accepts = staticmethod(is_call)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position and flag."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--keyword", default="inplace", help="the flag's name")
        arg_parser.add_argument("--position", type=int, default=None, help="the flag's position, counted from 0")
        arg_parser.add_argument("--target", default=None, help="what to bind to the result; nothing if left out")

    def step(self, span: Span) -> DropFlag:
        """The step that the command line asks for."""
        position = self.text("position")
        return DropFlag(span, self.text("keyword"), int(position) if position else None, self.text("target") or None)
