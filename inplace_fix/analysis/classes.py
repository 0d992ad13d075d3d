"""Definitions: functions with their decorators, classes with their bodies, context managers on entry."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from inplace_fix.analysis import calls
from inplace_fix.analysis.conditions import Cell
from inplace_fix.analysis.facts import Frame
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.values import (
    Bound,
    Class,
    Const,
    Context,
    Extern,
    Function,
    Instance,
    Native,
    Unknown,
    Value,
    options,
)

WRAPPERS = {"property": "property", "staticmethod": "static", "classmethod": "class"}
REMEMBERING = ("lru_cache", "cache", "cached_property")


def function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Value:
    """A function value with its defaults evaluated and its decorators applied, innermost first."""
    from inplace_fix.analysis.expressions import evaluate

    assert m.frame is not None
    frame = m.frame
    scopes = (frame.cells, *frame.closure) if frame.function is not None else (frame.cells,)
    in_class = m.class_scope
    if in_class is frame.cells:
        scopes = frame.closure or (frame.cells,)
    made = Function(node, frame.unit, scopes)
    ordered = [*node.args.posonlyargs, *node.args.args]
    for parameter, default in zip(ordered[len(ordered) - len(node.args.defaults) :], node.args.defaults, strict=True):
        made.defaults[parameter.arg] = evaluate(m, default)
    for parameter, keyword_default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if keyword_default is not None:
            made.defaults[parameter.arg] = evaluate(m, keyword_default)
    result: Value = made
    if not isinstance(node, ast.Lambda):
        for decorator in reversed(node.decorator_list):
            result = decorated(m, evaluate(m, decorator), result, decorator)
    return result


def decorated(m: Machine, decorator: Value, target: Value, node: ast.expr) -> Value:
    """Apply one decorator; one from outside that is not known is taken to give the function back."""
    if isinstance(decorator, Context) and isinstance(target, Function):
        return replace(target, grad=decorator.grad, inference=decorator.inference)
    if isinstance(decorator, Extern):
        name = decorator.name.rsplit(".", 1)[-1]
        if isinstance(target, Function):
            if name in WRAPPERS:
                return replace(target, kind=WRAPPERS[name])
            if name in REMEMBERING:
                return replace(target, cached=True, kind="property" if name == "cached_property" else target.kind)
            if name in ("no_grad", "inference_mode"):
                return replace(target, grad=False, inference=name == "inference_mode")
            if name == "enable_grad":
                return replace(target, grad=True)
        return target
    if isinstance(decorator, (Function, Native)):
        result = calls.call(m, decorator, calls.Arguments([(target, node)]), node)
        return result if not isinstance(result, Unknown) else target
    if isinstance(decorator, Bound) and decorator.name in ("setter", "deleter"):
        return decorator.owner
    return target


def define(m: Machine, node: ast.ClassDef, run_block: Callable[[Machine, Sequence[ast.stmt]], str]) -> Value:
    """A class: bases evaluated, body run in a scope of its own."""
    from inplace_fix.analysis.expressions import evaluate

    assert m.frame is not None
    outer = m.frame
    bases = tuple(part for base in node.bases for _, part in options(evaluate(m, base))[:1])
    cells: dict[str, Cell] = {}
    scopes = (outer.cells, *outer.closure) if outer.function is not None else (outer.cells,)
    cls = Class(node, outer.unit, bases, cells, scopes)
    saved = m.frame, m.class_scope
    m.frame = Frame(outer.unit, node, node.name, cells, parent=outer, closure=scopes)
    m.class_scope = cells
    try:
        run_block(m, node.body)
    finally:
        m.frame, m.class_scope = saved
    for cell in cells.values():
        cell.kind = "class"
        cell.label = f"{node.name}.{cell.label}"
        for _, value, _ in cell.bindings:
            if isinstance(value, Function):
                value.owner = cls
    return cls


def entered(m: Machine, value: Value, node: ast.AST) -> Value:
    """What ``with value as target`` binds: the object itself for objects of the source, unknown for the rest."""
    for _, part in options(value):
        if isinstance(part, Instance):
            return part
        if isinstance(part, Const):
            return part
    return Unknown()
