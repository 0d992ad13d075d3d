"""Carries out the steps of one file: plans all of them, then rewrites the tree in a single pass."""

from __future__ import annotations

import difflib
import re
import symtable
import warnings
from collections.abc import Sequence
from dataclasses import replace

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
from codemods.places import SUITES, Trail, Tree
from codemods.plan import Plan
from codemods.steps import CannotRewrite, Span, Step

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
LINE = re.compile(r".*?(?:\r\n|\r|\n|\Z)", re.DOTALL)


def rewrite(source: str, steps: Sequence[Step]) -> str:
    """The source with all steps carried out; raises ``CannotRewrite``, and then none is."""
    if not steps:
        return source
    try:
        module = cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        raise CannotRewrite(steps[0].span, f"the file does not parse: {error.message}") from error
    written = module.code
    if written == source:
        return _checked(source, rewrite_module(module, steps).code, steps)
    # LibCST drops form feeds at the start of a line and one lone carriage return at the end of a file.
    steps = [_shifted(step, source, written) for step in steps]
    return _checked(source, _carried_over(source, written, rewrite_module(module, steps).code), steps)


def rewrite_module(module: cst.Module, steps: Sequence[Step]) -> cst.Module:
    """The module with all steps carried out; raises ``CannotRewrite``. The tree must have no node twice."""
    tree = Tree(module)
    plan = Plan(tree)
    located: list[tuple[int, Step, Trail]] = []
    for step in dict.fromkeys(steps):
        rank, form = next((rank, form) for rank, form in enumerate(FORMS) if isinstance(step, form.STEP))
        trail = tree.find(step.span, form.ACCEPTS, form.WHAT)
        plan.steps.setdefault(trail[-1], []).append(step)
        located.append((rank, step, trail))
    located.sort(key=lambda item: (item[0], item[1].span))
    for rank, step, trail in located:
        FORMS[rank].plan_step(plan, trail, step)
    changed = module.visit(_Apply(plan))
    assert isinstance(changed, cst.Module)
    return changed


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


def _checked(source: str, result: str, steps: Sequence[Step]) -> str:
    """The result, if it compiles as far as the symbol table whenever the source does; raises ``CannotRewrite``."""
    problem = _problem(result)
    if problem and not _problem(source):
        raise CannotRewrite(steps[0].span, f"the rewritten file would not compile: {problem}")
    return result


def _problem(source: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            symtable.symtable(source, "<rewritten>", "exec")
        except (SyntaxError, ValueError) as error:
            return str(error)
    return ""


def _lines(text: str) -> list[str]:
    return [line for line in LINE.findall(text) if line]


def _shifted(step: Step, source: str, written: str) -> Step:
    """The step with its columns counted in LibCST's own text, in which form feeds at the start of a line are gone."""
    old, new = _lines(source), _lines(written)

    def column(line: int, column: int) -> int:
        lost = old[line - 1].count("\f", 0, column) - new[line - 1].count("\f", 0, column) if line <= len(new) else 0
        return column - max(lost, 0)

    span = step.span
    moved = Span(span.line, column(span.line, span.column), span.end_line, column(span.end_line, span.end_column))
    return replace(step, span=moved)


def _carried_over(source: str, written: str, result: str) -> str:
    """The lines that changed between ``written`` and ``result``, taken over into ``source``."""
    ours, before, after = _lines(source), _lines(written), _lines(result)
    out: list[str] = []
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        out.extend(ours[start:end] if kind == "equal" else after[new_start:new_end])
    out.extend(ours[len(before) :])
    return "".join(out)
