"""Finds the node that a span speaks of, with everything that encloses it.

A ``Trail`` is the way from the module down to a node: the module first, the node last. Spans may be those of the
standard library's ``ast`` or LibCST's own; the two differ where an expression stands in parentheses; both are taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from codemods.steps import CannotRewrite, Span

Trail = tuple[cst.CSTNode, ...]
Accepts = Callable[[cst.CSTNode], bool]

SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Module)
SUITES = (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite)
WORD = re.compile(r"\w+")


def is_call(node: cst.CSTNode) -> bool:
    """Whether the node is a call."""
    return isinstance(node, cst.Call)


def is_expression(node: cst.CSTNode) -> bool:
    """Whether the node is an expression of any kind."""
    return isinstance(node, cst.BaseExpression)


def is_statement(node: cst.CSTNode) -> bool:
    """Whether the node is one statement; a whole line of statements is none."""
    return isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement)


class Tree:
    """A parsed module and the places of its nodes; built once for all steps of a file."""

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self._ranges: Mapping[cst.CSTNode, CodeRange] = wrapper.resolve(PositionProvider)

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, without the indentation of the block that it stands in."""
        return self.module.code_for_node(node)

    def find(self, span: Span, accepts: Accepts, what: str) -> Trail:
        """The outermost node of the wanted kind that fills exactly ``span``; raises ``CannotRewrite`` for none."""
        trail = self._search((self.module,), _ends(span), accepts)
        if trail is None:
            raise CannotRewrite(span, f"there is no {what} at line {span.line}, column {span.column + 1}")
        return trail

    def starting_at(self, line: int, column: int | None, accepts: Accepts) -> list[Span]:
        """The spans of all nodes of a kind that begin on a line, at a column where one is given; in source order."""
        found = set()
        for node, place in self._ranges.items():
            if place.start.line == line and accepts(node) and (column is None or place.start.column == column):
                found.add(Span(line, place.start.column, place.end.line, place.end.column))
        return sorted(found)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands, without its parentheses."""
        place = self._ranges[node]
        return Span(place.start.line, place.start.column, place.end.line, place.end.column)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the file, comments and strings included, as Python compares names (NFKC)."""
        return frozenset(WORD.findall(unicodedata.normalize("NFKC", self.module.code)))

    def _search(self, trail: Trail, ends: tuple[tuple[int, int], tuple[int, int]], accepts: Accepts) -> Trail | None:
        for child in trail[-1].children:
            ranges = list(self._extents(child))
            if not ranges:
                continue
            if ends in ranges and accepts(child):
                return (*trail, child)
            # A suite's range leaves out the decorators of its first statement, a parameter's its default: both are
            # entered unseen.
            inside = isinstance(child, (*SUITES, cst.Param)) or (ranges[-1][0] <= ends[0] and ends[1] <= ranges[-1][1])
            if inside:
                found = self._search((*trail, child), ends, accepts)
                if found is not None:
                    return found
        return None

    def _extents(self, node: cst.CSTNode) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """The node's range, then its range with one, two ... pairs of its parentheses, the widest last."""
        place = self._ranges.get(node)
        if place is None:
            return
        start = (place.start.line, place.start.column)
        end = (place.end.line, place.end.column)
        yield start, end
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
            first = self._ranges[node.decorators[0]].start
            yield (first.line, first.column), end
        lpar, rpar = getattr(node, "lpar", ()), getattr(node, "rpar", ())
        if isinstance(node, cst.BaseExpression) and lpar:
            for left, right in zip(reversed(lpar), rpar, strict=True):
                opening, closing = self._ranges[left].start, self._ranges[right].end
                yield (opening.line, opening.column), (closing.line, closing.column)


def _ends(span: Span) -> tuple[tuple[int, int], tuple[int, int]]:
    return (span.line, span.column), (span.end_line, span.end_column)


def statement_index(trail: Trail) -> int:
    """The position in the trail of the innermost statement that holds the last node (itself, if it is one)."""
    for index in range(len(trail) - 1, -1, -1):
        if is_statement(trail[index]):
            return index
    raise AssertionError("every expression of a module stands in a statement")


def scope_index(trail: Trail) -> int:
    """The position in the trail of the innermost function, class or module whose body holds the last node."""
    for index in range(len(trail) - 2, 0, -1):
        if isinstance(trail[index], cst.FunctionDef | cst.ClassDef) and trail[index + 1] is trail[index].body:  # type: ignore[attr-defined]
            return index
    return 0
