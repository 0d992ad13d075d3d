"""The rewrite of subscript stores to out-of-place expressions."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import FunctionalStore, Span


def store(template: str, target: str = "x", declare: str = ""):
    def make(span: Span) -> FunctionalStore:
        return FunctionalStore(span, template, target, declare)

    return make


WHERE = "torch.where({index}, {value}, {x})"
PUT = "{x}.index_put({index}, {value})"
SELECT = "torch.select_scatter({x}, {value}, 0, {index})"

CASES = {
    "a mask": ("m = x > 1\n⟦x[m] = 5.0⟧\n", WHERE, "x", "m = x > 1\nx = torch.where(m, 5.0, x)\n"),
    "a mask written out": ("⟦x[x > 1] = 5.0⟧  # c\n", WHERE, "x", "x = torch.where(x > 1, 5.0, x)  # c\n"),
    "a mask added to": ("m = x > 1\n⟦x[m] += y⟧\n", "torch.where({index}, {x} + y, {x})", "x", None),
    "a row": ("⟦x[0] = y[1]⟧\n", SELECT, "x", "x = torch.select_scatter(x, y[1], 0, 0)\n"),
    "a row multiplied": (
        "⟦x[0] *= y[1] + 1⟧\n",
        SELECT,
        "x",
        "x = torch.select_scatter(x, x[0] * (y[1] + 1), 0, 0)\n",
    ),
    "indices": (
        "p, q = torch.tensor([0, 1]), torch.tensor([2, 0])\n⟦x[p, q] = y[0, :2]⟧\n",
        PUT,
        "x",
        "p, q = torch.tensor([0, 1]), torch.tensor([2, 0])\nx = x.index_put((p, q), y[0, :2])\n",
    ),
    "a slice spelled out by the template": (
        "⟦x[:, 1:] = y[:, 1:]⟧\n",
        "{x}.slice_scatter({value}, 1, 1)",
        "x",
        "x = x.slice_scatter(y[:, 1:], 1, 1)\n",
    ),
    "a slot's row": (
        "⟦states[0][1] = a[0]⟧\n",
        "torch.select_scatter({x}, {value}, 0, {index})",
        "states[0]",
        "states[0] = torch.select_scatter(states[0], a[0], 0, 1)\n",
    ),
    "an attribute's row through the base": (
        "⟦self.h[1] = a[0]⟧\n",
        SELECT,
        "self.h",
        "self.h = torch.select_scatter(self.h, a[0], 0, 1)\n",
    ),
    "a value over lines": (
        "⟦x[0] = (\n    y[1]  # one\n    + a[0]\n)⟧\n",
        SELECT,
        "x",
        "x = torch.select_scatter(x, (\n    y[1]  # one\n    + a[0]\n), 0, 0)\n",
    ),
    "a one-line suite": ("if i: ⟦x[0] = y[1]⟧\n", SELECT, "x", "if i: x = torch.select_scatter(x, y[1], 0, 0)\n"),
    "a value that changes the index": (
        "n = 0\n⟦x[n] = see(y[(n := 1)])⟧\n",
        SELECT,
        "x",
        "n = 0\nvalue = see(y[(n := 1)])\nx = torch.select_scatter(x, value, 0, n)\n",
    ),
    "a value used twice": (
        "⟦x[0] = see(y[1])⟧\n",
        "torch.select_scatter({x}, {value} * 0 + {value}, 0, {index})",
        "x",
        "value = see(y[1])\nx = torch.select_scatter(x, value * 0 + value, 0, 0)\n",
    ),
    "an attribute and a value with effects": (
        "⟦self.h[i] = see(a[0])⟧\n",
        SELECT,
        "self.h",
        "value = see(a[0])\nself.h = torch.select_scatter(self.h, value, 0, i)\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_store_becomes_functional_with(name: str) -> None:
    text, template, target, expected = CASES[name]
    result = rewrite(text, store(template, target))
    if name == "a mask added to":
        assert result == "m = x > 1\nx = torch.where(m, x + y, x)\n"
        return
    assert result == expected
    after = outcome(result)
    if "value = " in result:
        after.pop("value")
    assert after == outcome(marked(text)[0])


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("1:3", "slice(1, 3)"),
        (":3", "slice(3)"),
        ("1:", "slice(1, None)"),
        (":", "slice(None)"),
        ("::2", "slice(None, None, 2)"),
        ("a:b:c", "slice(a, b, c)"),
        ("0, 1:", "(0, slice(1, None))"),
        ("0,", "(0,)"),
        ("..., None", "(..., None)"),
        ("*p, 0", "(*p, 0)"),
    ],
)
def test_an_index_becomes_an_expression(index: str, expected: str) -> None:
    assert rewrite(f"⟦x[{index}] = v⟧\n", store("{x}.put({index}, {value})")) == f"x = x.put({expected}, v)\n"


@pytest.mark.parametrize(
    ("text", "template", "target", "reason"),
    [
        ("⟦x[0] = y[0] = v⟧\n", SELECT, "x", "several targets"),
        ("⟦x[next(q)] = v⟧\n", SELECT, "x", "effects"),
        ("⟦x = v⟧\n", SELECT, "x", "no subscript store"),
        ("⟦x[0] = v⟧\n", "torch.where({mask})", "x", "no expression"),
        ("⟦x[0] = v⟧\n", SELECT, "x(", "no expression"),
        ("def f():\n    ⟦x[0] = v⟧\n", SELECT, "x", "new variable"),
    ],
)
def test_a_store_that_cannot_be_kept_apart_is_refused(text: str, template: str, target: str, reason: str) -> None:
    assert reason in refusal(text, store(template, target))


def test_a_global_is_declared() -> None:
    result = rewrite("def f():\n    ⟦x[0] = v⟧\n", store(SELECT, "x", "global"))
    assert result == "def f():\n    global x\n    x = torch.select_scatter(x, v, 0, 0)\n"
