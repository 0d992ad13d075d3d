"""Chooses how a target gets bound to a call's result: by the statement itself, by a walrus, or in a statement before.

The choice keeps what a write in place would have shown: who loads the target after the call sees the new tensor, and
nobody who loaded it before is left with the old one.
"""

from __future__ import annotations

import enum

import libcst as cst

from codemods.evaluation import Earlier, earlier, movable
from codemods.places import Trail, statement_index
from codemods.plan import Plan
from codemods.scopes import no_walrus, shared
from codemods.steps import CannotRewrite, Span
from codemods.syntax import direct, mentions, parse, pure, roots, same


class MoveAllError(Exception):
    """One call of a statement must be bound before it, so that those evaluated ahead of it must not stay behind."""

    def __init__(self, statement: cst.CSTNode) -> None:
        super().__init__("every call of the statement is to be bound before it")
        self.statement = statement


class Way(enum.Enum):
    """How a result gets bound."""

    VALUE = "something around the call binds it already"
    STATEMENT = "the expression statement becomes an assignment"
    ASSIGNMENT = "the target joins an assignment"
    WALRUS = "bound where it stands"
    STATEMENT_BEFORE = "bound in a statement before"


def choose(plan: Plan, trail: Trail, span: Span, target: cst.BaseExpression) -> tuple[Way, Trail]:
    """The way to bind, and the trail of the statement that changes; raises ``CannotRewrite`` where there is none."""
    text = plan.tree.code(target)
    around = _bound_around(plan, trail, target, text)
    if around is not None:
        return around
    names = roots(target)
    start = statement_index(trail)
    order = earlier(trail, start)
    obstacle = movable(order, names, plan.moved)
    if not obstacle and (_is_head(trail, start, order) or trail[start] in plan.emptied):
        return Way.STATEMENT_BEFORE, trail
    if isinstance(target, cst.Name) and not _alias_waits(plan, order, names, text):
        refusal = no_walrus(trail, target.value)
        if not refusal:
            return Way.WALRUS, trail
        if obstacle:
            obstacle = f"{obstacle}; nor where it stands: {refusal}"
    if obstacle and trail[start] not in plan.emptied and len(plan.bindings_in(trail[start])) > 1:
        raise MoveAllError(trail[start])
    if obstacle:
        raise CannotRewrite(span, f"{text} cannot be bound before this statement: {obstacle}")
    return Way.STATEMENT_BEFORE, trail


def _bound_around(plan: Plan, trail: Trail, target: cst.BaseExpression, text: str) -> tuple[Way, Trail] | None:
    """The way where the statement, or a later link of the chain, can bind the target; None where none does."""
    names = roots(target)
    top = len(trail) - 1
    while True:
        way = _way_at(plan, trail, top, text, names)
        if way is not None:
            return way, trail[:top]
        link = _next_link(trail, top)
        if link is None or _reads(trail, link, target, names):
            return None
        if _binds(plan, link, text):
            return Way.VALUE, trail
        if not _hands_through(link):
            return None
        top -= 2


def _way_at(plan: Plan, trail: Trail, top: int, text: str, names: set[str]) -> Way | None:
    parent, node = trail[top - 1], trail[top]

    def is_target(target: cst.CSTNode) -> bool:
        return same(plan.tree.code(target), text)

    if isinstance(parent, cst.Expr):
        return Way.STATEMENT
    if isinstance(parent, cst.AnnAssign | cst.NamedExpr) and parent.value is node and is_target(parent.target):
        return Way.VALUE
    if isinstance(parent, cst.Assign):
        for one in parent.targets:
            if is_target(one.target):
                return Way.VALUE
            if mentions(one.target, names):
                break
        return Way.ASSIGNMENT
    if isinstance(parent, cst.Element) and top >= 3:
        return _way_in_tuple(plan, trail[top - 3], trail[top - 2], parent, text)
    return None


def _way_in_tuple(
    plan: Plan, statement: cst.CSTNode, value: cst.CSTNode, element: cst.Element, text: str
) -> Way | None:
    """``VALUE`` in ``x, y = x.add_(1), y`` where nothing between the call and the binding of ``x`` reads it."""
    if not isinstance(statement, cst.Assign) or statement.value is not value or len(statement.targets) != 1:
        return None
    target = statement.targets[0].target
    if not isinstance(target, cst.Tuple | cst.List) or not isinstance(value, cst.Tuple | cst.List):
        return None
    starred = any(isinstance(one, cst.StarredElement) for one in (*target.elements, *value.elements))
    place = list(value.elements).index(element)
    if starred or len(target.elements) != len(value.elements):
        return None
    if not same(plan.tree.code(target.elements[place].value), text):
        return None
    # Other calls of the tuple are made out of place as well, so that only their arguments could have effects.
    calls = {trail[-1] for trail, _ in plan.bindings_in(statement)}
    rest = [*value.elements[place + 1 :], *target.elements[:place]]
    args = [arg for call in calls if isinstance(call, cst.Call) for arg in call.args]
    quiet = all(pure(one, calls) for one in (*rest, *args))
    # An earlier element that is the target itself would hold the old tensor.
    others = [*value.elements[:place], *rest]
    return Way.VALUE if quiet and not any(mentions(one, roots(parse(text))) for one in others) else None


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
    name = link.func.attr.value if isinstance(link.func, cst.Attribute) else ""
    return name.endswith("_") and not name.endswith("__")


def _binds(plan: Plan, node: cst.CSTNode, text: str) -> bool:
    return any(same(target, text) for target in plan.targets(node))


def _reads(trail: Trail, link: cst.Call, target: cst.BaseExpression, names: set[str]) -> bool:
    """Whether a later link's arguments could see if the target has been bound yet."""
    if any(mentions(arg, names) for arg in link.args):
        return True
    if all(pure(arg) for arg in link.args):
        return False
    return not isinstance(target, cst.Name) or shared(trail, target.value)


def _is_head(trail: Trail, start: int, order: Earlier) -> bool:
    """Whether a statement's value begins with the call: nothing but attributes, calls and subscripts around it."""
    if order.expressions or not isinstance(trail[start], cst.Expr | cst.Assign | cst.AnnAssign | cst.Return):
        return False
    return all(isinstance(node, cst.Attribute | cst.Call | cst.Subscript) for node in trail[start + 1 : -1])


def _alias_waits(plan: Plan, order: Earlier, names: set[str], text: str) -> bool:
    """Whether the old tensor itself waits on the evaluation stack, where a write would have been seen through it."""
    return any(
        (direct(expression) and mentions(expression, names)) or _binds(plan, expression, text)
        for expression in order.expressions
    )
