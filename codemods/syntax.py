"""Small questions about expressions: precedence and parentheses, purity, names that are read, sameness."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterable, Iterator, Set

import libcst as cst

# Precedence, loosest first, as in the language reference's table; anything not named here is a primary.
NAMED, LAMBDA, CONDITION, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, POWER, AWAIT = (
    range(16)
)
PRIMARY = 16
LOOSEST = -1

_BINARY: dict[type[cst.BaseBinaryOp], int] = {
    cst.BitOr: BIT_OR,
    cst.BitXor: BIT_XOR,
    cst.BitAnd: BIT_AND,
    cst.LeftShift: SHIFT,
    cst.RightShift: SHIFT,
    cst.Add: SUM,
    cst.Subtract: SUM,
    cst.Multiply: PRODUCT,
    cst.Divide: PRODUCT,
    cst.FloorDivide: PRODUCT,
    cst.Modulo: PRODUCT,
    cst.MatrixMultiply: PRODUCT,
    cst.Power: POWER,
}

_EFFECTS = (
    cst.Call,
    cst.Await,
    cst.Yield,
    cst.NamedExpr,
    cst.GeneratorExp,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.StarredElement,
)


def level(node: cst.BaseExpression) -> int:
    """How tightly an expression holds together when written without parentheses of its own."""
    if isinstance(node, cst.NamedExpr):
        return NAMED
    if isinstance(node, cst.Yield | cst.GeneratorExp) or (isinstance(node, cst.Tuple) and not node.lpar):
        return LOOSEST
    if isinstance(node, cst.Lambda):
        return LAMBDA
    if isinstance(node, cst.IfExp):
        return CONDITION
    if isinstance(node, cst.BooleanOperation):
        return OR if isinstance(node.operator, cst.Or) else AND
    if isinstance(node, cst.Comparison):
        return COMPARE
    if isinstance(node, cst.UnaryOperation):
        return NOT if isinstance(node.operator, cst.Not) else SIGN
    if isinstance(node, cst.BinaryOperation):
        return _BINARY[type(node.operator)]
    if isinstance(node, cst.Await):
        return AWAIT
    if isinstance(node, cst.ConcatenatedString):
        return AWAIT
    return PRIMARY


def parenthesized(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression in one more pair of parentheses."""
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def held(node: cst.BaseExpression, at_least: int) -> cst.BaseExpression:
    """The expression, in parentheses where it would not hold together next to an operator of level ``at_least``."""
    if node.lpar or level(node) >= at_least:
        return node
    return parenthesized(node)


