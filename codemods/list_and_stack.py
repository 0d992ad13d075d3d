"""Rewrites a buffer filled row by row in a loop to a list that is stacked after the loop: linear, and nothing in place.

    out = torch.zeros(T, B, H)                  out_rows = []
    for t in range(T):                          for t in range(T):
        out[t] = h                                  out_rows.append(h)
                                                out = torch.stack(out_rows)

The syntax is checked here (one store on every way through the loop body, no other use of the buffer until the loop
ends). That the rows have the buffer's dtype and shape, are all written, and are not changed afterwards is the caller's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import libcst as cst

from codemods.command import StepCommand
from codemods.places import Trail, is_statement, scope_index
from codemods.plan import Plan
from codemods.steps import CannotRewrite, ListAndStack, Span
from codemods.syntax import mentions, normal, walk
from codemods.torch_name import known_torch

STEP = ListAndStack
WHAT = "for loop"


def is_loop(node: cst.CSTNode) -> bool:
    """Whether the node is a for loop."""
    return isinstance(node, cst.For)


ACCEPTS = is_loop


def plan_step(plan: Plan, trail: Trail, step: ListAndStack) -> None:
    """Plan the rewrite of one loop, its buffer's creation and its stores."""
    loop = trail[-1]
    assert isinstance(loop, cst.For)
    creation = plan.tree.find(step.creation, is_statement, "statement")
    stores = [plan.tree.find(span, is_statement, "statement") for span in step.stores]
    _check_creation(trail, creation, step)
    _check_loop(loop, step)
    if not stores:
        raise CannotRewrite(step.span, "no statement stores a row")
    for store in stores:
        _check_store(plan, loop, store, step)
    _check_once(loop, stores, step)
    _check_uses(trail, creation, stores, step)
    torch = known_torch(plan, step.torch, step.span)
    rows = plan.fresh_name(f"{step.buffer}_rows")
    plan.change(creation, lambda updated: _assign(rows, cst.List([]), updated.semicolon))
    for store in stores:
        plan.change(store, lambda updated: _append(rows, updated))
    dim = "" if step.dim == 0 else f", dim={step.dim}"
    stacked = cst.parse_expression(f"{torch}.stack({rows}{dim})")
    plan.insert_after(trail, step.span).statements.append(_assign(step.buffer, stacked, cst.MaybeSentinel.DEFAULT))


def _assign(name: str, value: cst.BaseExpression, semicolon: cst.Semicolon | cst.MaybeSentinel) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(cst.Name(name))], value, semicolon=semicolon)


def _append(rows: str, store: cst.Assign) -> cst.Expr:
    value = store.value
    if isinstance(value, cst.Tuple) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    call = cst.Call(cst.Attribute(cst.Name(rows), cst.Name("append")), [cst.Arg(value)])
    return cst.Expr(call, semicolon=store.semicolon)


def _check_creation(trail: Trail, creation: Trail, step: ListAndStack) -> None:
    made = creation[-1]
    targets = [made.target] if isinstance(made, cst.AnnAssign) else []
    if isinstance(made, cst.Assign):
        targets = [one.target for one in made.targets]
    if len(targets) != 1 or not _is_name(targets[0], step.buffer):
        raise CannotRewrite(step.creation, f"this statement does not make {step.buffer} and nothing else")
    suite = trail[-2]
    if suite not in creation or not isinstance(suite, cst.Module | cst.IndentedBlock):
        raise CannotRewrite(step.creation, f"{step.buffer} is not made in the block that holds the loop")
    depth = creation.index(suite)
    if len(creation) - depth != 3 or suite.body.index(creation[depth + 1]) >= suite.body.index(trail[-1]):
        raise CannotRewrite(step.creation, f"{step.buffer} is not made before the loop in the same block")


