"""Transforms of functions: what is wrapped may be written, what was captured may not."""

from __future__ import annotations

import pytest

from analysis.analysed import facts, observed
from inplace_fix.rules.base import rules

CHECKS = {rule.code: rule.check for rule in rules()}


def told(text: str) -> list[int]:
    """The lines that the rule about transforms reports."""
    return [fault.site.line for fault in CHECKS["IPF011"](facts(text))]


@pytest.mark.parametrize(
    "transform",
    ["torch.func.grad(f)", "torch.func.vjp(f, w)", "torch.func.jacrev(f)", "torch.func.grad(lambda w: f(w))"],
)
def test_a_captured_tensor_must_not_be_written_under_a_transform(transform: str) -> None:
    call = transform if "vjp" in transform else f"{transform}(w)"
    text = f"n = torch.zeros(())\nw = torch.ones(3)\ndef f(w):\n    n.add_(1)\n    return w.sum()\n{call}\n"
    assert told(text) == [5]


def test_a_tensor_that_the_function_made_may_be_written() -> None:
    text = "def f(w):\n    h = w * 2\n    h.add_(1)\n    return h.sum()\ntorch.func.grad(f)(torch.ones(3))\n"
    assert told(text) == []


def test_the_same_function_called_plainly_may_write_what_it_captured() -> None:
    text = "n = torch.zeros(())\ndef f(w):\n    n.add_(1)\n    return w.sum()\nf(torch.ones(3))\n"
    assert told(text) == []


def test_a_fresh_buffer_takes_no_batched_value_under_vmap() -> None:
    text = "def f(y):\n    t = torch.zeros(3)\n    t[0] = y\n    return t\ntorch.vmap(f)(torch.ones(3))\n"
    assert told(text) == [3]


def test_a_buffer_made_from_the_argument_does() -> None:
    text = "def f(y):\n    t = y.new_zeros(3)\n    t[0] = y\n    return t\ntorch.vmap(f)(torch.ones(3))\n"
    assert told(text) == []


def test_functions_of_a_transform_leave_no_other_observation() -> None:
    assert observed("torch.func.grad(lambda w: (w * w).sum())(torch.ones(3)).add_(1)\n") == set()
