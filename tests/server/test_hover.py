"""What is shown over in-place operations, and over nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol.types import MarkupContent, Position
from opened import analysis

from inplace_fix.server.hover import hover
from inplace_fix.server.places import Locator


def shown(text: str, row: int, word: str) -> str:
    """What hovering over a word of a row, counted from 1, shows."""
    path = Path("/folder/m.py")
    found = analysis(path, text)
    column = text.split("\n")[row - 1].index(word)
    answer = hover(
        found, found.document.parts[None], Position(row - 1, column), Locator("utf-16", {path: found.document})
    )
    return answer.contents.value if answer and isinstance(answer.contents, MarkupContent) else ""


@pytest.mark.parametrize(
    ("line", "word", "title"),
    [
        ("x.mul_(2)", "mul_", "torch.Tensor.mul_("),
        ("self.a[0].copy_(x)", "copy_", "torch.Tensor.copy_("),
        ("F.relu(x, inplace=True)", "relu", "torch.nn.functional.relu("),
        ("nn.ReLU(inplace=True)", "ReLU", "torch.nn.ReLU("),
        ("torch.add(x, 1, out=x)", "add", "torch.add("),
        ("nn.init.zeros_(w)", "zeros_", "torch.nn.init.zeros_("),
    ],
)
def test_each_spelling_of_a_write_shows_its_facts(line: str, word: str, title: str) -> None:
    assert shown(line + "\n", 1, word).startswith(f"```text\n{title}")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("x.mul(2)", "mul"),
        ("F.relu(x)", "relu"),
        ("x.mul_(two)", "two"),
        ("n += 1", "+="),
        ("d[0] = 1", "="),
        ("q.put_x(1)", "put"),
    ],
)
def test_what_writes_no_tensor_shows_nothing(line: str, word: str) -> None:
    assert shown(line + "\n", 1, word) == ""


def test_an_operator_that_is_at_fault_shows_what_it_does_and_how_it_is_repaired() -> None:
    text = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n"
    words = shown(text, 4, "+=")
    assert "**IPF001**" in words
    assert "fix (safe): " in words
    assert "saved here, by `x.exp()`: [" in words
    assert "torch.Tensor.add_(" in words
