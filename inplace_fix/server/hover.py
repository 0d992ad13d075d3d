"""What the editor shows over an in-place operation: what it writes and saves, and whose value it overwrites."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lsprotocol import types

from inplace_fix.analysis.units import Unit, parse
from inplace_fix.catalog.model import Catalog
from inplace_fix.catalog.reader import load
from inplace_fix.catalog.words import describe
from inplace_fix.nouns import Finding, Span
from inplace_fix.report.texts import where
from inplace_fix.server.analysis import Analysis
from inplace_fix.server.diagnostics import more
from inplace_fix.server.documents import Part
from inplace_fix.server.places import Locator, Ruler


def hover(analysis: Analysis | None, part: Part, position: types.Position, locator: Locator) -> types.Hover | None:
    """The findings at a position and the facts of the in-place operation there; None where there is neither."""
    here = [] if analysis is None else [f for f in analysis.findings if over(f, part, position, locator)]
    ruler = Ruler(part.text, locator.encoding)
    named = operation(part, ruler.point(position), bool(here))
    words = [of_finding(finding, locator) for finding in here]
    span = here[0].place.span if here else None
    if named is not None:
        name, span = named
        words.append(f"```text\n{describe(name)}\n```")
    if span is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(words)), ruler.range(span))


def over(finding: Finding, part: Part, position: types.Position, locator: Locator) -> bool:
    """Whether a position of a document lies in a finding."""
    return locator.part(finding.place).uri == part.uri and locator.holds(finding.place, position)


def of_finding(finding: Finding, locator: Locator) -> str:
    """A finding in Markdown, each second place as a link."""
    lines = [f"**{finding.code}** {finding.message}", *more(finding)]
    for one in finding.related:
        location = locator.location(one.place)
        lines.append(f"{one.message}: [{where(one.place)}]({location.uri}#L{location.range.start.line + 1})")
    return "\n\n".join(lines)


def operation(part: Part, point: tuple[int, int], found: bool) -> tuple[str, Span] | None:
    """The catalog's name of the in-place operation at a point, and where it is spelt.

    Operators and stores count only where something was ``found``: what they work on need not be a tensor.
    """
    if part.uri.endswith(".ipynb"):
        return None
    try:
        unit = parse_part(part)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    catalog = load()
    spelt = [(name, unit.span(node)) for node in ast.walk(unit.tree) for name in names_of(node, unit, catalog, found)]
    at = [(name, span) for name, span in spelt if (span.line, span.column) <= point <= (span.end_line, span.end_column)]
    return min(at, key=lambda one: _size(one[1]), default=None)


def parse_part(part: Part) -> Unit:
    """The syntax tree of a text document. Raises SyntaxError and ValueError."""
    from pathlib import Path

    return parse(Path(part.uri), part.text)


def names_of(node: ast.AST, unit: Unit, catalog: Catalog, found: bool) -> Iterator[str]:
    """The in-place operation that a node is, by its name in the catalog."""
    if isinstance(node, ast.Call):
        text = unit.segment(node.func)
        method = f"torch.Tensor.{text.rpartition('.')[2]}" if "." in text else ""
        keywords = {keyword.arg for keyword in node.keywords}
        for name in (*qualified(text), method):
            op = catalog.ops.get(name)
            if op is not None and (op.in_place or (op.flag and op.flag in keywords) or (op.out and "out" in keywords)):
                yield name
                return
            if name in catalog.modules and catalog.modules[name].inplace is not None and "inplace" in keywords:
                yield name
                return
    elif found and isinstance(node, ast.AugAssign):
        symbol = unit.segment(node)[len(unit.segment(node.target)) :].lstrip().partition("=")[0] + "="
        if symbol in catalog.operators:
            yield catalog.operators[symbol]
    elif found and isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets):
        yield "torch.Tensor.__setitem__"


def qualified(text: str) -> Iterator[str]:
    """The full names that a spelling of a function can stand for, by the usual names of torch's modules."""
    if text.startswith("torch."):
        yield text
    for short, full in (("F.", "torch.nn.functional."), ("nn.init.", "torch.nn.init."), ("init.", "torch.nn.init.")):
        if text.startswith(short):
            yield full + text.removeprefix(short)
    if text.startswith("nn."):
        yield f"torch.{text}"


def _size(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
