"""Binds a target to the result of a call, wherever it stands: assignment, walrus or a statement before.

A call that is a whole statement becomes an assignment. In ``z = x.add_(1)`` the target joins the assignment. A chain of
in-place calls hands its receiver through, so that the whole chain is assigned, unless a later link reads the target:
then the chain is cut in two. Elsewhere a name is bound by a walrus; anything else, and a name whose old tensor already
waits on the evaluation stack, is bound in a statement before, where evaluation order allows it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from codemods.evaluation import earlier, movable, waiting_alias
from codemods.places import Trail, statement_index
from codemods.plan import Plan
from codemods.scopes import no_walrus, shared
from codemods.steps import CannotRewrite, OutOfPlaceCall, Span
from codemods.syntax import alone, fitted, mentions, parenthesized, parse, parse_targets, pure, roots, same

# From the updated call to the expression whose value is to be bound.
Build = Callable[[cst.Call], cst.BaseExpression]


class Way(enum.Enum):
    """How a result gets bound."""

    VALUE = "the value alone is enough"
    STATEMENT = "the expression statement becomes an assignment"
    ASSIGNMENT = "the target joins an assignment"
    WALRUS = "bound where it stands"
    STATEMENT_BEFORE = "bound in a statement before"


@dataclass(frozen=True, slots=True)
class Binding:
    """One target to bind, the same for every form that binds: the text, its declaration and where the call stands."""

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
    way, holder = choose(plan, trail, binding, target)
    if way is not Way.VALUE or isinstance(target, cst.Name):
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


def choose(plan: Plan, trail: Trail, binding: Binding, target: cst.BaseExpression) -> tuple[Way, Trail]:
    """The way to bind, and the trail of the statement that changes; raises ``CannotRewrite`` where there is none."""
    names = roots(target)
    top = len(trail) - 1
    while True:
        way = _way_at(trail, top, binding, names)
        if way is not None:
            return way, trail[:top]
        link = _next_link(trail, top)
        if link is None or _reads(plan, trail, link, target, names):
            break
        if _binds_same(plan, link, binding):
            return Way.VALUE, trail
        if not _hands_through(link):
            break
        top -= 2
    start = statement_index(trail)
    order = earlier(trail, start)
    obstacle = movable(order, names, plan.moved)
    statement = trail[start]
    heads = isinstance(statement, cst.Expr | cst.Assign | cst.AnnAssign | cst.Return) and not order.expressions
    if heads and not obstacle and _is_head(trail, start):
        return Way.STATEMENT_BEFORE, trail
    if isinstance(target, cst.Name) and not waiting_alias(order, names):
        refusal = no_walrus(trail, target.value)
        if not refusal:
            return Way.WALRUS, trail
        obstacle = obstacle or ""
        if obstacle:
            raise CannotRewrite(binding.span, f"{binding.target} cannot be bound here: {refusal}, and {obstacle}")
    if obstacle:
        raise CannotRewrite(binding.span, f"{binding.target} cannot be bound before this statement: {obstacle}")
    return Way.STATEMENT_BEFORE, trail


def _way_at(trail: Trail, top: int, binding: Binding, names: set[str]) -> Way | None:
    parent = trail[top - 1]
    if isinstance(parent, cst.Expr):
        return Way.STATEMENT
    if isinstance(parent, cst.Assign) and parent.value is trail[top]:
        code = cst.Module([]).code_for_node
        for target in parent.targets:
            if same(code(target.target), binding.target or ""):
                return Way.VALUE
            if mentions(target.target, names):
                break
        return Way.ASSIGNMENT
    return None


def _next_link(trail: Trail, top: int) -> cst.Call | None:
    """The call whose receiver is the call at ``top``, None where a chain ends."""
    if top < 2:
        return None
    attribute, call = trail[top - 1], trail[top - 2]
    if isinstance(attribute, cst.Attribute) and isinstance(call, cst.Call):
        return call if attribute.value is trail[top] and call.func is attribute else None
    return None


def _hands_through(link: cst.Call) -> bool:
    """Whether a link is in place by its name and so returns the object that it was called on."""
    return isinstance(link.func, cst.Attribute) and link.func.attr.value.endswith("_")


def _binds_same(plan: Plan, link: cst.Call, binding: Binding) -> bool:
    return any(
        isinstance(step, OutOfPlaceCall) and step.target is not None and same(step.target, binding.target or "")
        for step in plan.steps.get(link, ())
    )


def _reads(plan: Plan, trail: Trail, link: cst.Call, target: cst.BaseExpression, names: set[str]) -> bool:
    """Whether a later link's arguments could see if the target has been bound yet."""
    if any(mentions(arg, names) for arg in link.args):
        return True
    if all(pure(arg) for arg in link.args):
        return False
    return not isinstance(target, cst.Name) or shared(trail, target.value)


