"""Carries out the steps of one file: plans all of them, then rewrites the tree in a single pass."""

from __future__ import annotations

import symtable
import warnings
from collections.abc import Sequence, Set

import libcst as cst

from codemods import (
    clone_before,
    clone_expression,
    drop_flag,
    functional_store,
    list_and_stack,
    no_grad,
    out_argument,
    out_of_place_assign,
    out_of_place_call,
    replace_expression,
    scalar_first,
)
from codemods.layout import lay_out
from codemods.lossless import carried_over, shifted
from codemods.places import SUITES, Trail, Tree
from codemods.plan import Plan
from codemods.steps import CannotRewrite, Span, Step
from codemods.ways import MoveAllError

# In this order they are applied where several meet in one construct: what changes arguments, what changes the call,
# what uses its value, what changes the statement, what surrounds it.
FORMS = (
    scalar_first,
    drop_flag,
    out_argument,
    out_of_place_call,
    replace_expression,
    clone_expression,
    functional_store,
    out_of_place_assign,
    clone_before,
    list_and_stack,
    no_grad,
)
_TOO_DEEP = "the expressions of this file are nested too deeply"
# Forms of which one construct takes only one: each turns it into something else.
_EXCLUSIVE = (out_of_place_call, replace_expression, functional_store, out_of_place_assign, list_and_stack)


class Rewriter:
    """One source file, parsed once, to which different sets of steps can be applied one after another."""

    def __init__(self, source: str) -> None:
        self.source = source
        try:
            module = cst.parse_module(source)
        except cst.ParserSyntaxError as error:
            place = Span(error.raw_line, error.raw_column, error.raw_line, error.raw_column)
            raise CannotRewrite(place, f"the file does not parse: {error.message}") from error
        try:
            self.tree = Tree(module)
            self.written = self.tree.write(module)
        except RecursionError as error:
            raise CannotRewrite(Span(1, 0, 1, 0), _TOO_DEEP) from error

    def apply(self, steps: Sequence[Step]) -> str:
        """The source with all steps carried out; raises ``CannotRewrite``, and then none is."""
        if not steps:
            return self.source
        lossless = self.written == self.source
        located = steps if lossless else [shifted(step, self.source, self.written) for step in steps]
        try:
            result = self.tree.write(rewrite_tree(self.tree, located))
        except cst.CSTValidationError as error:
            raise CannotRewrite(
                steps[0].span, f"the layout leaves no room for what would be written: {error}"
            ) from error
        except RecursionError as error:
            raise CannotRewrite(steps[0].span, _TOO_DEEP) from error
        if not lossless:
            result = carried_over(self.source, self.written, result, steps[0].span)
        problem = _problem(result)
        if problem and not _problem(self.source):
            raise CannotRewrite(steps[0].span, f"the rewritten file would not compile: {problem}")
        return result


def rewrite_tree(tree: Tree, steps: Sequence[Step]) -> cst.Module:
    """The module with all steps carried out; raises ``CannotRewrite``."""
    ranked: list[tuple[int, Step, Trail]] = []
    for step in dict.fromkeys(steps):
        rank, form = next((rank, form) for rank, form in enumerate(FORMS) if isinstance(step, form.STEP))
        ranked.append((rank, step, tree.find(step.span, form.ACCEPTS, form.WHAT)))
    ranked.sort(key=lambda item: (item[0], item[1].span))
    _check_conflicts(ranked)
    emptied: set[cst.CSTNode] = set()
    while True:
        try:
            changed = tree.module.visit(_Apply(_planned(tree, ranked, emptied)))
        except MoveAllError as error:
            emptied.add(error.statement)
        else:
            return changed


def _planned(tree: Tree, ranked: Sequence[tuple[int, Step, Trail]], emptied: Set[cst.CSTNode]) -> Plan:
    plan = Plan(tree, emptied)
    for _, step, trail in ranked:
        plan.locate(step, trail)
    for rank, step, trail in ranked:
        FORMS[rank].plan_step(plan, trail, step)
    return plan


def _check_conflicts(ranked: Sequence[tuple[int, Step, Trail]]) -> None:
    """No construct is turned into two things, and none that disappears holds another step."""
    taken: dict[cst.CSTNode, Step] = {}
    for rank, step, trail in ranked:
        if FORMS[rank] in _EXCLUSIVE and not isinstance(step, list_and_stack.STEP):
            if trail[-1] in taken:
                raise CannotRewrite(step.span, "two steps would turn this construct into different things")
            taken[trail[-1]] = step
        if FORMS[rank] is replace_expression and any(trail[-1] in other[:-1] for _, _, other in ranked):
            raise CannotRewrite(step.span, "another step rewrites a part of the expression that is replaced")


class _Apply(cst.CSTTransformer):
    """Applies a plan bottom-up; what no step touches is not even visited."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self.plan.touched

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if original_node not in self.plan.touched:
            return updated_node
        for change in self.plan.changes.get(original_node, ()):
            updated_node = change(updated_node)
        if isinstance(original_node, SUITES):
            return lay_out(original_node, updated_node, self.plan)
        return updated_node


def _problem(source: str) -> str:
    """Why a source does not compile as far as its symbol table, "" where it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            symtable.symtable(source, "<rewritten>", "exec")
        except (SyntaxError, ValueError) as error:
            return str(error)
    return ""
