"""Finds the node that a span speaks of, with everything that encloses it.

A ``Trail`` is the way from the module down to a node: the module first, the node last. Spans may be those of the
standard library's ``ast`` or LibCST's own; the two differ where an expression stands in parentheses; both are taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from codemods.steps import CannotRewrite, Span

Trail = tuple[cst.CSTNode, ...]
Accepts = Callable[[cst.CSTNode], bool]

SUITES = (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite)
Ends = tuple[tuple[int, int], tuple[int, int]]
WORD = re.compile(r"\w+")
NEWLINE = re.compile(r"\r\n?|\n")
LINE_END = re.compile(r"(?:\r\n|\r|\n)\Z")


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
    """A parsed module, its text and the places of its nodes; built once for all steps of a file.

    Places are worked out for a top-level statement when a span falls into it, and its text is written once: most of a
    file is in no plan, and LibCST's code generation is what rewriting costs.
    """

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        self._header = "".join(self.code(line) for line in module.header)
        self._texts: dict[cst.CSTNode, str] = {line: self.code(line) for line in module.body}
        self._ranges: dict[cst.CSTNode, Mapping[cst.CSTNode, CodeRange]] = {}
        self._lines_before: dict[cst.CSTNode, int] = {}
        count = _line_ends(self._header)
        for line, text in self._texts.items():
            self._lines_before[line] = count
            count += _line_ends(text)

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, without the indentation of the block that it stands in."""
        return self.module.code_for_node(node)

    def write(self, module: cst.Module) -> str:
        """The text of this module or of one made from it; what was left alone is not generated again."""
        parts = [self._header]
        for line in module.body:
            text = self._texts.get(line)
            parts.append(self.code(line) if text is None else text)
        parts.extend(self.code(line) for line in module.footer)
        text = "".join(parts)
        if not module.has_trailing_newline:
            return LINE_END.sub("", text)
        return text or module.default_newline

    def find(self, span: Span, accepts: Accepts, what: str) -> Trail:
        """The outermost node of the wanted kind that fills exactly ``span``; raises ``CannotRewrite`` for none."""
        for line, before in self._lines_before.items():
            if before < span.line <= before + _line_ends(self._texts[line]):
                ends = (span.line - before, span.column), (span.end_line - before, span.end_column)
                trail = _search((self.module,), [line], self._ranges_in(line), ends, accepts)
                if trail is not None:
                    return trail
        raise CannotRewrite(span, f"there is no {what} at line {span.line}, column {span.column + 1}")

    def starting_at(self, line: int, column: int | None, accepts: Accepts) -> list[Span]:
        """The spans of all nodes of a kind that begin on a line, at a column where one is given; in source order."""
        found = set()
        for statement, before in self._lines_before.items():
            if not before < line <= before + _line_ends(self._texts[statement]):
                continue
            for node, place in self._ranges_in(statement).items():
                start = place.start
                if start.line == line - before and accepts(node) and (column is None or start.column == column):
                    found.add(Span(line, start.column, place.end.line + before, place.end.column))
        return sorted(found)

    def span(self, trail: Trail) -> Span:
        """Where the last node of a trail stands, without its parentheses."""
        before, place = self._lines_before[trail[1]], self._ranges_in(trail[1])[trail[-1]]
        return Span(place.start.line + before, place.start.column, place.end.line + before, place.end.column)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the file, comments and strings included, as Python compares names (NFKC)."""
        return frozenset(WORD.findall(unicodedata.normalize("NFKC", self.write(self.module))))

    def _ranges_in(self, line: cst.CSTNode) -> Mapping[cst.CSTNode, CodeRange]:
        """The places of a top-level statement and everything in it, lines counted from its own first one."""
        if line not in self._ranges:
            assert isinstance(line, cst.SimpleStatementLine | cst.BaseCompoundStatement)
            alone = self.module.with_changes(body=[line], header=(), footer=(), has_trailing_newline=True)
            wrapper = MetadataWrapper(alone, unsafe_skip_copy=True)
            self._ranges[line] = wrapper.resolve(PositionProvider)
        return self._ranges[line]


def _line_ends(text: str) -> int:
    return len(NEWLINE.findall(text))


def _search(
    trail: Trail,
    children: Sequence[cst.CSTNode],
    ranges: Mapping[cst.CSTNode, CodeRange],
    ends: Ends,
    accepts: Accepts,
) -> Trail | None:
    for child in children:
        extents = list(_extents(child, ranges))
        if not extents:
            continue
        if ends in extents and accepts(child):
            return (*trail, child)
        # A suite's range leaves out the decorators of its first statement, a parameter's its default: both are
        # entered unseen.
        first, last = extents[-1]
        if isinstance(child, (*SUITES, cst.Param)) or (first <= ends[0] and ends[1] <= last):
            found = _search((*trail, child), child.children, ranges, ends, accepts)
            if found is not None:
                return found
    return None


def _extents(node: cst.CSTNode, ranges: Mapping[cst.CSTNode, CodeRange]) -> Iterator[Ends]:
    """The node's range, then its range with one, two ... pairs of its parentheses, the widest last."""
    place = ranges.get(node)
    if place is None:
        return
    start = (place.start.line, place.start.column)
    end = (place.end.line, place.end.column)
    yield start, end
    if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
        first = ranges[node.decorators[0]].start
        yield (first.line, first.column), end
    if isinstance(node, cst.BaseExpression) and node.lpar:
        for left, right in zip(reversed(node.lpar), node.rpar, strict=True):
            opening, closing = ranges[left].start, ranges[right].end
            yield (opening.line, opening.column), (closing.line, closing.column)


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
