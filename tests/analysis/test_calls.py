"""Calls: what a function writes, returns and keeps counts for whoever calls it."""

from __future__ import annotations

import pytest

from analysis.analysed import conflicts, facts

X = "x = torch.ones(3, requires_grad=True)\n"
END = "y.sum().backward()\n"


@pytest.mark.parametrize(
    ("definition", "call"),
    [
        ("def f(a): a.add_(1)", "f(y)"),
        ("def f(a, /): a.add_(1)", "f(y)"),
        ("def f(*, a): a.add_(1)", "f(a=y)"),
        ("def f(a, b=None): (b if b is not None else a).add_(1)", "f(y)"),
        ("def f(*a): a[0].add_(1)", "f(*[y])"),
        ("def f(**a): a['b'].add_(1)", "f(**{'b': y})"),
        ("def f(a): g(a)\ndef g(a): a.add_(1)", "f(y)"),
        ("f = lambda a: a.add_(1)", "f(y)"),
        ("class C:\n    def __call__(self, a): a.add_(1)\nf = C()", "f(y)"),
        ("class C:\n    @staticmethod\n    def f(a): a.add_(1)\nf = C.f", "f(y)"),
        ("class C:\n    @classmethod\n    def f(cls, a): a.add_(1)\nf = C.f", "f(y)"),
        ("class C:\n    def __init__(self, a): self.a = a\n    def f(self): self.a.add_(1)", "C(y).f()"),
        ("class B:\n    def f(self, a): a.add_(1)\nclass C(B):\n    def f(self, a): super().f(a)", "C().f(y)"),
        ("class C:\n    a = None\n    @property\n    def p(self): return self.a", "c = C(); c.a = y; c.p.add_(1)"),
        ("import functools\ndef g(b, a): a.add_(b)\nf = functools.partial(g, 1)", "f(y)"),
        ("def deco(g):\n    def run(*a, **k): return g(*a, **k)\n    return run\n@deco\ndef f(a): a.add_(1)", "f(y)"),
        ("def make():\n    def f(a): a.add_(1)\n    return f\nf = make()", "f(y)"),
        ("table = {'relu': torch.relu_}", "table['relu'](y)"),
        ("import asyncio\nasync def f(a): a.add_(1)\nasync def g(a): await f(a)", "asyncio.run(g(y))"),
        ("def f(a):\n    try: return\n    finally: a.add_(1)", "f(y)"),
    ],
)
def test_a_write_inside_a_call_is_a_write_to_what_was_passed(definition: str, call: str) -> None:
    text = f"{X}{definition}\ny = x.exp()\n{call}\n{END}"
    assert len(conflicts(text)) == 1


@pytest.mark.parametrize(
    "definition",
    [
        "def f(a): return a",
        "def f(a): return a[:]",
        "def f(a): return [a][0]",
        "def f(a, b=False):\n    return a.exp() if b else a",
        "def f(a):\n    for _ in range(3): a = a.view(-1)\n    return a",
    ],
)
def test_what_a_call_gives_back_may_be_what_was_passed(definition: str) -> None:
    text = f"{X}{definition}\ny = x.exp()\nf(y).add_(1)\n{END}"
    assert len(conflicts(text)) == 1


def test_a_call_under_no_grad_saves_nothing() -> None:
    text = "@torch.no_grad()\ndef f(a):\n    return a.exp()\ny = f(x) * x\nz = f(x)\nz.add_(1)\n" + END
    assert conflicts(X + text) == set()


def test_a_function_that_remembers_its_result_gives_the_same_tensor() -> None:
    text = (
        "import functools\n@functools.lru_cache\ndef f():\n    return torch.ones(3)\ny = x * f()\nf().zero_()\n" + END
    )
    assert len(conflicts(X + text)) == 1


def test_a_default_argument_is_one_object_for_all_calls() -> None:
    text = "def f(a=torch.ones(3)):\n    return a\ny = x * f()\nf().zero_()\n" + END
    assert len(conflicts(X + text)) == 1


@pytest.mark.parametrize("annotation", ["torch.Tensor", "'torch.Tensor'", "torch.Tensor | None", "torch.FloatTensor"])
def test_an_annotation_tells_a_tensor(annotation: str) -> None:
    found = facts(f"def f(a: {annotation}):\n    a.mul_(2)\n")
    assert [w.tensor.sure for w in found.writes] == [True]


@pytest.mark.parametrize("annotation", ["int", "float", "str", "list", "np.ndarray"])
def test_an_annotation_tells_what_is_none(annotation: str) -> None:
    found = facts(f"import numpy as np\ndef f(a: {annotation}, b: torch.Tensor):\n    a += 1\n    b.add_(a)\n")
    assert {w.site.line for w in found.writes if w.tensor.sure and not w.tensor.array} == {5}
