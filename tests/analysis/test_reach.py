"""Reach: which definitions can write to a tensor, and which need not be run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from inplace_fix.analysis.reach import Names, look, outline, reaching, reaching_methods
from inplace_fix.analysis.trees import nodes
from inplace_fix.analysis.units import parse


def writes(text: str) -> bool:
    """Whether a text may hold an in-place write."""
    return look(nodes(ast.parse(text)), []).writes


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


NONE = Names()


def reached(text: str, imported: Names = NONE, harmless: frozenset[str] = frozenset()) -> set[str]:
    """The names of a text's definitions that write or run what does."""
    found = reaching(outline(parse(Path("x.py"), text)), imported, harmless.__contains__)
    return {*found.functions, *found.classes}


CHAIN = """\
def low(x):
    x.add_(1)
def middle(x):
    low(x)
def high(x):
    middle(x)
def other(x):
    return x
"""


def test_a_definition_reaches_a_write_through_what_it_calls() -> None:
    assert reached(CHAIN) == {"low", "middle", "high"}


def test_what_turned_out_to_write_nothing_is_not_reached() -> None:
    assert reached(CHAIN, harmless=frozenset({"low"})) == set()


def test_an_imported_name_may_write() -> None:
    text = "def one(x):\n    shift(x)\ndef two(x):\n    return x\n"
    assert reached(text, Names(frozenset({"shift"}))) == {"one"}


def test_definitions_that_call_each_other_come_to_an_end() -> None:
    assert reached("def one(x):\n    two(x)\ndef two(x):\n    one(x)\n") == set()


CLASS = (
    "class A:\n    def f(self, x):\n        x.add_(1)\n    def g(self, x):\n        self.f(x)\n    def h(self): pass\n"
)


def test_methods_count_with_their_class() -> None:
    assert reached(CLASS) == {"A"}


def test_a_function_that_only_makes_an_object_runs_none_of_its_methods() -> None:
    made = CLASS + "def make():\n    return A()\ndef use(x):\n    a = A()\n    a.f(x)\ndef at_once(x):\n    A().f(x)\n"
    assert reached(made) == {"A", "use", "at_once"}


def test_of_a_class_the_methods_that_reach_a_write_are_known() -> None:
    part = outline(parse(Path("x.py"), CLASS)).parts["A"]
    assert reaching_methods(part, Names()) == {"f", "g"}


def test_a_flag_given_in_the_constructor_takes_effect_where_a_part_is_called() -> None:
    text = (
        "class A:\n    def __init__(self):\n        self.act = ReLU(inplace=True)\n"
        "    def f(self, x):\n        return self.act(x)\n    def g(self):\n        return 1\n"
    )
    assert reaching_methods(outline(parse(Path("x.py"), text)).parts["A"], Names()) == {"__init__", "f"}


def test_both_definitions_of_one_name_count() -> None:
    assert reached("def f(x):\n    x.add_(1)\ndef f(x):\n    return x\n") == {"f"}
