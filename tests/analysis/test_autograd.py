"""Autograd: which saved values a backward needs, and which of them were overwritten before it."""

from __future__ import annotations

from analysis.analysed import certain, conflicts, facts, observed
from inplace_fix.analysis.values import Tri

X = "x = torch.ones(3, requires_grad=True)\n"


def test_a_saved_result_that_is_overwritten_before_the_backward_is_a_conflict() -> None:
    assert conflicts(X + "y = x.exp()\ny.add_(1)\ny.sum().backward()\n") == {(3, 4)}


def test_a_write_after_the_backward_is_none() -> None:
    assert conflicts(X + "y = x.exp()\ny.sum().backward()\ny.add_(1)\n") == set()


def test_a_graph_that_is_kept_still_needs_its_values() -> None:
    text = "y = x.exp()\nloss = y.sum()\nloss.backward(retain_graph=True)\ny.add_(1)\nloss.backward()\n"
    assert conflicts(X + text) == {(3, 6)}


def test_gradients_by_grad_need_the_values_too() -> None:
    assert conflicts(X + "y = x.exp()\ny.add_(1)\ntorch.autograd.grad(y.sum(), x)\n") == {(3, 4)}


def test_an_operation_that_saves_nothing_conflicts_with_nothing() -> None:
    assert conflicts(X + "y = x * 2.0\ny.add_(5.0)\ny.sum().backward()\n") == set()


def test_what_is_computed_without_gradients_is_not_saved() -> None:
    text = "with torch.no_grad():\n    y = x.exp()\ny.add_(1)\n(y * x).sum().backward()\n"
    assert conflicts(X + text) == set()


def test_a_constant_saved_for_the_gradient_of_another_is_a_conflict() -> None:
    assert conflicts(X + "m = torch.ones(3)\nloss = (x * m).sum()\nm.zero_()\nloss.backward()\n") == {(4, 5)}


def test_a_clone_is_memory_of_its_own() -> None:
    assert conflicts(X + "y = x.exp()\nz = y.clone()\nz.add_(1)\n(y + z).sum().backward()\n") == set()


def test_a_detached_alias_is_the_same_memory() -> None:
    assert conflicts(X + "y = x.exp()\nz = y.detach()\nz.add_(1)\ny.sum().backward()\n") == {(3, 5)}


def test_the_second_write_to_the_same_place_is_not_told_again() -> None:
    assert conflicts(X + "y = x.exp()\ny.add_(1)\ny.mul_(2)\ny.sum().backward()\n") == {(3, 4)}


def test_what_leaves_a_function_may_be_differentiated_outside() -> None:
    text = """
    def f(x: torch.Tensor):
        y = x.exp()
        y.add_(1)
        return y
    """
    assert conflicts(text) == {(3, 4)}
    assert certain(text) == {False}


def test_a_conflict_on_an_input_that_requires_grad_is_certain() -> None:
    assert certain(X + "y = x.exp()\ny.add_(1)\ny.sum().backward()\n") == {True}


def test_what_a_possible_conflict_hangs_on_is_told() -> None:
    (conflict,) = facts("def f(x: torch.Tensor):\n    y = x.exp()\n    y.add_(1)\n    return y\n").conflicts
    assert "require grad" in conflict.hangs_on
    assert conflict.save.node.requires is Tri.MAYBE


def test_arms_that_exclude_each_other_never_conflict() -> None:
    text = """
    def f(x: torch.Tensor, flag):
        if flag:
            y = x.exp()
        else:
            y = x * 2.0
            y.add_(1)
        return y
    """
    assert conflicts(text) == set()


def test_arms_of_two_branches_on_one_test_exclude_each_other() -> None:
    text = """
    def f(x: torch.Tensor, flag: bool):
        y = x * 2.0
        if flag:
            y = x.exp()
        if not flag:
            y.add_(1)
        return y
    """
    assert conflicts(text) == set()


def test_arms_of_two_independent_branches_may_conflict() -> None:
    text = """
    def f(x: torch.Tensor, one: bool, two: bool):
        y = x * 2.0
        if one:
            y = x.exp()
        if two:
            y.add_(1)
        return y
    """
    assert conflicts(text) == {(5, 7)}


def test_an_early_return_ends_its_path() -> None:
    text = """
    def f(x: torch.Tensor, flag: bool):
        y = x.exp()
        if flag:
            return y
        z = x * 2.0
        z.add_(1)
        return z
    """
    assert conflicts(text) == set()


def test_a_round_of_a_loop_overwrites_what_the_round_before_saved() -> None:
    text = (
        "h = torch.zeros(3)\nloss = 0.0\nfor _ in range(5):\n    h += x\n"
        "    loss = loss + (h * h).sum()\nloss.backward()\n"
    )
    assert conflicts(X + text) == {(7, 6)}


def test_only_the_last_round_counts_where_the_loss_is_bound_anew() -> None:
    text = "h = torch.zeros(3)\nfor _ in range(5):\n    h += x\n    loss = (h * h).sum()\nloss.backward()\n"
    assert conflicts(X + text) == set()


def test_views_of_several_must_not_be_used_after_their_base_was_written() -> None:
    text = "h = x * 2.0\na, b, c = h.unbind()\nh.mul_(2.0)\n(a + b).backward()\n"
    assert observed(X + text) == {(5, "base-of-views")}


def test_a_write_that_moves_no_version_leaves_the_views_of_several_usable() -> None:
    text = "h = x * 2.0\na, b, c = h.unbind()\nh.data.mul_(2.0)\n(a + b).backward()\n"
    assert observed(X + text) == set()