def receiver(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression in a form that an attribute, a call or a subscript can follow."""
    if isinstance(node, cst.Integer) and not node.lpar:
        return parenthesized(node)
    return held(node, PRIMARY)


def operand(node: cst.BaseExpression, operator: cst.BaseBinaryOp, right: bool) -> cst.BaseExpression:
    """The expression in a form that can stand on one side of a binary operator without regrouping anything."""
    own = _BINARY[type(operator)]
    if isinstance(operator, cst.Power):
        # ``x ** -y`` needs none, ``(-x) ** y`` and ``(x ** y) ** z`` do.
        return held(node, SIGN if right else POWER + 1)
    return held(node, own + 1 if right else own)


def binary(left: cst.BaseExpression, operator: cst.BaseBinaryOp, right: cst.BaseExpression) -> cst.BinaryOperation:
    """``left operator right`` with the parentheses that keep both sides whole."""
    return cst.BinaryOperation(operand(left, operator, False), operator, operand(right, operator, True))


def fitted(new: cst.BaseExpression, parent: cst.CSTNode | None, child: cst.CSTNode) -> cst.BaseExpression:
    """``new`` in a form that can take the place of ``child`` below ``parent``."""
    if new.lpar or (level(new) == PRIMARY and not isinstance(new, cst.Integer)):
        return new
    if isinstance(parent, cst.Arg):
        plain = parent.keyword is None and not parent.star
        return held(new, NAMED if plain else LAMBDA)
    if isinstance(parent, cst.If | cst.While):
        return held(new, NAMED)
    if isinstance(parent, cst.Expr | cst.Return | cst.Assign | cst.AnnAssign | cst.AugAssign | cst.Index | cst.Element):
        return held(new, LAMBDA)
    if isinstance(parent, cst.Assert | cst.Raise | cst.For | cst.DictElement | cst.Slice | cst.Param | cst.Match):
        return held(new, LAMBDA)
    if isinstance(parent, cst.BinaryOperation):
        return operand(new, parent.operator, parent.right is child)
    return receiver(new)


def alone(node: cst.BaseExpression, code: str) -> cst.BaseExpression:
    """The expression in a form that can be a statement's value; ``code`` is its text."""
    if node.lpar:
        return node
    if "\n" in code or "\r" in code:
        try:
            cst.parse_module("_ = " + code)
        except cst.ParserSyntaxError:
            return parenthesized(node)
    return node if level(node) >= LAMBDA else parenthesized(node)


def call_method(value: cst.BaseExpression, name: str, *args: cst.BaseExpression) -> cst.Call:
    """``value.name(args)``"""
    return cst.Call(cst.Attribute(receiver(value), cst.Name(name)), [cst.Arg(arg) for arg in args])


def parse(text: str) -> cst.BaseExpression:
    """A name, attribute, subscript or other expression given as text; raises ``ValueError`` where it is none."""
    try:
        return cst.parse_expression(text)
    except (cst.ParserSyntaxError, cst.CSTValidationError) as error:
        raise ValueError(f"{text!r} is no expression") from error


def parse_targets(text: str) -> cst.BaseAssignTargetExpression:
    """An assignment target given as text (``x``, ``self.h``, ``states[0]``, ``v, i``); raises ``ValueError``."""
    target = parse(text)
    if isinstance(target, cst.Name | cst.Attribute | cst.Subscript | cst.Tuple | cst.List):
        return target
    raise ValueError(f"{text!r} cannot be assigned to")


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything below it, in source order."""
    yield node
    for child in node.children:
        yield from walk(child)


def pure(node: cst.CSTNode, moved: Set[cst.CSTNode] = frozenset()) -> bool:
    """Whether evaluating it can be moved, repeated or left out: no call, await, yield, walrus or comprehension.

    Attribute and subscript loads and arithmetic count as pure, as everywhere in tensor code. What is in ``moved`` is
    evaluated elsewhere and does not count.
    """
    if node in moved:
        return True
    if isinstance(node, _EFFECTS) or (isinstance(node, cst.Arg) and node.star):
        return False
    if isinstance(node, cst.Lambda):
        return all(pure(child, moved) for child in node.params.children)
    return all(pure(child, moved) for child in node.children)


def direct(node: cst.CSTNode) -> bool:
    """Whether it only loads what exists (``x``, ``self.h``, ``states[0]``, ``x[1:]``): an alias, no new value."""
    if isinstance(node, cst.Attribute):
        return direct(node.value)
    if isinstance(node, cst.Subscript):
        return direct(node.value) and all(_basic(element.slice) for element in node.slice)
    return isinstance(node, cst.Name)


def _basic(index: cst.BaseSlice) -> bool:
    """Whether a subscript cannot be an index tensor or a mask, so that it gives a view or a container's member."""
    if isinstance(index, cst.Index):
        value = index.value
        return isinstance(value, cst.Integer | cst.SimpleString | cst.Ellipsis) or (
            isinstance(value, cst.UnaryOperation) and isinstance(value.expression, cst.Integer)
        )
    return True


def normal(name: str) -> str:
    """A name as Python compares it (NFKC)."""
    return unicodedata.normalize("NFKC", name)


def same(one: str, other: str) -> bool:
    """Whether two texts are the same expression, whatever their layout and parentheses."""
    try:
        return ast.dump(ast.parse(f"({one}\n)", mode="eval")) == ast.dump(ast.parse(f"({other}\n)", mode="eval"))
    except (SyntaxError, ValueError):
        return one.strip() == other.strip()


def dotted(node: cst.CSTNode) -> str | None:
    """``a.b.c`` as text where a node is exactly that, else None."""
    if isinstance(node, cst.Name):
        return normal(node.value)
    if isinstance(node, cst.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{normal(node.attr.value)}"
    return None


def roots(target: cst.BaseExpression) -> set[str]:
    """What counts as a mention of a target: its own name, dotted name, or the container it is a slot of."""
    if isinstance(target, cst.Tuple | cst.List):
        return {root for element in target.elements for root in roots(element.value)}
    if isinstance(target, cst.StarredElement):
        return roots(target.value)
    while isinstance(target, cst.Subscript):
        target = target.value
    name = dotted(target)
    if name is not None:
        return {name}
    while isinstance(target, cst.Attribute | cst.Call | cst.Subscript):
        target = target.func if isinstance(target, cst.Call) else target.value
    name = dotted(target)
    return set() if name is None else {name}


def mentions(node: cst.CSTNode, names: Iterable[str]) -> bool:
    """Whether any of the (dotted) names is read or written anywhere in the node."""
    wanted = set(names)
    return any(isinstance(part, cst.Name | cst.Attribute) and dotted(part) in wanted for part in walk_loads(node))


def walk_loads(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """As ``walk``, without attribute names and keywords, which are no variables."""
    yield node
    for child in node.children:
        if isinstance(node, cst.Attribute) and child is node.attr:
            continue
        if isinstance(node, cst.Arg) and child is node.keyword:
            continue
        yield from walk_loads(child)
