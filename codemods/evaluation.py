"""Python's evaluation order: what a statement has evaluated by the time it reaches one of its expressions.

An expression may be moved into a statement of its own, just before, only where it is evaluated exactly once and
nothing evaluated ahead of it could notice. The order is that of the language reference, section "Evaluation order";
where it is not simply left to right (assignments, conditional expressions, comprehensions) it is spelled out here.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import libcst as cst

from codemods.places import Trail
from codemods.syntax import direct, mentions, pure

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is evaluated ahead of an expression, and why the expression cannot be moved at all ("" if it can)."""

    expressions: tuple[cst.CSTNode, ...]
    blocked: str = ""


def earlier(trail: Trail, start: int) -> Earlier:
    """What the statement at ``trail[start]`` evaluates ahead of the trail's last node."""
    found: list[cst.CSTNode] = []
    blocked = ""
    for index in range(start, len(trail) - 1):
        parent, child = trail[index], trail[index + 1]
        if isinstance(parent, cst.If) and index > 0 and isinstance(trail[index - 1], cst.If):
            blocked = blocked or "an elif test is evaluated only when the tests before it fail"
        step = _ahead(parent, child)
        if isinstance(parent, cst.Lambda):
            # What the statement evaluated is over by the time the lambda runs.
            found.clear()
        found.extend(step.expressions)
        blocked = blocked or step.blocked
    return Earlier(tuple(found), blocked)


def movable(order: Earlier, names: set[str], moved: Set[cst.CSTNode] = frozenset()) -> str:
    """Why an expression that rebinds ``names`` cannot be evaluated before all that comes ahead of it, "" if it can.

    A plain load of the target that waits on the evaluation stack is no obstacle: an in-place write would have been
    seen through it, and after the move it loads the new binding. What is in ``moved`` is moved ahead as well, in order.
    """
    if order.blocked:
        return order.blocked
    for expression in order.expressions:
        if direct(expression) or expression in moved:
            continue
        if not pure(expression, moved):
            return "something with side effects is evaluated before it in the same statement"
        if mentions(expression, names):
            return "its old value is used before it in the same statement"
    return ""


