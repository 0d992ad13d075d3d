"""Plans: the smallest right repair of a fault, how sure it is, and why there is none where there is none."""

from __future__ import annotations

import pytest

from inplace_fix.nouns import Applicability
from repair.repaired import X, finding

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE
END = "y.sum().backward()\n"

REPAIRS = {
    "a name of its own is bound to a new tensor": (
        X + "y = x.exp()\ny.add_(1)\n" + END,
        ("out-of-place", SAFE),
    ),
    "an item assignment gets a copy to write to": (
        X + "y = x.exp()\ny[0] = 0\n" + END,
        ("out-of-place", SAFE),
    ),
    "aliases go on seeing a write whose value autograd keeps a copy of": (
        X + "y = x.exp()\nz = y\ny.add_(1)\nprint(z)\n" + END,
        ("clone-at-save", UNSAFE),
    ),
    "a helper that is called for its write keeps it": (
        X + "def f(a):\n    a.add_(1)\ny = x.exp()\nf(y)\n" + END,
        ("clone-at-save", SAFE),
    ),
    "a buffer that others hold keeps its memory when it is refilled": (
        X + "b = torch.ones(3)\nd = [b]\ny = x * b\nb.zero_()\nprint(d[0])\n" + END,
        ("clone-at-save", SAFE),
    ),
    "no_grad would cut the graph of a new tensor": (
        X + "y = x * 2.0\nloss = (y * y).sum()\nwith torch.no_grad():\n    y.zero_()\nloss.backward()\n",
        ("clone-at-save", SAFE),
    ),
    "a flag is turned off": (
        X + "y = x.tanh()\ny = torch.nn.functional.relu(y, inplace=True)\n" + END,
        ("flag", SAFE),
    ),
    "the flag of a module is turned off where the module is made": (
        X + "act = torch.nn.ReLU(inplace=True)\ny = act(x.tanh())\n" + END,
        ("flag", SAFE),
    ),
    "a parameter is updated under no_grad": (
        "w = torch.nn.Parameter(torch.ones(3))\nw.mul_(0.5)\n",
        ("no_grad", SAFE),
    ),
    "a leaf that has a gradient is updated under no_grad": (
        X + "(x * x).sum().backward()\nx -= 0.1 * x.grad\n",
        ("no_grad", SAFE),
    ),
    "a leaf to which a computed value is added is bound to a new tensor": (
        X + "y = torch.ones(3, requires_grad=True)\ny.add_(x.sum())\n" + END,
        ("out-of-place", SAFE),
    ),
    "out= becomes an assignment": (
        X + "y = torch.empty(3, 3)\ntorch.exp(x, out=y)\n" + END,
        ("out=", SAFE),
    ),
    "one of several views is bound to a new tensor": (
        X + "h = x * 2.0\ny, z, w = h.unbind()\ny.mul_(2)\n" + END,
        ("out-of-place", SAFE),
    ),
    "the rows of a loop become views of their own": (
        X + "y = x * 2.0\nfor row in y:\n    row.mul_(2)\n" + END,
        ("single-views", UNSAFE),
    ),
    "an overlapping copy gets a copy of its source": (
        "h = torch.arange(4)\nh[1:] = h[:-1]\n",
        ("clone", SAFE),
    ),
    "a view is detached by binding its name": (
        X + "h = x * 2.0\ny = h[0]\ny.detach_()\n",
        ("out-of-place", SAFE),
    ),
    "an operation without an in-place derivative goes out of place": (
        X + "y = x * 2.0\ny.acosh_()\n" + END,
        ("out-of-place", SAFE),
    ),
    "a hook returns a new gradient": (
        X + "y = x * 2.0\ny.register_hook(lambda grad: grad.mul_(2))\n" + END,
        ("out-of-place", SAFE),
    ),
    "rows are copied before they are swapped": (
        "h = torch.zeros(3, 2)\nh[0], h[1] = h[1], h[0]\n",
        ("clone", UNSAFE),
    ),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_the_repair_and_how_sure_it_is(name: str) -> None:
    text, expected = REPAIRS[name]
    fix = finding(text).fix
    assert fix is not None
    assert (fix.form, fix.applicability) == expected


@pytest.mark.parametrize("name", REPAIRS)
def test_a_repair_that_rests_on_an_assumption_says_on_which(name: str) -> None:
    fix = finding(REPAIRS[name][0]).fix
    assert fix is not None
    assert (fix.applicability is UNSAFE) == any(mark in fix.message for mark in ("assuming", "change", "sees it"))


@pytest.mark.xfail(reason="the form replaces expressions, and an augmented assignment is none", strict=True)
def test_an_operator_on_an_attribute_that_is_a_view_becomes_a_call() -> None:
    fix = finding("h = torch.zeros(3, 2)\nh.T += 1\n").fix
    assert fix is not None
    assert (fix.form, fix.applicability) == ("method", SAFE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (X + "w = torch.nn.Parameter(torch.ones(3))\ny = x * w\nw.data.zero_()\n" + END, "behind the backward"),
        (X + "h = x * 2.0\na, b = h.chunk(2)\nh.mul_(2)\n(a + b).sum().backward()\n", "move the write"),
        (
            "n = torch.zeros(())\ndef f(w):\n    n.add_(1)\n    return w.sum()\ntorch.func.grad(f)(torch.ones(3))\n",
            "outside the transformed function",
        ),
    ],
    ids=["a parameter", "the base of views", "a captured counter"],
)
def test_what_needs_a_person_is_told_what_to_do(text: str, reason: str) -> None:
    found = finding(text)
    assert found.fix is None
    assert reason in found.no_fix


def test_a_clone_is_never_put_where_it_would_copy_a_buffer_in_every_round() -> None:
    text = (
        "h = torch.zeros(9, 3)\nloss = 0\nfor t in range(9):\n    h[t] = x.sum()\n"
        "    loss = loss + (h * x.sum()).sum()\nloss.backward()\n"
    )
    fix = finding(X + text).fix
    assert fix is None or fix.form != "out-of-place"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("y = torch.zeros(3)\ny.add_(1)\nprint(y)\n", "out-of-place"),
        ("y = torch.zeros(3)\nz = y\ny.add_(1)\nprint(z)\n", None),
        ("class C:\n    pass\ndef f(x: torch.Tensor):\n    x.add_(1)\n", None),
        ("def f(c: torch.Tensor):\n    y = c.exp()\n    c = y\n    c.add_(1)\n    return y\n", None),
    ],
)
def test_under_a_policy_only_what_surely_changes_nothing_is_rewritten(text: str, form: str | None) -> None:
    found = finding(text, "IPF102", "all")
    assert (found.fix.form if found.fix else None) == form
    assert bool(found.no_fix) == (form is None)


def test_no_grad_does_not_let_a_leaf_be_resized() -> None:
    found = finding("w = torch.ones(3, requires_grad=True)\nw.resize_(9)\n")
    assert found.fix is None
    assert "make a new tensor of that size" in found.no_fix
