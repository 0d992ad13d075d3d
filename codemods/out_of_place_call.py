"""Rewrites ``x.add_(y)`` to ``x = x.add(y)``: an in-place call becomes out of place and its receiver is bound anew."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import libcst as cst

from codemods.binding import Binding, bind
from codemods.command import StepCommand
from codemods.places import Trail, is_call
from codemods.plan import Plan
from codemods.scopes import no_walrus
from codemods.steps import CannotRewrite, OutOfPlaceCall, Span
from codemods.syntax import call_method, parenthesized, parse, parse_targets, pure, receiver, same
from codemods.templates import fill, placeholders, renamed_function, renamed_method
from codemods.temporaries import settled

STEP = OutOfPlaceCall
ACCEPTS = is_call
WHAT = "call"


def plan_step(plan: Plan, trail: Trail, step: OutOfPlaceCall) -> None:
    """Plan the rewrite of one in-place call."""
    call = trail[-1]
    assert isinstance(call, cst.Call)
    position = _receiver_position(call, step)
    obj, _ = _parts(call, position, step.span)
    target = step.target
    try:
        if target is not None:
            parse_targets(target)
        order = placeholders(step.template)
    except ValueError as error:
        raise CannotRewrite(step.span, str(error)) from error
    _check_evaluation(call, obj, order, step.span)
    if target is not None and not pure(parse(target)) and same(target, plan.tree.code(obj)):
        _settle_receiver(plan, trail, step, position)
        return
    name = ""
    if not pure(obj) and (order.count("x") > 1 or (step.cast and target is None)):
        name = plan.fresh_name("value")
        refusal = no_walrus(trail, name)
        if refusal:
            raise CannotRewrite(step.span, f"the receiver would be evaluated twice, and {refusal}")

    def build(updated: cst.Call) -> cst.BaseExpression:
        return _rewritten(updated, step, position, name)

    bind(plan, trail, Binding(step.span, target, step.declare), build)


def _receiver_position(call: cst.Call, step: OutOfPlaceCall) -> int | None:
    """Which argument is the receiver; None for a method's own object."""
    if step.receiver is None and not isinstance(call.func, cst.Attribute):
        return 0
    return step.receiver


def _parts(call: cst.Call, position: int | None, span: Span) -> tuple[cst.BaseExpression, Sequence[cst.Arg]]:
    """The receiver and the remaining arguments."""
    if position is None:
        if not isinstance(call.func, cst.Attribute):
            raise CannotRewrite(span, "this call has no receiver before a dot")
        return call.func.value, call.args
    if position >= len(call.args) or any(arg.star for arg in call.args[: position + 1]):
        raise CannotRewrite(span, "the receiver is not written as an argument of its own")
    return call.args[position].value, [*call.args[:position], *call.args[position + 1 :]]


def _check_evaluation(call: cst.Call, obj: cst.BaseExpression, order: Sequence[str], span: Span) -> None:
    if "x" not in order and not pure(obj):
        raise CannotRewrite(span, "the receiver would no longer be evaluated, and evaluating it has effects")
    others = [arg for arg in call.args if arg.value is not obj]
    if "args" not in order and not all(pure(arg) for arg in others):
        raise CannotRewrite(span, "an argument would no longer be evaluated, and evaluating it has effects")
    swapped = "args" in order and "x" in order and order.index("args") < order.index("x")
    if (swapped or order.count("args") > 1) and not all(pure(arg) for arg in others):
        raise CannotRewrite(span, "an argument with effects would be evaluated at another time or twice")


