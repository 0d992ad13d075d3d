"""Source files as units: parsed once, with positions in code points and the names their imports bind."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from inplace_fix.analysis.trees import children, nodes
from inplace_fix.nouns import Place, Span

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(eq=False)
class Unit:
    """One file: text, tree, module name and package."""

    path: Path
    text: str
    tree: ast.Module
    module: str
    is_package: bool = False
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    numbers: set[ast.AST] = field(default_factory=set)  # expressions that some run saw give a plain number

    @cached_property
    def lines(self) -> list[str]:
        """The lines as Python counts them; form feeds and the like do not end one."""
        return split_lines(self.text)

    @cached_property
    def generators(self) -> frozenset[ast.AST]:
        """The functions that hold a yield of their own."""
        if "yield" not in self.text:
            return frozenset()
        found = set()
        for node in nodes(self.tree):
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                owner: ast.AST | None = node
                while owner is not None and not isinstance(owner, FUNCTIONS):
                    owner = self.parent(owner)
                if owner is not None:
                    found.add(owner)
        return frozenset(found)

    def column(self, row: int, offset: int) -> int:
        """A column in code points from ``ast``'s offset in UTF-8 bytes."""
        line = self.lines[row - 1] if row <= len(self.lines) else ""
        return offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace"))

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, in code points."""
        line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        return Span(
            line,
            self.column(line, node.col_offset),  # type: ignore[attr-defined]
            end,
            self.column(end, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def place(self, node: ast.AST) -> Place:
        """Where a node stands, with the file."""
        return Place(self.path, self.span(node))

    def segment(self, node: ast.AST) -> str:
        """The node's own text."""
        span = self.span(node)
        lines = self.lines[span.line - 1 : span.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: span.end_column] if len(lines) > 1 else lines[-1][span.column : span.end_column]
        if len(lines) > 1:
            lines[0] = lines[0][span.column :]
        return "".join(lines)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds ``node``; the table is built on first use."""
        if not self.parents:
            for outer in nodes(self.tree):
                for inner in children(outer):
                    self.parents[inner] = outer
        return self.parents.get(node)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds ``node``."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parent(current)
        return current


def split_lines(text: str) -> list[str]:
    """Split at the line ends that Python's parser knows (LF, CRLF, CR), keeping them."""
    return LINE.findall(text)


def parse(path: Path, text: str, module: str = "", is_package: bool = False) -> Unit:
    """Parse a file's text (without its byte order mark). Raises SyntaxError and ValueError as ``ast.parse`` does."""
    return Unit(path, text, ast.parse(text, filename=str(path), type_comments=False), module or path.stem, is_package)
