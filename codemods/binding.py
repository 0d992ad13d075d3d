"""Binds a target to the result of a call, wherever it stands: assignment, walrus or a statement before.

A call that is a whole statement becomes an assignment. In ``z = x.add_(1)`` the target joins the assignment. A chain of
in-place calls hands its receiver through, so that the whole chain is assigned, unless a later link reads the target:
then the chain is cut in two. Elsewhere a name is bound by a walrus; anything else, and a name whose old tensor already
waits on the evaluation stack, is bound in a statement before, where evaluation order allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from codemods.places import Trail
from codemods.plan import Plan
from codemods.steps import CannotRewrite, Span
from codemods.syntax import alone, fitted, parenthesized, parse, parse_targets, pure
from codemods.ways import Way, choose

# From the updated call to the expression whose value is to be bound.
Build = Callable[[cst.Call], cst.BaseExpression]


@dataclass(frozen=True, slots=True)
class Binding:
    """What to bind: the target's text (None: nothing), how the function must declare it, the construct in question."""

    span: Span
    target: str | None
    declare: str = ""


def bind(plan: Plan, trail: Trail, binding: Binding, build: Build) -> None:
    """Replace the call at the trail's end by what ``build`` makes of it and bind the target to that."""
    if binding.target is None:
        _value(plan, trail, binding, build)
        return
    try:
        target = parse_targets(binding.target)
    except ValueError as error:
        raise CannotRewrite(binding.span, str(error)) from error
    if not pure(target):
        raise CannotRewrite(binding.span, f"the target {binding.target} would be evaluated twice")
    way, holder = choose(plan, trail, binding.span, target)
    for name in _names(target):
        plan.rebind(trail, binding.span, name, binding.declare)
    if way is Way.WALRUS:
        _walrus(plan, trail, binding, build, target)
    elif way is Way.STATEMENT_BEFORE:
        _before(plan, trail, binding, build)
    else:
        _value(plan, trail, binding, build)
        if way is Way.STATEMENT:
            plan.change(holder, lambda statement: _assign(plan, binding, statement))
        elif way is Way.ASSIGNMENT:
            plan.change(holder, lambda statement: _joined(binding, statement))


def _names(target: cst.BaseExpression) -> list[str]:
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, cst.Tuple | cst.List):
        return [name for element in target.elements for name in _names(element.value)]
    return []


def _value(plan: Plan, trail: Trail, binding: Binding, build: Build) -> None:
    parent, node = trail[-2], trail[-1]

    def change(updated: cst.Call) -> cst.CSTNode:
        return guarded(plan, trail, binding.span, fitted(build(updated), parent, node))

    plan.change(trail, change)


def _walrus(plan: Plan, trail: Trail, binding: Binding, build: Build, target: cst.BaseExpression) -> None:
    parent = trail[-2]
    positional = isinstance(parent, cst.Arg) and parent.keyword is None and not parent.star

    def change(updated: cst.Call) -> cst.CSTNode:
        value = build(updated.with_changes(lpar=(), rpar=()))
        if isinstance(value, cst.NamedExpr) and not value.lpar:
            value = parenthesized(value)
        # The call's own parentheses go around the walrus, where the statement may need them as separators.
        walrus = cst.NamedExpr(target=target, value=value, lpar=updated.lpar, rpar=updated.rpar)
        bare = walrus.lpar or positional or isinstance(parent, cst.If | cst.While)
        return guarded(plan, trail, binding.span, walrus if bare else parenthesized(walrus))

    plan.change(trail, change)


def _before(plan: Plan, trail: Trail, binding: Binding, build: Build) -> None:
    slot = plan.insert_before(trail, binding.span)
    plan.moved.add(trail[-1])
    text = binding.target or ""

    def change(updated: cst.Call) -> cst.CSTNode:
        slot.statements.append(assignment(plan, text, build(updated.with_changes(lpar=(), rpar=()))))
        left = parse(text).with_changes(lpar=updated.lpar, rpar=updated.rpar)
        return guarded(plan, trail, binding.span, left)

    plan.change(trail, change)


def assignment(plan: Plan, target: str, value: cst.BaseExpression) -> cst.Assign:
    """``target = value`` as a statement of its own."""
    return cst.Assign([cst.AssignTarget(parse_targets(target))], alone(value, plan.tree.code(value)))


def _assign(plan: Plan, binding: Binding, statement: cst.Expr) -> cst.Assign:
    assigned = assignment(plan, binding.target or "", statement.value)
    return assigned.with_changes(semicolon=statement.semicolon)


def _joined(binding: Binding, statement: cst.Assign) -> cst.Assign:
    # First, so that the other targets are evaluated when the new tensor is bound, as they saw the written one.
    target = cst.AssignTarget(parse_targets(binding.target or ""))
    return statement.with_changes(targets=[target, *statement.targets])


def guarded(plan: Plan, trail: Trail, span: Span, new: cst.BaseExpression) -> cst.BaseExpression:
    """``new``; raises ``CannotRewrite`` in an f-string that cannot hold it or would print something else."""
    end = "'"
    for node in trail:
        end = getattr(node, "end", end)
        if type(node).__name__ not in ("FormattedStringExpression", "TemplatedStringExpression"):
            continue
        if getattr(node, "equal", None) is not None:
            raise CannotRewrite(span, "the f-string prints the text of this expression, which would change")
        old, code = plan.tree.code(trail[-1]), plan.tree.code(new)
        for mark in (end, "\\", "#", *(("\n", "\r") if len(end) == 1 else ())):
            if code.count(mark) > old.count(mark):
                raise CannotRewrite(span, f"before Python 3.12 an f-string in {end} cannot hold what would be written")
    return new
