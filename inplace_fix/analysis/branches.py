"""Tests of conditions: whether they hold, and under which arms where that is open."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import Choice, Const, Function, Instance, ListValue, Module, Unknown, Value

Literals = list[tuple[Hashable, int]]


def test(m: Machine, node: ast.expr) -> tuple[bool | None, Literals, Literals]:
    """Evaluate a condition: its truth where known, else the literals that hold where it is true, and where false."""
    from inplace_fix.analysis.expressions import evaluate

    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        truth, yes, no = test(m, node.operand)
        return (None if truth is None else not truth), no, yes
    if isinstance(node, ast.BoolOp):
        return _test_boolean(m, node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _test_comparison(m, node)
    value = evaluate(m, node)
    truth = truth_of(value)
    if truth is not None:
        return truth, [], []
    key: Hashable = ("true", id(value)) if isinstance(value, Unknown) else m.branch()
    if isinstance(value, Choice) and all(truth_of(part) is not None for _, part in value.options):
        agreeing = [(guard, truth_of(part)) for guard, part in value.options]
        if len(agreeing) == 2 and len(agreeing[0][0]) == 1:
            (branch, arm), first = next(iter(agreeing[0][0].items())), agreeing[0][1]
            if arm in (0, 1):
                holds, fails = [(branch, arm)], [(branch, 1 - arm)]
                return None, *((holds, fails) if first else (fails, holds))
    if isinstance(value, Unknown):
        _remember(m, value)
    return None, [(key, 1)], [(key, 0)]


def _remember(m: Machine, value: Value) -> None:
    """Keep a value alive while conditions are named after it."""
    m.named.append(value)


def _test_boolean(m: Machine, node: ast.BoolOp) -> tuple[bool | None, Literals, Literals]:
    conjunction = isinstance(node.op, ast.And)
    holding: Literals = []
    failing: list[Literals] = []
    undecided = False
    before = m.condition
    try:
        for part in node.values:
            truth, yes, no = test(m, part)
            if truth is None:
                undecided = True
                holding += yes if conjunction else no
                failing.append(no if conjunction else yes)
                m.condition = {**m.condition, **dict(yes if conjunction else no)}
            elif truth is not conjunction:
                return truth, [], []
    finally:
        m.condition = before
    if not undecided:
        return conjunction, [], []
    if len(failing) == 1:
        other = failing[0]
    else:
        key = m.branch()
        holding, other = [*holding, (key, 1)], [(key, 0)]
    return (None, holding, other) if conjunction else (None, other, holding)


def _test_comparison(m: Machine, node: ast.Compare) -> tuple[bool | None, Literals, Literals]:
    from inplace_fix.analysis.expressions import compare

    value = compare(m, node)
    truth = truth_of(value)
    if truth is not None:
        return truth, [], []
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(right, ast.Constant) and isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        left = _peek(m, node.left)
        if isinstance(left, Unknown):
            _remember(m, left)
            key: Hashable = ("equals", id(left), repr(right.value))
            positive = isinstance(operator, (ast.Is, ast.Eq))
            return None, [(key, int(positive))], [(key, int(not positive))]
        if isinstance(left, Choice) and right.value is None:
            nones = [(guard, isinstance(part, Const) and part.value is None) for guard, part in left.options]
            if len(nones) == 2 and nones[0][1] != nones[1][1] and len(nones[0][0]) == 1:
                branch, arm = next(iter(nones[0][0].items()))
                if arm in (0, 1):
                    is_none = [(branch, arm if nones[0][1] else 1 - arm)]
                    not_none = [(branch, 1 - arm if nones[0][1] else arm)]
                    positive = isinstance(operator, (ast.Is, ast.Eq))
                    return None, *((is_none, not_none) if positive else (not_none, is_none))
    key = m.branch()
    return None, [(key, 1)], [(key, 0)]


def _peek(m: Machine, node: ast.expr) -> Value | None:
    """A plain place read again without effects, None for anything else."""
    from inplace_fix.analysis.expressions import evaluate

    if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _peek(m, node.value) is not None):
        return evaluate(m, node)
    return None


def truth_of(value: Value) -> bool | None:
    """Whether a value is true, None where that is open."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, (Module, Function, Instance)):
        return True
    if isinstance(value, ListValue) and value.exact:
        return bool(value.cells) or None
    return None
