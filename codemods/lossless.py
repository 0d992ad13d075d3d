"""Keeps the few bytes that LibCST drops: form feeds at the start of a line, a lone carriage return at the end.

Such a file is rewritten in LibCST's own text, and only the lines that changed are taken over.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import fields, replace

from codemods.steps import CannotRewrite, Span, Step

_LINE = re.compile(r".*?(?:\r\n|\r|\n|\Z)", re.DOTALL)


def lines(text: str) -> list[str]:
    """The lines of a text with their ends, as Python's tokenizer counts them: a form feed ends none."""
    return [line for line in _LINE.findall(text) if line]


def shifted(step: Step, source: str, written: str) -> Step:
    """The step with its columns counted in LibCST's own text, in which form feeds at the start of a line are gone."""
    old, new = lines(source), lines(written)

    def moved(span: Span) -> Span:
        return Span(
            span.line,
            span.column - _lost(old, new, span.line, span.column),
            span.end_line,
            span.end_column - _lost(old, new, span.end_line, span.end_column),
        )

    changed: dict[str, object] = {}
    for field in fields(step):
        value = getattr(step, field.name)
        if isinstance(value, Span):
            changed[field.name] = moved(value)
        elif isinstance(value, tuple):
            changed[field.name] = tuple(moved(one) if isinstance(one, Span) else one for one in value)
    return replace(step, **changed)  # type: ignore[arg-type]


def _lost(old: list[str], new: list[str], line: int, column: int) -> int:
    if not (line <= len(old) and line <= len(new)):
        return 0
    gone = len(old[line - 1].rstrip("\r\n")) - len(new[line - 1].rstrip("\r\n"))
    return min(max(gone, 0), column)


def carried_over(source: str, written: str, result: str, span: Span) -> str:
    """The lines that changed from ``written`` to ``result``, in ``source``; may raise ``CannotRewrite``."""
    ours, before, after = lines(source), lines(written), lines(result)
    if len(ours) != len(before):
        raise CannotRewrite(span, "LibCST does not give this file back as it is")
    out: list[str] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            out.extend(ours[start:end])
            continue
        changed = after[new_start:new_end]
        if start < end and changed:
            # A page break in front of the first changed line stays in front of it.
            feeds = ours[start][: len(ours[start]) - len(ours[start].lstrip("\f"))]
            changed[0] = feeds + changed[0]
        out.extend(changed)
    if out and ours and ours[-1].endswith(("\r", "\n")) and not out[-1].endswith(("\r", "\n")):
        out[-1] += "\r"
    return "".join(out)
