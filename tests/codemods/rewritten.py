"""Marks constructs in sources, rewrites them, and runs programs to compare what they compute.

``⟦x.add_(1)⟧`` marks a construct; marks may be nested and are numbered in the order in which they open.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType

import pytest
import torch

from codemods import apply
from codemods.steps import CannotRewrite, Span, Step

PRELUDE = """
import torch
from torch import nn
import torch.nn.functional as F

class Thing:
    pass

def tensor(start, rows=2):
    return torch.linspace(start, start + 2, rows * 3).reshape(rows, 3)

x, y, a, b = tensor(0.5), tensor(-1.0), tensor(3.0), tensor(0.25)
self = Thing()
self.h, self.k = tensor(1.5), tensor(2.5)
states = [tensor(4.0), tensor(5.0)]
i = 1
seen = []

def see(*values):
    seen.extend(value.clone() if isinstance(value, torch.Tensor) else value for value in values)
    return values[0]
"""


def marked(text: str) -> tuple[str, list[Span]]:
    """The source without marks, and the spans of what was marked in the order in which the marks open."""
    source: list[str] = []
    opened: list[int] = []
    starts: list[tuple[int, int]] = []
    ends: dict[int, tuple[int, int]] = {}
    line, column, after_return = 1, 0, False
    for char in text:
        if char == "⟦":
            opened.append(len(starts))
            starts.append((line, column))
            continue
        if char == "⟧":
            ends[opened.pop()] = (line, column)
            continue
        source.append(char)
        if char == "\r" or (char == "\n" and not after_return):
            line, column = line + 1, 0
        elif char != "\n":
            column += 1
        after_return = char == "\r"
    return "".join(source), [Span(*start, *ends[number]) for number, start in enumerate(starts)]


def rewrite(text: str, *makers: Callable[[Span], Step]) -> str:
    """Apply one step for each mark, the last maker serving all marks that are left."""
    source, spans = marked(text)
    return apply(source, [makers[min(index, len(makers) - 1)](span) for index, span in enumerate(spans)])


def refusal(text: str, *makers: Callable[[Span], Step]) -> str:
    """The reason why a rewrite is refused; fails where it is carried out."""
    with pytest.raises(CannotRewrite) as caught:
        rewrite(text, *makers)
    return caught.value.reason


def outcome(source: str) -> dict[str, object]:
    """Every value that a program leaves behind, tensors with their dtype, as plain comparable data."""
    space: dict[str, object] = {"__name__": "program"}
    torch.manual_seed(0)
    exec(compile(PRELUDE + source, "<program>", "exec", dont_inherit=True), space)
    return {
        name: plain(value)
        for name, value in space.items()
        if not name.startswith("__") and not isinstance(value, FunctionType | ModuleType | type)
    }


def plain(value: object) -> object:
    """A value as data that ``==`` compares: tensors become their dtype, shape and numbers."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if type(value).__name__ == "Thing":
        return plain(vars(value))
    if isinstance(value, int | float | str | bool | None):
        return value
    return type(value).__name__
