"""Names: where they are looked up and bound, through functions, closures, classes and modules."""

from __future__ import annotations

import pytest

from analysis.analysed import conflicts

HEAD = "x = torch.ones(3, requires_grad=True)\ny = x.exp()\n"  # lines 2 and 3
TAIL = "y.sum().backward()\n"


@pytest.mark.parametrize(
    ("middle", "line"),
    [
        ("z = y\nz.add_(1)\n", 5),
        ("z, w = y, 1\nz.add_(1)\n", 5),
        ("z = [1, y][-1]\nz.add_(1)\n", 5),
        ("(z := y).add_(1)\n", 4),
        ("def f():\n    y.add_(1)\nf()\n", 5),
        ("def f():\n    global y\n    y += 1\nf()\n", 6),
        ("def f(a=y):\n    a.add_(1)\nf()\n", 5),
        ("f = lambda: y.add_(1)\nf()\n", 4),
        ("f = lambda a=y: a.add_(1)\nf()\n", 4),
        ("def f(a):\n    return lambda: a.add_(1)\nf(y)()\n", 5),
        ("def f(a):\n    b = a\n    def g():\n        nonlocal b\n        b += 1\n    g()\nf(y)\n", 8),
        ("class C:\n    h = y\nC.h.add_(1)\n", 6),
        ("import functools\nf = functools.partial(torch.Tensor.add_, y)\nf(1)\n", 6),
        ("f = torch.relu_\nf(y)\n", 5),
        ("for z in [y]:\n    z.add_(1)\n", 5),
        ("d = {'a': y}\nd['a'].add_(1)\n", 5),
        ("d = dict(a=y)\nfor k, v in d.items():\n    v.add_(1)\n", 6),
        ("for i, z in enumerate([y]):\n    z.add_(1)\n", 5),
        ("for z, w in zip([y], [1]):\n    z.add_(1)\n", 5),
        ("def f(*a, **b):\n    a[0].add_(1)\nf(y)\n", 5),
        ("def f(*a, **b):\n    b['k'].add_(1)\nf(k=y)\n", 5),
        ("def f(a):\n    yield a\nfor z in f(y):\n    z.add_(1)\n", 7),
        ("match y:\n    case z:\n        z.add_(1)\n", 6),
        ("try:\n    z = y\nfinally:\n    z.add_(1)\n", 7),
        ("with open('f') as g:\n    z = y\nz.add_(1)\n", 6),
    ],
)
def test_a_write_through_another_name_is_a_write_to_the_value(middle: str, line: int) -> None:
    assert conflicts(HEAD + middle + TAIL) == {(3, line)}


@pytest.mark.parametrize(
    "middle",
    [
        "z = y + 0\nz.add_(1)\n",
        "def f():\n    y = torch.zeros(3)\n    y.add_(1)\nf()\n",
        "def f(y):\n    y.add_(1)\nf(torch.zeros(3))\n",
        "class C:\n    y = torch.zeros(3)\n    y.add_(1)\n",
        "[y.add_(1) for y in [torch.zeros(3)]]\n",
        "f = lambda y: y.add_(1)\nf(torch.zeros(3))\n",
        "z = y\nz = torch.zeros(3)\nz.add_(1)\n",
        "d = {'a': y}\nd['a'] = torch.zeros(3)\nd['a'].add_(1)\n",
    ],
)
def test_a_name_of_its_own_is_another_value(middle: str) -> None:
    assert conflicts(HEAD + middle + TAIL) == set()


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("import helper", "helper.shift(y)"),
        ("import helper as h", "h.shift(y)"),
        ("from helper import shift", "shift(y)"),
        ("from helper import shift as s", "s(y)"),
        ("from helper import *", "shift(y)"),
    ],
)
def test_an_import_brings_in_what_it_names(head: str, call: str) -> None:
    text = f"{head}\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n{call}\ny.sum().backward()\n"
    assert conflicts(text, helper="def shift(values):\n    values.add_(1)\n") == {(4, 3)}


@pytest.mark.parametrize("name", ["relu_", "sigmoid_", "tanh_"])
def test_torch_is_known_by_whatever_name_it_is_imported(name: str) -> None:
    text = (
        f"import torch as t\nfrom torch import {name} as f\n"
        f"x = t.ones(3, requires_grad=True)\ny = x.exp()\nf(y)\nt.sum(y).backward()\n"
    )
    assert conflicts(text) == {(5, 6)}