def _check_loop(loop: cst.For, step: ListAndStack) -> None:
    if loop.asynchronous is not None or loop.orelse is not None:
        raise CannotRewrite(step.span, "the loop is asynchronous or has an else")
    for node in _own(loop.body):
        if isinstance(node, cst.Continue | cst.Return):
            raise CannotRewrite(step.span, "the loop can skip a row or end early (continue or return)")
    if any(isinstance(node, cst.Break) for node in _own(loop.body)):
        raise CannotRewrite(step.span, "the loop can end early (break)")
    iterable = loop.iter
    if isinstance(iterable, cst.Call) and isinstance(iterable.func, cst.Name):
        name, args = iterable.func.value, iterable.args
        starts_at_zero = len(args) < 2 or (isinstance(args[0].value, cst.Integer) and args[0].value.value == "0")
        if name == "range" and (len(args) > 2 or not starts_at_zero):
            raise CannotRewrite(step.span, "the loop does not count every row from 0")
        if name == "enumerate" and len(args) != 1:
            raise CannotRewrite(step.span, "the loop does not count every row from 0")
        if name == "reversed":
            raise CannotRewrite(step.span, "the loop does not count every row from 0 upwards")


def _check_store(plan: Plan, loop: cst.For, store: Trail, step: ListAndStack) -> None:
    span = plan.tree.span(store)
    statement = store[-1]
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        raise CannotRewrite(span, "a row is not stored by a plain assignment")
    target = statement.targets[0].target
    if not isinstance(target, cst.Subscript) or not _is_name(target.value, step.buffer):
        raise CannotRewrite(span, f"this does not store a row of {step.buffer}")
    if loop not in store:
        raise CannotRewrite(span, "a row is stored outside the loop")
    if mentions(statement.value, [normal(step.buffer)]):
        raise CannotRewrite(span, f"{step.buffer} is read while it is filled")
    index = target.slice[step.dim] if step.dim < len(target.slice) else None
    counter = _counter(loop)
    if (
        index is None
        or not isinstance(index.slice, cst.Index)
        or counter is None
        or not _is_name(index.slice.value, counter)
    ):
        raise CannotRewrite(span, "the row is not stored at the loop's own index")
    others = [element.slice for place, element in enumerate(target.slice) if place != step.dim]
    if not all(_is_full(other) for other in others):
        raise CannotRewrite(span, "only a part of the row is stored")


def _is_full(part: cst.BaseSlice) -> bool:
    if isinstance(part, cst.Slice):
        return part.lower is None and part.upper is None and part.step is None
    return isinstance(part, cst.Index) and isinstance(part.value, cst.Ellipsis)


def _counter(loop: cst.For) -> str | None:
    """The loop's index variable: the target, or the first of the two that ``enumerate`` gives."""
    target: cst.CSTNode = loop.target
    if isinstance(target, cst.Tuple) and _is_enumerate(loop.iter) and len(target.elements) == 2:
        target = target.elements[0].value
    return target.value if isinstance(target, cst.Name) else None


def _is_enumerate(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "enumerate"


def _check_once(loop: cst.For, stores: Sequence[Trail], step: ListAndStack) -> None:
    """Every way through the body stores exactly one row."""
    wanted = {store[-1] for store in stores}
    if _count(loop.body, wanted) != 1:
        raise CannotRewrite(step.span, "the row is not stored exactly once in every round")
    counter = _counter(loop)
    for node in _own(loop.body):
        if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.NamedExpr) and _is_name(node.target, counter or ""):
            raise CannotRewrite(step.span, "the loop's index is assigned to in the loop")


def _count(node: cst.CSTNode, wanted: set[cst.CSTNode]) -> int | None:
    """How many of the wanted statements run in one pass, None where that depends."""
    if node in wanted:
        return 1
    if isinstance(node, cst.If):
        other = 0 if node.orelse is None else _count(node.orelse, wanted)
        return other if other == _count(node.body, wanted) else None
    if isinstance(node, cst.With | cst.Else | cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine):
        parts = node.body if isinstance(node.body, Sequence) else [node.body]
        counts = [_count(part, wanted) for part in parts]
        return None if any(count is None for count in counts) else sum(count or 0 for count in counts)
    return None if any(part in wanted for part in walk(node)) else 0