def _before(items: Sequence[cst.CSTNode], child: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    out: list[cst.CSTNode] = []
    for item in items:
        if item is child:
            break
        out.extend(_values(item))
    return tuple(out)


def _values(item: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(item, cst.Arg | cst.Element):
        # An unpacked iterable is consumed at once, which is an effect.
        return [item] if isinstance(item, cst.Arg) and item.star else [item.value]
    if isinstance(item, cst.DictElement):
        return [item.key, item.value]
    if isinstance(item, cst.SubscriptElement):
        return [part for part in item.slice.children if isinstance(part, cst.BaseExpression)]
    if isinstance(item, cst.ComparisonTarget):
        return [item.comparator]
    if isinstance(item, cst.AssignTarget):
        return [item.target]
    if isinstance(item, cst.Decorator):
        return [item.decorator]
    return [item]


def _ahead(parent: cst.CSTNode, child: cst.CSTNode) -> Earlier:
    if isinstance(parent, cst.BaseExpression):
        return _ahead_in_expression(parent, child)
    if isinstance(parent, cst.BaseSmallStatement):
        return _ahead_in_small(parent, child)
    if isinstance(parent, cst.BaseCompoundStatement):
        return _ahead_in_header(parent, child)
    if isinstance(parent, cst.DictElement):
        return Earlier((parent.key,) if child is parent.value else ())
    if isinstance(parent, cst.Slice):
        parts = [part for part in (parent.lower, parent.upper, parent.step) if part is not None]
        return Earlier(_before(parts, child))
    if isinstance(parent, cst.CompIf):
        return Earlier((), "it is evaluated again for every item of a comprehension")
    if isinstance(parent, cst.CompFor):
        return Earlier((), "" if child is parent.iter else "it is evaluated again for every item of a comprehension")
    if isinstance(parent, cst.Parameters | cst.Param):
        return _ahead_in_parameters(parent, child)
    if type(parent).__name__ in ("FormattedStringExpression", "TemplatedStringExpression"):
        expression = parent.children[0] if parent.children else child
        value = getattr(parent, "expression", expression)
        return Earlier(() if child is value else (value,))
    if isinstance(
        parent,
        cst.Arg
        | cst.Element
        | cst.StarredElement
        | cst.StarredDictElement
        | cst.SubscriptElement
        | cst.Index
        | cst.ComparisonTarget
        | cst.AssignTarget
        | cst.Decorator
        | cst.From,
    ):
        return Earlier(())
    if isinstance(parent, cst.WithItem):
        return Earlier((), "" if child is parent.item else "it is evaluated when the block is entered")
    return Earlier((), "it is not evaluated exactly once before the rest of the statement")


def _ahead_in_expression(parent: cst.BaseExpression, child: cst.CSTNode) -> Earlier:
    if isinstance(parent, cst.Call):
        return Earlier(() if child is parent.func else (parent.func, *_before(parent.args, child)))
    if isinstance(parent, cst.Subscript):
        return Earlier(() if child is parent.value else (parent.value, *_before(parent.slice, child)))
    if isinstance(parent, cst.BinaryOperation):
        return Earlier((parent.left,) if child is parent.right else ())
    if isinstance(parent, cst.ConcatenatedString):
        return Earlier((parent.left,) if child is parent.right else ())
    if isinstance(parent, cst.BooleanOperation):
        return Earlier((), "" if child is parent.left else "it is evaluated only when the other operand asks for it")
    if isinstance(parent, cst.Comparison):
        if child is parent.left:
            return Earlier(())
        first = child is parent.comparisons[0]
        return Earlier((parent.left,), "" if first else "it is evaluated only when the comparison before it holds")
    if isinstance(parent, cst.IfExp):
        return Earlier(
            (), "" if child is parent.test else "it is evaluated only on one branch of a conditional expression"
        )
    if isinstance(parent, cst.Lambda):
        return Earlier((), "it is evaluated when the lambda is called")
    if isinstance(parent, _COMPREHENSIONS):
        # Only the first iterable is evaluated once, where the comprehension stands.
        return Earlier((), "" if child is parent.for_in else "it is evaluated again for every item of a comprehension")
    if isinstance(parent, cst.Tuple | cst.List | cst.Set | cst.Dict):
        return Earlier(_before(parent.elements, child))
    parts = getattr(parent, "parts", None)
    if parts is not None:
        return Earlier(tuple(value for part in parts[: list(parts).index(child)] for value in _replaced(part)))
    return Earlier(())


def _replaced(part: cst.CSTNode) -> list[cst.CSTNode]:
    """The expressions in one part of an f-string, those of its format specification last."""
    out: list[cst.CSTNode] = []
    for node in part.children:
        out.extend([node] if isinstance(node, cst.BaseExpression) else _replaced(node))
    return out


def _ahead_in_small(parent: cst.BaseSmallStatement, child: cst.CSTNode) -> Earlier:
    if isinstance(parent, cst.Assign):
        return Earlier(() if child is parent.value else (parent.value, *_before(parent.targets, child)))
    if isinstance(parent, cst.AnnAssign):
        if child is parent.value:
            return Earlier(())
        return Earlier((), "annotations need not be evaluated" if child is parent.annotation else "")
    if isinstance(parent, cst.AugAssign):
        # The target is loaded before the value is evaluated.
        return Earlier((parent.target,) if child is parent.value else ())
    if isinstance(parent, cst.Assert):
        return Earlier((), "assertions are evaluated only without -O")
    if isinstance(parent, cst.Raise) and child is parent.cause and parent.exc is not None:
        return Earlier((parent.exc,))
    return Earlier(())


def _ahead_in_header(parent: cst.BaseCompoundStatement, child: cst.CSTNode) -> Earlier:
    if isinstance(parent, cst.If) and child is parent.test:
        return Earlier(())
    if isinstance(parent, cst.For) and child is parent.iter:
        return Earlier(())
    if isinstance(parent, cst.With):
        # Entering the items before it is an effect.
        first = child is parent.items[0]
        return Earlier((), "" if first else "another context is entered before it")
    if isinstance(parent, cst.Match) and child is parent.subject:
        return Earlier(())
    if isinstance(parent, cst.FunctionDef | cst.ClassDef) and isinstance(child, cst.Decorator):
        return Earlier(_before(parent.decorators, child))
    decorators = tuple(decorator.decorator for decorator in getattr(parent, "decorators", ()))
    if isinstance(parent, cst.FunctionDef) and child is parent.params:
        return Earlier(decorators)
    if isinstance(parent, cst.ClassDef) and isinstance(child, cst.Arg):
        return Earlier((*decorators, *_before((*parent.bases, *parent.keywords), child)))
    if isinstance(parent, cst.While):
        return Earlier((), "a while test is evaluated again in every round")
    return Earlier((), "it is not evaluated exactly once before the rest of the statement")


def _ahead_in_parameters(parent: cst.Parameters | cst.Param, child: cst.CSTNode) -> Earlier:
    if isinstance(parent, cst.Param):
        return Earlier((), "" if child is parent.default else "annotations need not be evaluated")
    params = (*parent.posonly_params, *parent.params, *parent.kwonly_params)
    ahead: list[cst.CSTNode] = []
    for param in params:
        if param is child:
            break
        if param.default is not None:
            ahead.append(param.default)
    return Earlier(tuple(ahead))
