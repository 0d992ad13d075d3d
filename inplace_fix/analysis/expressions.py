"""Expressions to values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from inplace_fix.analysis import attributes, calls, classes, indexing, iteration, names
from inplace_fix.analysis.branches import Literals, test
from inplace_fix.analysis.conditions import ALWAYS, Cell
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import as_tensor
from inplace_fix.analysis.tensors import operate
from inplace_fix.analysis.values import (
    NONE,
    Const,
    DictValue,
    Extern,
    Function,
    Instance,
    ListValue,
    Module,
    Tensor,
    Unknown,
    Value,
    choice,
)

# each operator's symbol, and how plain numbers are computed with it
BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.MatMult: ("@", operator.matmul),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
}
UNBOUNDED = (ast.Pow, ast.LShift)  # their results can be too large to work out
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def evaluate(m: Machine, node: ast.expr) -> Value:
    """The value of an expression, with all its effects."""
    handler = HANDLERS.get(type(node))
    return handler(m, node) if handler else Unknown()


def evaluate_all(m: Machine, nodes: list[ast.expr]) -> list[Value]:
    """Evaluate in order."""
    return [evaluate(m, node) for node in nodes]


def _constant(m: Machine, node: ast.Constant) -> Value:
    return Const(node.value)


def _name(m: Machine, node: ast.Name) -> Value:
    return names.load(m, node)


def _attribute(m: Machine, node: ast.Attribute) -> Value:
    return attributes.get(m, evaluate(m, node.value), node.attr, node)


def _subscript(m: Machine, node: ast.Subscript) -> Value:
    owner = evaluate(m, node.value)
    return indexing.get_item(m, owner, evaluate(m, node.slice), node)


def _slice(m: Machine, node: ast.Slice) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            evaluate(m, part)
    return Const(slice(None))


def _call(m: Machine, node: ast.Call) -> Value:
    m.step()
    function = evaluate(m, node.func)
    arguments = calls.Arguments()
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            arguments.star(evaluate(m, argument.value))
        else:
            arguments.positional.append((evaluate(m, argument), argument))
    for keyword in node.keywords:
        value = evaluate(m, keyword.value)
        if keyword.arg is None:
            arguments.double_star(value)
        else:
            arguments.keywords[keyword.arg] = (value, keyword.value)
    return calls.call(m, function, arguments, node)


def _binary(m: Machine, node: ast.BinOp) -> Value:
    left, right = evaluate(m, node.left), evaluate(m, node.right)
    if isinstance(left, Const) and isinstance(right, Const):
        return _fold(node.op, left.value, right.value)
    if isinstance(left, ListValue) and isinstance(right, ListValue) and isinstance(node.op, ast.Add):
        return ListValue([*left.cells, *right.cells], left.kind, left.exact and right.exact)
    if isinstance(left, ListValue) and isinstance(node.op, ast.Mult):
        return ListValue(left.cells * 2 if len(left.cells) < 4 else left.cells, left.kind, exact=False)
    return operate(m, BINARY[type(node.op)][0], [(left, node.left), (right, node.right)], node)


def _fold(operation: ast.operator, left: object, right: object) -> Value:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)) and not isinstance(operation, UNBOUNDED):
        try:
            return Const(BINARY[type(operation)][1](left, right))
        except (ArithmeticError, TypeError, ValueError):
            return Unknown(number=True)
    return Unknown(number=True)


def _unary(m: Machine, node: ast.UnaryOp) -> Value:
    value = evaluate(m, node.operand)
    if isinstance(value, Const):
        try:
            if isinstance(node.op, ast.USub):
                return Const(-value.value)
            if isinstance(node.op, ast.Not):
                return Const(not value.value)
        except TypeError:
            return Unknown()
        return value
    if isinstance(node.op, ast.Not):
        return Unknown(number=True)
    if isinstance(node.op, ast.UAdd):
        return value
    return operate(m, "neg" if isinstance(node.op, ast.USub) else "~", [(value, node.operand)], node)


def compare(m: Machine, node: ast.Compare) -> Value:
    """A comparison: a tensor where an operand is one, its truth where that is known."""
    values = evaluate_all(m, [node.left, *node.comparators])
    if len(values) == 2:
        left, right = values
        operator = node.ops[0]
        if type(operator) in COMPARE and any(as_tensor(m, v) is not None for v in values):
            operands = [(left, node.left), (right, node.comparators[0])]
            return operate(m, COMPARE[type(operator)], operands, node)
        known = _known_comparison(operator, left, right)
        if known is not None:
            return Const(known)
    return Unknown(number=True)


def _known_comparison(operator: ast.cmpop, left: Value, right: Value) -> bool | None:
    if isinstance(left, Const) and isinstance(right, Const):
        a, b = left.value, right.value
        try:
            if isinstance(operator, ast.Eq):
                return bool(a == b)
            if isinstance(operator, ast.NotEq):
                return bool(a != b)
            if isinstance(operator, (ast.Is, ast.IsNot)):
                return (a is b or a == b) is isinstance(operator, ast.Is)
            if isinstance(operator, ast.Lt):
                return bool(a < b)
            if isinstance(operator, ast.LtE):
                return bool(a <= b)
            if isinstance(operator, ast.Gt):
                return bool(a > b)
            if isinstance(operator, ast.GtE):
                return bool(a >= b)
            if isinstance(operator, ast.In):
                return a in b
            if isinstance(operator, ast.NotIn):
                return a not in b
        except TypeError:
            return None
    if isinstance(operator, (ast.Is, ast.IsNot)) and isinstance(right, Const) and right.value is None:
        never = (Tensor, Instance, Module, Function, ListValue, DictValue, Extern)
        if isinstance(left, never) or (isinstance(left, Unknown) and left.tensor is not None and left.tensor.sure):
            return isinstance(operator, ast.IsNot)
    if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(left, Const) and isinstance(right, ListValue):
        members = [c.latest() for c in right.cells]
        if right.exact and all(isinstance(v, Const) for v in members):
            return (left.value in [v.value for v in members if isinstance(v, Const)]) is isinstance(operator, ast.In)
    return None


def _boolean(m: Machine, node: ast.BoolOp) -> Value:
    results = []
    for part in node.values:
        value = evaluate(m, part)
        results.append((ALWAYS, value))
        if isinstance(value, Const) and bool(value.value) is isinstance(node.op, ast.Or):
            break
    decided = [v for _, v in results if not isinstance(v, Const)] or [results[-1][1]]
    if len(decided) == 1:
        return decided[0]
    key = m.branch()
    return choice([({key: number}, value) for number, value in enumerate(decided)])


def _conditional(m: Machine, node: ast.IfExp) -> Value:
    truth, yes, no = test(m, node.test)
    if truth is not None:
        return evaluate(m, node.body if truth else node.orelse)
    alternatives = []
    for literals, branch in ((yes, node.body), (no, node.orelse)):
        with m.arm(*literals):
            alternatives.append((dict(literals), evaluate(m, branch)))
    return choice(alternatives)


def _walrus(m: Machine, node: ast.NamedExpr) -> Value:
    value = evaluate(m, node.value)
    names.bind(m, node.target.id, value)
    return value


def _sequence(kind: str) -> Callable[[Machine, ast.Tuple | ast.List | ast.Set], Value]:
    # a tuple is mostly taken apart at once; a list is made to be kept
    make = iteration.slot if kind == "tuple" else iteration.kept

    def build(m: Machine, node: ast.Tuple | ast.List | ast.Set) -> Value:
        cells: list[Cell] = []
        exact = True
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = iteration.items(m, evaluate(m, element.value), element)
                exact = exact and iteration.exact(m, element.value)
                cells += [make(m, value) for value in inner]
            else:
                cells.append(make(m, evaluate(m, element)))
        return ListValue(cells, kind, exact)

    return build


def _dict(m: Machine, node: ast.Dict) -> Value:
    result = DictValue()
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(m, value_node)
        if key is None:
            indexing.update(m, result, value)
        else:
            indexing.set_item(m, result, evaluate(m, key), value)
    return result


def _comprehension(m: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    cells: list[Cell] = []
    exact = _generate(m, node.generators, 0, lambda: cells.append(iteration.kept(m, evaluate(m, node.elt))))
    return ListValue(cells, "list", exact)


def _dict_comprehension(m: Machine, node: ast.DictComp) -> Value:
    result = DictValue()
    _generate(
        m,
        node.generators,
        0,
        lambda: indexing.set_item(m, result, evaluate(m, node.key), evaluate(m, node.value)),
    )
    return result


def _generate(m: Machine, generators: list[ast.comprehension], index: int, emit: Callable[[], None]) -> bool:
    """Run the loops of a comprehension; answers whether every round was visited."""
    from inplace_fix.analysis.statements import assign

    if index == len(generators):
        emit()
        return True
    frame = m.frame
    assert frame is not None
    generator = generators[index]
    source = evaluate(m, generator.iter)
    exact = isinstance(source, ListValue) and source.exact and not generator.ifs
    outer = frame.cells
    inner = frame.cells = dict(outer)
    for name in (n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)):
        inner[name] = Cell("local", name)
    try:
        for item in iteration.items(m, source, generator.iter):
            m.step()
            assign(m, generator.target, item, generator.iter)
            literals: Literals = []
            for condition in generator.ifs:
                truth, yes, _ = test(m, condition)
                if truth is False:
                    break
                literals += yes
            else:
                with m.arm(*literals):
                    exact = _generate(m, generators, index + 1, emit) and exact
    finally:
        frame.cells = outer
        for name, cell in inner.items():
            if name not in outer and name not in {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}:
                outer[name] = cell
    return exact


def _lambda(m: Machine, node: ast.Lambda) -> Value:
    return classes.function(m, node)


def _formatted(m: Machine, node: ast.JoinedStr | ast.FormattedValue) -> Value:
    for part in node.values if isinstance(node, ast.JoinedStr) else [node.value]:
        evaluate(m, part)
    return Unknown(number=True)


def _await(m: Machine, node: ast.Await) -> Value:
    return evaluate(m, node.value)


def _yield(m: Machine, node: ast.Yield | ast.YieldFrom) -> Value:
    value = evaluate(m, node.value) if node.value is not None else NONE
    frame = m.frame
    if frame is not None and frame.yields is not None:
        frame.yields += iteration.items(m, value, node) if isinstance(node, ast.YieldFrom) else [value]
    return Unknown()


def _starred(m: Machine, node: ast.Starred) -> Value:
    return evaluate(m, node.value)


HANDLERS: dict[type[ast.expr], Callable[[Machine, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: compare,
    ast.BoolOp: _boolean,
    ast.IfExp: _conditional,
    ast.NamedExpr: _walrus,
    ast.Tuple: _sequence("tuple"),
    ast.List: _sequence("list"),
    ast.Set: _sequence("set"),
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Lambda: _lambda,
    ast.JoinedStr: _formatted,
    ast.FormattedValue: _formatted,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Starred: _starred,
}
