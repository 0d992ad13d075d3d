"""The rewrite of a filled buffer to a list that is stacked."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal

from codemods import apply
from codemods.steps import ListAndStack, NoGrad, OutOfPlaceAssign


def stacked(text: str, buffer: str = "out", dim: int = 0, torch: str = "torch") -> str:
    """The first mark is the creation, the second the loop, the others stores."""
    source, (creation, loop, *stores) = marked(text)
    return apply(source, [ListAndStack(loop, buffer, creation, tuple(stores), dim, torch)])


CASES = {
    "a range": (
        "⟦out = torch.zeros(2, 3)⟧  # rows\nh = x[0]\n"
        "⟦for t in range(2):\n    h = h * y[t]  # step\n    ⟦out[t] = h⟧⟧\n\nz = out.sum()\n",
        0,
        "out_rows = []  # rows\nh = x[0]\n"
        "for t in range(2):\n    h = h * y[t]  # step\n    out_rows.append(h)\n"
        "out = torch.stack(out_rows)\n\nz = out.sum()\n",
    ),
    "an enumeration": (
        "⟦out = torch.empty_like(x)⟧\n⟦for t, row in enumerate(x):\n    ⟦out[t, :] = row + 1⟧⟧\n",
        0,
        "out_rows = []\nfor t, row in enumerate(x):\n    out_rows.append(row + 1)\nout = torch.stack(out_rows)\n",
    ),
    "the second dimension": (
        "⟦out = torch.zeros(3, 2)⟧\n⟦for t in range(2):\n    ⟦out[:, t] = x[t]⟧⟧\n",
        1,
        "out_rows = []\nfor t in range(2):\n    out_rows.append(x[t])\nout = torch.stack(out_rows, dim=1)\n",
    ),
    "both branches": (
        "⟦out = torch.zeros(2, 3)⟧\n⟦for t in range(0, 2):\n"
        "    if t:\n        ⟦out[t] = x[t]⟧\n    else: ⟦out[t, ...] = y[t]⟧⟧\n",
        0,
        "out_rows = []\nfor t in range(0, 2):\n"
        "    if t:\n        out_rows.append(x[t])\n    else: out_rows.append(y[t])\nout = torch.stack(out_rows)\n",
    ),
    "a with block in a function": (
        "def f(x):\n    ⟦out: torch.Tensor = torch.zeros(2, 3)⟧\n    ⟦for t in range(2):\n"
        "        with torch.enable_grad():\n            ⟦out[t] = x[t]⟧⟧\n    return out\nz = f(x)\n",
        0,
        "def f(x):\n    out_rows = []\n    for t in range(2):\n"
        "        with torch.enable_grad():\n            out_rows.append(x[t])\n    out = torch.stack(out_rows)\n"
        "    return out\nz = f(x)\n",
    ),
    "a loop on one line": (
        "⟦out = torch.zeros(2, 3)⟧\n⟦for t in range(2): ⟦out[t] = x[t]⟧⟧\n",
        0,
        "out_rows = []\nfor t in range(2): out_rows.append(x[t])\nout = torch.stack(out_rows)\n",
    ),
    "a name that is taken": (
        "out_rows = 1\n⟦out = torch.zeros(2, 3)⟧\n⟦for t in range(2): ⟦out[t] = x[t]⟧⟧\n",
        0,
        "out_rows = 1\nout_rows_2 = []\nfor t in range(2): out_rows_2.append(x[t])\nout = torch.stack(out_rows_2)\n",
    ),
    "an inner loop with a break of its own": (
        "⟦out = torch.zeros(2, 3)⟧\n"
        "⟦for t in range(2):\n    for q in range(3):\n        break\n    ⟦out[t] = x[t] + q⟧⟧\n",
        0,
        "out_rows = []\nfor t in range(2):\n    for q in range(3):\n        break\n    out_rows.append(x[t] + q)\n"
        "out = torch.stack(out_rows)\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_buffer_becomes_a_list_in(name: str) -> None:
    text, dim, expected = CASES[name]
    result = stacked(text, dim=dim)
    assert result == expected
    after = outcome(result)
    for rows in ("out_rows", "out_rows_2"):
        if rows not in marked(text)[0]:
            after.pop(rows, None)
    assert after == outcome(marked(text)[0])


def test_torch_is_imported_where_it_is_not_known() -> None:
    text = "import os\n⟦out = zeros(2)⟧\n⟦for t in range(2): ⟦out[t] = x[t]⟧⟧\n"
    assert stacked(text, torch="").startswith("import os\nimport torch\nout_rows = []\n")


def test_steps_inside_the_loop_go_along() -> None:
    source, (creation, loop, step, store) = marked(
        "⟦out = torch.zeros(2, 3)⟧\nh = x[0] * 1\n⟦for t in range(2):\n    ⟦h *= y[t]⟧\n    ⟦out[t] = h⟧⟧\n"
    )
    result = apply(source, [ListAndStack(loop, "out", creation, (store,)), OutOfPlaceAssign(step)])
    assert "    h = h * y[t]\n    out_rows.append(h)\n" in result
    assert outcome(result)["out"] == outcome(source)["out"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("⟦out = z()⟧\nuse(out)\n⟦for t in r: ⟦out[t] = h⟧⟧\n", "between"),
        ("⟦out = z()⟧; use(out)\n⟦for t in r: ⟦out[t] = h⟧⟧\n", "beside its creation"),
        ("⟦out = z()⟧\n⟦for t in r:\n    ⟦out[t] = h⟧\n    use(out)⟧\n", "in the loop otherwise"),
        ("⟦out = z()⟧\n⟦for t in r:\n    ⟦out[t] = out[t - 1]⟧⟧\n", "read while"),
        ("⟦out = z()⟧\n⟦for t in r:\n    if a: ⟦out[t] = h⟧⟧\n", "exactly once"),
        ("⟦out = z()⟧\n⟦for t in r:\n    ⟦out[t] = h⟧\n    ⟦out[t] = g⟧⟧\n", "exactly once"),
        ("⟦out = z()⟧\n⟦for t in r:\n    for q in s: ⟦out[t] = h⟧⟧\n", "exactly once"),
        ("⟦out = z()⟧\n⟦for t in r:\n    try: ⟦out[t] = h⟧\n    except E: pass⟧\n", "exactly once"),
        ("⟦out = z()⟧\n⟦for t in r:\n    if a: break\n    ⟦out[t] = h⟧⟧\n", "break"),
        ("⟦out = z()⟧\n⟦for t in r:\n    if a: continue\n    ⟦out[t] = h⟧⟧\n", "continue"),
        ("def f():\n    ⟦out = z()⟧\n    ⟦for t in r:\n        ⟦out[t] = h⟧\n        return⟧\n", "return"),
        ("⟦out = z()⟧\n⟦for t in r:\n    ⟦out[t] = h⟧\nelse: pass⟧\n", "else"),
        ("async def f():\n    ⟦out = z()⟧\n    ⟦async for t in r: ⟦out[t] = h⟧⟧\n", "asynchronous"),
        ("⟦out = z()⟧\n⟦for t in r: ⟦out[t + 1] = h⟧⟧\n", "own index"),
        ("⟦out = z()⟧\n⟦for t in r: ⟦out[s] = h⟧⟧\n", "own index"),
        ("⟦out = z()⟧\n⟦for t in r: ⟦out[t:] = h⟧⟧\n", "own index"),
        ("⟦out = z()⟧\n⟦for t in r: ⟦out[t, 1:] = h⟧⟧\n", "part of the row"),
        ("⟦out = z()⟧\n⟦for t in r: ⟦out[t] += h⟧⟧\n", "plain assignment"),
        ("⟦out = z()⟧\n⟦for t in r: ⟦other[t] = h⟧⟧\n", "not store a row"),
        ("⟦out = z()⟧\n⟦for t in range(1, 4): ⟦out[t] = h⟧⟧\n", "from 0"),
        ("⟦out = z()⟧\n⟦for t in range(0, 4, 2): ⟦out[t] = h⟧⟧\n", "from 0"),
        ("⟦out = z()⟧\n⟦for t, v in enumerate(r, 1): ⟦out[t] = h⟧⟧\n", "from 0"),
        ("⟦out = z()⟧\n⟦for t in reversed(r): ⟦out[t] = h⟧⟧\n", "upwards"),
        ("⟦out = z()⟧\n⟦for t in r:\n    t += 1\n    ⟦out[t] = h⟧⟧\n", "index is assigned"),
        ("⟦out = keep = z()⟧\n⟦for t in r: ⟦out[t] = h⟧⟧\n", "nothing else"),
        ("if a:\n    ⟦out = z()⟧\n⟦for t in r: ⟦out[t] = h⟧⟧\n", "in the same block"),
        ("⟦for t in r: ⟦out[t] = h⟧⟧\n", "no statement"),
        ("def f():\n    ⟦out = z()⟧\n    g = lambda: out\n    ⟦for t in r: ⟦out[t] = h⟧⟧\n", "between"),
        ("def f():\n    ⟦out = z()⟧\n    ⟦for t in r: ⟦out[t] = h⟧⟧\n    return lambda: out\n", "inner function"),
    ],
)
def test_a_buffer_that_is_used_otherwise_is_left(text: str, reason: str) -> None:
    source, spans = marked(text)
    if reason == "no statement":
        spans.insert(0, spans[0].__class__(9, 0, 9, 1))
    from codemods.steps import CannotRewrite

    with pytest.raises(CannotRewrite) as caught:
        apply(source, [ListAndStack(spans[1], "out", spans[0], tuple(spans[2:]))])
    assert reason in caught.value.reason


def test_another_statement_is_no_loop() -> None:
    assert "no for loop" in refusal("⟦x = 1⟧\n", lambda span: ListAndStack(span, "x", span, (span,)))
    assert "no_grad" in apply("x = 1\n", [NoGrad(marked("⟦x = 1⟧\n")[1][0])])