def _rewritten(updated: cst.Call, step: OutOfPlaceCall, position: int | None, name: str) -> cst.BaseExpression:
    obj, args = _parts(updated, position, step.span)
    again: cst.BaseExpression = cst.Name(name) if name else obj
    method = renamed_method(step.template)
    function = renamed_function(step.template, len(args))
    value: cst.BaseExpression
    if method is not None and position is None and isinstance(updated.func, cst.Attribute):
        first = _named(name, obj) if name else obj
        value = updated.with_changes(func=updated.func.with_changes(attr=cst.Name(method), value=first))
    elif position == 0 and function is not None and not name:
        value = updated.with_changes(func=function)
    else:
        try:
            value = fill(step.template, {"x": again}, args)
            if name:
                value = _first_named(value, name, obj)
        except ValueError as error:
            raise CannotRewrite(step.span, str(error)) from error
        if step.template.endswith("({args})") and isinstance(value, cst.Call):
            gaps = {"whitespace_before_args": updated.whitespace_before_args, "args": args}
            value = value.with_changes(whitespace_after_func=updated.whitespace_after_func, **gaps)
        if updated.lpar and not value.lpar:
            value = value.with_changes(lpar=updated.lpar, rpar=updated.rpar)
    if step.cast:
        if not name and step.target is not None and not pure(obj):
            again = parse(step.target)
        value = call_method(value, "to", cst.Attribute(receiver(again.deep_clone()), cst.Name("dtype")))
    return value


def _named(name: str, obj: cst.BaseExpression) -> cst.BaseExpression:
    return parenthesized(cst.NamedExpr(target=cst.Name(name), value=obj))


def _first_named(value: cst.BaseExpression, name: str, obj: cst.BaseExpression) -> cst.BaseExpression:
    """The expression with the first load of a fresh name turned into ``(name := obj)``."""

    class First(cst.CSTTransformer):
        done = False

        def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
            if self.done or updated_node.value != name:
                return updated_node
            self.done = True
            return _named(name, obj)

    result = value.visit(First())
    assert isinstance(result, cst.BaseExpression)
    return result


def _settle_receiver(plan: Plan, trail: Trail, step: OutOfPlaceCall, position: int | None) -> None:
    """Name the parts of a receiver with effects in statements before; only for a call that is a whole statement."""
    if not isinstance(trail[-2], cst.Expr):
        raise CannotRewrite(step.span, f"the target {step.target} would be evaluated twice")
    slot = plan.insert_before(trail, step.span)

    def change(statement: cst.Expr) -> cst.Assign:
        call = statement.value
        assert isinstance(call, cst.Call)
        obj, _ = _parts(call, position, step.span)
        slot.statements, target = settled(plan, obj)
        value = _rewritten(_with_receiver(call, position, target), step, position, "")
        assert isinstance(target, cst.Attribute | cst.Subscript | cst.Name)
        return cst.Assign([cst.AssignTarget(target.deep_clone())], value, semicolon=statement.semicolon)

    plan.change(trail[:-1], change)


def _with_receiver(call: cst.Call, position: int | None, obj: cst.BaseExpression) -> cst.Call:
    if position is None:
        assert isinstance(call.func, cst.Attribute)
        return call.with_changes(func=call.func.with_changes(value=obj))
    args = list(call.args)
    args[position] = args[position].with_changes(value=obj)
    return call.with_changes(args=args)


class OutOfPlaceCallCommand(StepCommand):
    """``out_of_place_call.OutOfPlaceCallCommand``"""

    DESCRIPTION = "Make the in-place call at a position out of place and bind its receiver to the result."
    accepts = staticmethod(is_call)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position, template and target."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--template", required=True, help="for example '{x}.add({args})'")
        arg_parser.add_argument("--target", default=None, help="what to bind to the result; nothing if left out")
        arg_parser.add_argument("--cast", action="store_true", help="cast the result to the receiver's dtype")
        arg_parser.add_argument(
            "--receiver", type=int, default=None, help="which argument is the receiver of a function, counted from 0"
        )
        arg_parser.add_argument("--declare", choices=("nonlocal", "global"), default="", help="declare the target so")

    def step(self, span: Span) -> OutOfPlaceCall:
        """The step that the command line asks for."""
        target = self.text("target") or None
        position = self.text("receiver")
        place = int(position) if position else None
        return OutOfPlaceCall(span, self.text("template"), target, self.flag("cast"), self.text("declare"), place)