def _check_uses(trail: Trail, creation: Trail, stores: Sequence[Trail], step: ListAndStack) -> None:
    names = [normal(step.buffer)]
    suite, loop = trail[-2], trail[-1]
    assert isinstance(suite, cst.Module | cst.IndentedBlock)
    assert isinstance(loop, cst.For)
    made = next(part for part in creation if part in suite.body)
    between = suite.body[suite.body.index(made) + 1 : suite.body.index(loop)]
    if any(mentions(line, names) for line in between):
        raise CannotRewrite(step.span, f"{step.buffer} is used between its creation and the loop")
    line = creation[-2]
    if isinstance(line, cst.SimpleStatementLine):
        others = [part for part in line.body if part is not creation[-1]]
        if any(mentions(part, names) for part in others):
            raise CannotRewrite(step.span, f"{step.buffer} is used beside its creation")
    targets = {store[-1].targets[0].target.value for store in stores if isinstance(store[-1], cst.Assign)}  # type: ignore[attr-defined]
    uses = [node for node in walk(loop) if _is_name(node, step.buffer) and node not in targets]
    if uses:
        raise CannotRewrite(step.span, f"{step.buffer} is used in the loop otherwise than to store a row")
    scope = trail[scope_index(trail)]
    inner = [node for node in walk(scope) if isinstance(node, cst.FunctionDef | cst.Lambda) and node is not scope]
    if any(mentions(node.body, names) for node in inner) and isinstance(scope, cst.FunctionDef):
        raise CannotRewrite(step.span, f"an inner function uses {step.buffer}")


def _own(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Everything below a node that is not in a function or a loop of its own (whose break is not ours)."""
    out: list[cst.CSTNode] = []
    for child in node.children:
        if isinstance(child, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            continue
        out.append(child)
        inner = _own(child)
        if isinstance(child, cst.For | cst.While):
            inner = [part for part in inner if not isinstance(part, cst.Break | cst.Continue)]
        out.extend(inner)
    return out


def _is_name(node: cst.CSTNode | None, name: str) -> bool:
    return isinstance(node, cst.Name) and normal(node.value) == normal(name)


class ListAndStackCommand(StepCommand):
    """``list_and_stack.ListAndStackCommand``"""

    DESCRIPTION = "Turn the buffer that the loop at a position fills into a list that is stacked after it."
    accepts = staticmethod(is_loop)
    what = WHAT

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Position of the loop, the buffer, and the places of its creation and stores."""
        StepCommand.add_args(arg_parser)
        arg_parser.add_argument("--buffer", required=True, help="the buffer's name")
        arg_parser.add_argument("--creation", required=True, help="its creation as LINE:COLUMN-LINE:COLUMN")
        arg_parser.add_argument("--store", action="append", required=True, help="a store, in the same form; repeatable")
        arg_parser.add_argument("--dim", type=int, default=0, help="the dimension of the loop index")
        arg_parser.add_argument("--torch", default="torch", help="torch's name in the file; '' to have it imported")

    def step(self, span: Span) -> ListAndStack:
        """The step that the command line asks for."""
        stores = self.options.get("store")
        assert isinstance(stores, list)
        return ListAndStack(
            span,
            self.text("buffer"),
            _span(self.text("creation")),
            tuple(_span(one) for one in stores),
            int(self.text("dim") or 0),
            self.text("torch"),
        )


def _span(text: str) -> Span:
    start, _, end = text.partition("-")
    line, _, column = start.partition(":")
    end_line, _, end_column = end.partition(":")
    return Span(int(line), int(column) - 1, int(end_line), int(end_column) - 1)
