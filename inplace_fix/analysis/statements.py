"""Statements: what each does to names, heap, path condition and grad mode."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from inplace_fix.analysis import classes, iteration, names, writes
from inplace_fix.analysis.augmented import augmented
from inplace_fix.analysis.branches import test
from inplace_fix.analysis.expressions import evaluate
from inplace_fix.analysis.machine import MOST_ROUNDS, Machine
from inplace_fix.analysis.values import NONE, Context, Unknown, Value, options

# How a block ended: "" where execution goes on after it, else return, raise, break or continue.
Flow = str
ENDS: dict[type[ast.stmt], Flow] = {
    ast.Return: "return",
    ast.Raise: "return",
    ast.Break: "break",
    ast.Continue: "continue",
}


def run_block(m: Machine, body: Sequence[ast.stmt]) -> Flow:
    """Run statements until one leaves the block for certain."""
    for statement in body:
        flow = run_statement(m, statement)
        if flow:
            return flow
    return ""


def run_statement(m: Machine, statement: ast.stmt) -> Flow:
    """Run one statement."""
    m.step()
    before = m.statement
    m.statement = statement
    try:
        handler = HANDLERS.get(type(statement))
        return handler(m, statement) if handler else ""
    finally:
        m.statement = before


def ending(body: Sequence[ast.stmt]) -> Flow:
    """How a block leaves on every path, read off its last statement; "" where it may go on."""
    if not body:
        return ""
    last = body[-1]
    if isinstance(last, ast.If):
        return ending(last.body) and ending(last.orelse)
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return ending(last.body)
    return ENDS.get(type(last), "")


def _expression(m: Machine, node: ast.Expr) -> Flow:
    evaluate(m, node.value)
    return ""


def _assign(m: Machine, node: ast.Assign) -> Flow:
    writes.check_swap(m, node)
    value = evaluate(m, node.value)
    for target in node.targets:
        assign(m, target, value, node)
    return ""


def _annotated(m: Machine, node: ast.AnnAssign) -> Flow:
    if node.value is not None:
        assign(m, node.target, evaluate(m, node.value), node)
    return ""


def _augmented(m: Machine, node: ast.AugAssign) -> Flow:
    augmented(m, node)
    return ""


def assign(m: Machine, target: ast.expr, value: Value, node: ast.stmt | ast.expr) -> None:
    """Bind a target to a value: a name, an attribute, a slot, or a pattern of these."""
    if isinstance(target, ast.Name):
        names.bind(m, target.id, value)
    elif isinstance(target, ast.Attribute):
        writes.set_attribute(m, target, value, node)
    elif isinstance(target, ast.Subscript):
        writes.store(m, target, value, node)
    elif isinstance(target, (ast.Tuple, ast.List)):
        unpack(m, target, value, node)
    elif isinstance(target, ast.Starred):
        assign(m, target.value, value, node)


def unpack(m: Machine, target: ast.Tuple | ast.List, value: Value, node: ast.stmt | ast.expr) -> None:
    """Bind the parts of a value to the parts of a pattern."""
    count = len(target.elts)
    star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
    parts = iteration.unpacked(m, value, count, star, node)
    for part, element in zip(parts, target.elts, strict=True):
        assign(m, element, part, node)


def _delete(m: Machine, node: ast.Delete) -> Flow:
    for target in node.targets:
        if isinstance(target, ast.Name):
            names.bind(m, target.id, Unknown(target.id))
    return ""


def _return(m: Machine, node: ast.Return) -> Flow:
    value = evaluate(m, node.value) if node.value is not None else NONE
    names.returned(m, value)
    return "return"


def _raise(m: Machine, node: ast.Raise) -> Flow:
    return "return"


def _if(m: Machine, node: ast.If) -> Flow:
    truth, yes, no = test(m, node.test)
    if truth is not None:
        return run_block(m, node.body if truth else node.orelse)
    leaves = [ending(node.body), ending(node.orelse)]
    for index, (body, literals) in enumerate(((node.body, yes), (node.orelse, no))):
        if leaves[index]:
            key = m.exit(leaves[index])
            with m.arm(*literals, (key, 0)):
                run_block(m, body)
            m.condition = {**m.condition, key: 1}
        elif body:
            with m.arm(*literals):
                run_block(m, body)
    return leaves[0] if all(leaves) else ""


def _for(m: Machine, node: ast.For | ast.AsyncFor) -> Flow:
    rounds = iteration.items(m, evaluate(m, node.iter), node)
    before = m.condition
    for item in rounds:
        m.step()
        assign(m, node.target, item, node)
        flow = run_block(m, node.body)
        m.rejoin(before, "continue")
        if flow in ("break", "return"):
            break
    m.rejoin(before, "break", "continue")
    run_block(m, node.orelse)
    return ""


def _while(m: Machine, node: ast.While) -> Flow:
    before = m.condition
    for _ in range(MOST_ROUNDS):
        truth, _, _ = test(m, node.test)
        if truth is False:
            break
        flow = run_block(m, node.body)
        m.rejoin(before, "continue")
        if flow in ("break", "return"):
            break
    m.rejoin(before, "break", "continue")
    run_block(m, node.orelse)
    return ""


def _with(m: Machine, node: ast.With | ast.AsyncWith) -> Flow:
    return _with_items(m, node, 0)


def _with_items(m: Machine, node: ast.With | ast.AsyncWith, index: int) -> Flow:
    if index == len(node.items):
        return run_block(m, node.body)
    item = node.items[index]
    value = evaluate(m, item.context_expr)
    context = next((v for _, v in options(value) if isinstance(v, Context)), None)
    if item.optional_vars is not None:
        entered = context.entered if context else classes.entered(m, value, node)
        assign(m, item.optional_vars, entered or Unknown(), node)
    if context is None:
        return _with_items(m, node, index + 1)
    grad = context.grad if len(options(value)) == 1 else None
    with m.grad_mode(m.grad if context.entered is not None else grad, m.inference or context.inference):
        return _with_items(m, node, index + 1)


def _try(m: Machine, node: ast.Try) -> Flow:
    before = m.condition
    flow = run_block(m, node.body)
    if not flow:
        flow = run_block(m, node.orelse)
    for handler in node.handlers:
        # what the handler does happens instead of what the body would have gone on to do
        m.condition = before
        with m.arm((m.branch(), 1)):
            if handler.name:
                names.bind(m, handler.name, Unknown(handler.name))
            if run_block(m, handler.body) == "":
                flow = ""
    m.condition = before
    return run_block(m, node.finalbody) or flow


def _match(m: Machine, node: ast.Match) -> Flow:
    subject = evaluate(m, node.subject)
    key = m.branch()
    for number, case in enumerate(node.cases):
        with m.arm((key, number)):
            for name in _captures(case.pattern):
                names.bind(m, name, subject if isinstance(case.pattern, ast.MatchAs) else Unknown(name))
            run_block(m, case.body)
    return ""


def _captures(pattern: ast.pattern) -> list[str]:
    return [p.name for p in ast.walk(pattern) if isinstance(p, (ast.MatchAs, ast.MatchStar)) and p.name]


def _function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Flow:
    names.bind(m, node.name, classes.function(m, node))
    return ""


def _class(m: Machine, node: ast.ClassDef) -> Flow:
    names.bind(m, node.name, classes.define(m, node, run_block))
    return ""


def _import(m: Machine, node: ast.Import | ast.ImportFrom) -> Flow:
    names.imported(m, node, run_block)
    return ""


def _declared(m: Machine, node: ast.Global | ast.Nonlocal) -> Flow:
    names.declare(m, node)
    return ""


def _assert(m: Machine, node: ast.Assert) -> Flow:
    test(m, node.test)
    return ""


HANDLERS: dict[type[ast.stmt], Callable[[Machine, Any], Flow]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Global: _declared,
    ast.Nonlocal: _declared,
    ast.Assert: _assert,
}

if hasattr(ast, "TryStar"):  # Python 3.11
    HANDLERS[ast.TryStar] = _try
