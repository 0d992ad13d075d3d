"""Reach: which definitions can write to a tensor, and which need not be run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from inplace_fix.analysis.reach import look, outline, reaching
from inplace_fix.analysis.trees import nodes
from inplace_fix.analysis.units import parse


def writes(text: str) -> bool:
    """Whether a text may hold an in-place write."""
    return look(nodes(ast.parse(text)), [])[1]


@pytest.mark.parametrize(
    "text",
    [
        "x.add_(1)",
        "relu_(x)",
        "x += y",
        "self.h += y",
        "x[0] = y",
        "x[i] += y",
        "self.x[0] = y",
        "x[0], y = y, x",
        "F.relu(x, inplace=True)",
        "torch.add(a, b, out=c)",
        "nn.ReLU(True)",
        "nn.Embedding(3, 4, max_norm=1.0)",
        "p.data = q",
        "optimizer.step()",
        "model.load_state_dict(state)",
    ],
)
def test_every_spelling_of_a_write_is_seen(text: str) -> None:
    assert writes(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = y + 1",
        "self.__init__()",
        "count = 0\ncount += 1",
        "names = []\nnames += more",
        "table = {}\ntable['key'] = value",
        "table['key'] += 1",
        "text = f'{x}'\ntext += 'more'",
        "x = y.relu()",
        "if x == 1: pass",
    ],
)
def test_numbers_strings_and_displays_are_no_writes(text: str) -> None:
    assert not writes(text)


def test_a_definition_reaches_a_write_through_what_it_calls() -> None:
    unit = parse(
        Path("x.py"),
        (
            "def low(x):\n    x.add_(1)\ndef middle(x):\n    low(x)\ndef high(x):\n"
            "    middle(x)\ndef other(x):\n    return x\n"
        ),
    )
    assert reaching(outline(unit), frozenset()) == {"low", "middle", "high"}


def test_an_imported_name_may_write() -> None:
    unit = parse(Path("x.py"), "def one(x):\n    shift(x)\ndef two(x):\n    return x\n")
    assert reaching(outline(unit), frozenset({"shift"})) == {"one"}


def test_definitions_that_call_each_other_come_to_an_end() -> None:
    unit = parse(Path("x.py"), "def one(x):\n    two(x)\ndef two(x):\n    one(x)\n")
    assert reaching(outline(unit), frozenset()) == set()


def test_methods_count_with_their_class() -> None:
    unit = parse(Path("x.py"), "class A:\n    def f(self, x):\n        x.add_(1)\n")
    assert outline(unit).writes == {"A": True, "": False}


def test_both_definitions_of_one_name_count() -> None:
    unit = parse(Path("x.py"), "def f(x):\n    x.add_(1)\ndef f(x):\n    return x\n")
    assert outline(unit).writes == {"f": True, "": False}
