"""Puts ``# inplace-fix: ignore[CODE]`` where it silences a finding: on its row, or where that cannot be, nearby."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_fix.analysis.units import split_lines
from inplace_fix.nouns import Finding, Span
from inplace_fix.suppress import DIRECTIVE, suppressions


def ignored(text: str, finding: Finding) -> str | None:
    """The text with a comment that silences a finding, None where no place for one is found.

    A comment counts only where it is read back as one: a row that ends inside a string or with a backslash has no
    room for it.
    """
    for candidate, moved in _candidates(text, finding):
        span = finding.place.span
        there = Span(span.line + moved, span.column, span.end_line + moved, span.end_column)
        if suppressions(candidate).silencing(replace(finding, place=replace(finding.place, span=there))) is not None:
            return candidate
    return None


def _candidates(text: str, finding: Finding) -> Iterator[tuple[str, int]]:
    """Texts with the comment put somewhere, each with the number of rows that the finding moved down."""
    lines = split_lines(text)
    span = finding.place.span
    for row in dict.fromkeys((span.line, span.end_line)):
        if row <= len(lines) and not lines[row - 1].rstrip("\r\n").endswith("\\"):
            yield "".join([*lines[: row - 1], _with_comment(lines[row - 1], finding.code), *lines[row:]]), 0
    first = _first_row(text, span.line)
    if first is not None:
        head = lines[first - 1]
        indent = head[: len(head) - len(head.lstrip())]
        end = head[len(head.rstrip("\r\n")) :] or "\n"
        yield (
            "".join([*lines[: first - 1], f"{indent}# inplace-fix: ignore[{finding.code}]{end}", *lines[first - 1 :]]),
            1,
        )


def _with_comment(line: str, code: str) -> str:
    """A line with the code in the list of the comment that stands there, or in a comment of its own."""
    for match in DIRECTIVE.finditer(line):
        if match["word"] == "ignore" and (match["codes"] or "").strip():
            end = match.end("codes")
            return f"{line[:end].rstrip()}, {code}{line[end:]}"
    body = line.rstrip("\r\n")
    return f"{body.rstrip()}  # inplace-fix: ignore[{code}]{line[len(body) :]}"


def _first_row(text: str, row: int) -> int | None:
    """The first row of the innermost statement over a row."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    over = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= row <= (n.end_lineno or n.lineno)]
    return max((node.lineno for node in over), default=None)
