"""IPython's own lines (magics, shell commands, help) hidden from Python's parser line by line, and brought back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_fix.analysis.units import split_lines

PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun"})
"""Cell magics whose body is Python that runs in the notebook's own names."""

CELL_MAGIC = re.compile(r"\s*%%(\w+)")
LINE_MAGIC = re.compile(r"\s*(?:[%!?]|[\w.*]+\?{1,2}\s*$)")
ASSIGNED = re.compile(r"(\s*[\w.,\s\[\]\"']+=\s*)[%!]")
QUOTES = re.compile(r"\"\"\"|'''|\"|'")


@dataclass(frozen=True, slots=True)
class Masked:
    """A cell's text for the parser: as many lines as the source, ``hidden`` gives back those that were replaced."""

    text: str
    hidden: dict[str, str]


def mask(source: str, stamp: str) -> Masked:
    """Replace IPython's lines by placeholders that hold ``stamp`` and a number, with the same indentation."""
    if _parses(source):
        return Masked(source, {})
    lines = split_lines(source)
    hidden: dict[str, str] = {}
    magic = CELL_MAGIC.match(source)
    if magic and magic[1] not in PYTHON_CELLS:
        return mask_all(source, stamp)
    out = []
    for index, (line, starts) in enumerate(_with_starts(lines)):
        body = line.rstrip("\r\n")
        name = f"{stamp} {index}"
        if starts and ((magic and CELL_MAGIC.match(line)) or LINE_MAGIC.match(body)):
            out.append(_placeholder(line, "pass", name, hidden))
        elif starts and ASSIGNED.match(body):
            assigned = ASSIGNED.match(body)
            assert assigned is not None
            out.append(_placeholder(line, assigned[1].strip() + " get_ipython()", name, hidden))
        elif starts is None:
            out.append(_placeholder(line, "", name, hidden))
        else:
            out.append(line)
    return Masked("".join(out), hidden)


def mask_all(source: str, stamp: str) -> Masked:
    """Hide a whole cell, line by line."""
    hidden: dict[str, str] = {}
    lines = split_lines(source)
    return Masked("".join(_placeholder(line, "", f"{stamp} {i}", hidden) for i, line in enumerate(lines)), hidden)


def unmask(text: str, hidden: dict[str, str]) -> str | None:
    """The text with the hidden lines back, at the indentation their placeholders have now; None where one is lost."""
    found: list[str] = []
    out = []
    for line in split_lines(text):
        name = line.rstrip("\r\n").rpartition("# ")[2]
        if name in hidden:
            found.append(name)
            indent = line[: len(line) - len(line.lstrip(" \t"))]
            original = hidden[name]
            was = original[: len(original) - len(original.lstrip(" \t"))]
            out.append(original if indent == was else indent + original.lstrip(" \t"))
        else:
            out.append(line)
    return "".join(out) if sorted(found) == sorted(hidden) else None


def _placeholder(line: str, code: str, name: str, hidden: dict[str, str]) -> str:
    hidden[name] = line
    body = line.rstrip("\r\n")
    indent = body[: len(body) - len(body.lstrip(" \t"))]
    return f"{indent}{code}{'  ' if code else ''}# {name}{line[len(body) :]}"


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _with_starts(lines: list[str]) -> Iterator[tuple[str, bool | None]]:
    """Each line with whether a statement can start on it; None for the rest of a magic continued by a backslash."""
    depth, quote, joined, magic = 0, "", False, False
    for line in lines:
        body = line.rstrip("\r\n")
        if magic:
            yield line, None
            magic = body.endswith("\\")
            continue
        starts = not depth and not quote and not joined
        yield line, starts
        if starts and (LINE_MAGIC.match(body) or ASSIGNED.match(body)):
            magic = body.endswith("\\")
            continue
        depth, quote = _open_after(body, depth, quote)
        joined = not quote and body.endswith("\\")


def _open_after(body: str, depth: int, quote: str) -> tuple[int, str]:
    """Open brackets and the open triple quote after a line."""
    index = 0
    while index < len(body):
        character = body[index]
        if quote:
            if character == "\\":
                index += 2
                continue
            if body.startswith(quote, index):
                index += len(quote)
                quote = ""
                continue
        elif character == "#":
            break
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(depth - 1, 0)
        else:
            opening = QUOTES.match(body, index)
            if opening:
                quote = opening.group()
                index = opening.end()
                continue
        index += 1
    return depth, quote if len(quote) == 3 else ""