def _is_head(trail: Trail, start: int) -> bool:
    """Whether the statement's value begins with the call: nothing but attributes, calls and subscripts around it."""
    return all(isinstance(node, cst.Attribute | cst.Call | cst.Subscript) for node in trail[start + 1 : -1])


def _value(plan: Plan, trail: Trail, binding: Binding, build: Build) -> None:
    parent, node = trail[-2], trail[-1]

    def change(updated: cst.Call) -> cst.CSTNode:
        return guarded(plan, trail, binding.span, fitted(build(updated), parent, node))

    plan.change(trail, change)


def _walrus(plan: Plan, trail: Trail, binding: Binding, build: Build, target: cst.BaseExpression) -> None:
    parent = trail[-2]

    def change(updated: cst.Call) -> cst.CSTNode:
        value = build(updated)
        value = value if not isinstance(value, cst.NamedExpr | cst.Tuple) or value.lpar else parenthesized(value)
        walrus = cst.NamedExpr(target=target, value=value)
        bare = isinstance(parent, cst.Arg) and parent.keyword is None and not parent.star
        if not bare and not isinstance(parent, cst.If | cst.While):
            return guarded(plan, trail, binding.span, parenthesized(walrus))
        return guarded(plan, trail, binding.span, walrus)

    plan.change(trail, change)


def _before(plan: Plan, trail: Trail, binding: Binding, build: Build) -> None:
    parent, node = trail[-2], trail[-1]
    slot = plan.insert_before(trail, binding.span)
    plan.moved.add(node)
    text = binding.target or ""

    def change(updated: cst.Call) -> cst.CSTNode:
        slot.statements.append(assignment(plan, text, build(updated)))
        return fitted(parse(text), parent, node)

    plan.change(trail, change)


def assignment(plan: Plan, target: str, value: cst.BaseExpression) -> cst.Assign:
    """``target = value`` as a statement of its own."""
    return cst.Assign([cst.AssignTarget(parse_targets(target))], alone(value, plan.tree.code(value)))


def _assign(plan: Plan, binding: Binding, statement: cst.Expr) -> cst.Assign:
    assigned = assignment(plan, binding.target or "", statement.value)
    return assigned.with_changes(semicolon=statement.semicolon)


def _joined(binding: Binding, statement: cst.Assign) -> cst.Assign:
    # First, so that the other targets are evaluated when the new tensor is bound, as they saw the written one.
    first = statement.targets[0]
    target = first.with_changes(
        target=parse_targets(binding.target or ""),
        whitespace_before_equal=cst.SimpleWhitespace(" "),
        whitespace_after_equal=cst.SimpleWhitespace(" "),
    )
    return statement.with_changes(targets=[target, *statement.targets])


def guarded(plan: Plan, trail: Trail, span: Span, new: cst.BaseExpression) -> cst.BaseExpression:
    """``new``; raises ``CannotRewrite`` in an f-string that cannot hold it or would print something else."""
    for index, node in enumerate(trail):
        if type(node).__name__ not in ("FormattedStringExpression", "TemplatedStringExpression"):
            continue
        if getattr(node, "equal", None) is not None:
            raise CannotRewrite(span, "the f-string prints the text of this expression, which would change")
        end = getattr(trail[index - 1], "end", "'")
        old, code = plan.tree.code(trail[-1]), plan.tree.code(new)
        for mark in (end[:1], "\\", "#", "\n", "\r"):
            if code.count(mark) > old.count(mark):
                raise CannotRewrite(span, f"before Python 3.12 an f-string in {end} cannot hold what would be written")
    return new
