"""What the editor shows over an in-place operation: what it writes and saves, and whose value it overwrites."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from inplace_fix.analysis.units import Unit, parse
from inplace_fix.catalog.model import Catalog
from inplace_fix.catalog.reader import load
from inplace_fix.catalog.words import describe
from inplace_fix.notebook.magics import mask
from inplace_fix.nouns import Finding, Span
from inplace_fix.report.texts import where
from inplace_fix.server.analysis import Analysis
from inplace_fix.server.documents import Part
from inplace_fix.server.places import Locator, Ruler


def hover(analysis: Analysis, part: Part, position: types.Position, locator: Locator) -> types.Hover | None:
    """The findings at a position and the facts of the in-place operation there; None where there is neither."""
    here = [finding for finding in analysis.findings if over(finding, part, position, locator)]
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


def more(finding: Finding) -> list[str]:
    """What follows the message, a paragraph each: why it is wrong, how it is repaired or why it is not."""
    lines = []
    if finding.why:
        lines.append(f"why: {finding.why}")
    if finding.fix is not None:
        lines.append(f"fix ({finding.fix.applicability.value}): {finding.fix.message}")
    elif finding.no_fix:
        lines.append(f"no automatic fix: {finding.no_fix}")
    return lines


def operation(part: Part, point: tuple[int, int], found: bool) -> tuple[str, Span] | None:
    """The catalog's name of the in-place operation at a point, and where it is spelt.

    Operators and stores count only where something was ``found``: what they work on need not be a tensor.
    """
    unit = parsed(part)
    if unit is None:
        return None
    nodes = (node for node in ast.walk(unit.tree) if _crosses(node, point[0]))
    spelt = [(name, anchor(node, unit)) for node in nodes for name in names_of(node, unit, load(), found)]
    at = [(name, span) for name, span in spelt if (span.line, span.column) <= point <= (span.end_line, span.end_column)]
    return min(at, key=lambda one: _size(one[1]), default=None)


def anchor(node: ast.AST, unit: Unit) -> Span:
    """Where a person points to mean an operation: the last name of what is called, else the whole construct."""
    if not isinstance(node, ast.Call):
        return unit.span(node)
    span = unit.span(node.func)
    if isinstance(node.func, ast.Attribute):
        return Span(span.end_line, span.end_column - len(node.func.attr), span.end_line, span.end_column)
    return span


def parsed(part: Part) -> Unit | None:
    """The syntax tree of a text document, also of a cell with IPython's own lines; None where it does not parse."""
    for text in (part.text, mask(part.text, "hidden").text):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return parse(Path(part.uri), text)
    return None


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


def _crosses(node: ast.AST, row: int) -> bool:
    first = getattr(node, "lineno", None)
    return first is not None and first <= row <= (getattr(node, "end_lineno", None) or first)


def _size(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
