"""Custom Functions: what they save, what their results are, and what their backward does to gradients."""

from __future__ import annotations

import pytest

from analysis.analysed import conflicts, facts, observed

USE = """
x = torch.ones(3, requires_grad=True)
h = x * 2.0
y = F.apply(h)
{use}
y.sum().backward()
"""


def function(forward: str, backward: str = "return grad", use: str = "pass") -> str:
    """A custom Function; forward's body is line 5 of the program, backward's line 8, the use line 12."""
    return (
        "class F(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        f"        {forward}\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad):\n"
        f"        {backward}" + USE.format(use=use)
    )


def test_what_forward_saves_must_not_be_overwritten() -> None:
    text = function("y = x.exp(); ctx.save_for_backward(y); return y", use="y.add_(1)")
    assert conflicts(text) == {(11, 12)}


def test_what_forward_computes_with_is_not_saved_by_itself() -> None:
    assert conflicts(function("return x.exp() * 1", use="y.add_(1)")) == set()


def test_an_input_that_is_saved_must_not_be_overwritten() -> None:
    assert conflicts(function("ctx.save_for_backward(x); return x * 2", use="h.add_(1)")) == {(11, 12)}


def test_a_value_that_forward_edits_after_it_saved_it_is_observed() -> None:
    text = function("y = x.exp(); ctx.save_for_backward(y); y.mul_(2); return y")
    assert observed(text) == {(5, "edit-after-save")}


def test_an_input_that_is_handed_back_is_a_view_that_must_not_be_written() -> None:
    (write,) = facts(function("return x.view_as(x)", use="y.mul_(2)")).writes
    assert write.view == "function"


def test_an_input_that_is_marked_dirty_may_be_written_and_given_back() -> None:
    text = function("ctx.mark_dirty(x); x.mul_(2); return x")
    assert (conflicts(text), observed(text)) == (set(), set())


def test_backward_is_handed_a_gradient_that_others_hold() -> None:
    found = facts(function("return x * 2", "return grad.mul_(2)"))
    assert [(w.site.line, w.tensor.role) for w in found.writes] == [(8, "incoming")]


@pytest.mark.xfail(reason="the backward was run before, as an ordinary method", strict=True)
def test_backward_is_known_where_the_function_is_applied_inside_a_function() -> None:
    text = function("return x * 2", "return grad.mul_(2)").split("\nx = ")[0]
    text += "\ndef run(x: torch.Tensor):\n    return F.apply(x)\n"
    assert {w.tensor.role for w in facts(text).writes} == {"incoming"}
