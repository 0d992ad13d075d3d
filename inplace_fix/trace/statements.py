"""The statement behind a site, from the source: what kind it is, which names it binds and which it reads."""

from __future__ import annotations

import ast

from inplace_fix.nouns import Span
from inplace_fix.trace.positions import Site, Spans


class Statements:
    """Parses each file once, when something first asks about it."""

    def __init__(self) -> None:
        self._spans = Spans()
        self._trees: dict[str, list[ast.stmt]] = {}
        self._known: dict[Site, ast.stmt | None] = {}

    def of(self, site: Site) -> ast.stmt | None:
        """The innermost simple statement that the site's expression belongs to; None where the source cannot
        be read.
        """
        if site not in self._known:
            filename = site.code.co_filename
            span = self._spans.span(site.code, site.lasti)
            found = [one for one in self._statements(filename) if _holds(one, span, self._spans.lines(filename))]
            self._known[site] = min(found, key=_extent) if found else None
        return self._known[site]

    def span(self, site: Site) -> Span:
        """The span of the site's expression."""
        return self._spans.span(site.code, site.lasti)

    def names_read(self, site: Site) -> frozenset[str]:
        """The names that the site's expression loads."""
        statement = self.of(site)
        if statement is None:
            return frozenset()
        span = self.span(site)
        lines = self._spans.lines(site.code.co_filename)
        return frozenset(
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _inside(node, span, lines)
        )

    def _statements(self, filename: str) -> list[ast.stmt]:
        known = self._trees.get(filename)
        if known is None:
            try:
                tree = ast.parse("\n".join(self._spans.lines(filename)))
                known = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
            except (SyntaxError, ValueError):
                known = []
            self._trees[filename] = known
        return known


def targets(statement: ast.stmt | None) -> frozenset[str]:
    """The plain names that a statement binds."""
    found: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        found = list(statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        found = [statement.target]
    names = {node.id for target in found for node in ast.walk(target) if isinstance(node, ast.Name)}
    if statement is not None:
        names |= {
            node.target.id
            for node in ast.walk(statement)
            if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name)
        }
    return frozenset(names)


def _extent(node: ast.stmt) -> tuple[int, int]:
    lines = (node.end_lineno or node.lineno) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset


def _column(lines: list[str], line: int, offset: int) -> int:
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


def _holds(node: ast.stmt, span: Span, lines: list[str]) -> bool:
    if not node.lineno <= span.line or not span.end_line <= (node.end_lineno or node.lineno):
        return False
    start = (node.lineno, _column(lines, node.lineno, node.col_offset))
    end_line = node.end_lineno or node.lineno
    end = (end_line, _column(lines, end_line, node.end_col_offset or 0))
    return start <= (span.line, span.column) and (span.end_line, span.end_column) <= end


def _inside(node: ast.expr, span: Span, lines: list[str]) -> bool:
    at = (node.lineno, _column(lines, node.lineno, node.col_offset))
    return (span.line, span.column) <= at < (span.end_line, span.end_column)
