"""Iteration: what a loop visits, and what unpacking parts a value into."""

from __future__ import annotations

import pytest

from analysis.analysed import conflicts, facts, observed

X = "x = torch.ones(3, 2, requires_grad=True)\n"


def test_each_item_of_a_short_list_is_visited_by_itself() -> None:
    text = "a = x.exp()\nb = x * 2.0\nfor t in [b, b]:\n    t.add_(1)\n(a + b).sum().backward()\n"
    assert conflicts(X + text) == set()


def test_the_items_of_a_list_that_is_filled_in_a_loop_are_all_written() -> None:
    text = (
        "hs = []\nfor _ in range(9):\n    hs.append(x.exp())\nfor h in hs:\n    h.add_(1)\nsum(hs).sum().backward()\n"
    )
    assert conflicts(X + text) == {(5, 7)}


def test_the_rows_of_a_tensor_are_views_that_one_operation_made() -> None:
    found = facts(X + "h = x * 2.0\nfor row in h:\n    row.mul_(2)\n")
    assert {w.view for w in found.writes} == {"multi"}


def test_a_row_by_its_index_is_a_view_of_its_own() -> None:
    found = facts(X + "h = x * 2.0\nfor i in range(3):\n    h[i].mul_(2)\n")
    assert {w.view for w in found.writes} == {"view"}


@pytest.mark.parametrize("making", ["h.chunk(2)", "h.split(1)", "h.unbind()", "torch.chunk(h, 2)", "h"])
def test_parts_of_a_tensor_are_several_views_of_one(making: str) -> None:
    found = facts(X + f"h = x * 2.0\na, b = {making}\na.mul_(2)\n")
    assert {w.view for w in found.writes} == {"multi"}


@pytest.mark.xfail(reason="an unknown number of parts is not parted where one target is starred", strict=True)
def test_parts_beside_a_starred_target_are_views_too() -> None:
    found = facts(X + "h = x * 2.0\na, *b = h.chunk(2)\na.mul_(2)\n")
    assert {w.view for w in found.writes} == {"multi"}


def test_a_saved_value_is_overwritten_through_one_of_its_parts() -> None:
    text = (
        "with torch.no_grad():\n    h = torch.ones(4)\nloss = (x.sum() * h).sum()\n"
        "a, b = h.chunk(2)\na.zero_()\nloss.backward()\n"
    )
    assert conflicts(X + text) == {(5, 7)}


@pytest.mark.parametrize(
    ("unpacking", "name"),
    [
        ("a, b, c = y, 1, 2", "a"),
        ("a, *b = 1, y, 2", "b[0]"),
        ("*a, b = 1, 2, y", "b"),
        ("(a, [b, c]), d = (1, [2, y]), 3", "c"),
    ],
)
def test_unpacking_hands_each_target_its_own_part(unpacking: str, name: str) -> None:
    assert conflicts(X + f"y = x.exp()\n{unpacking}\n{name}.add_(1)\ny.sum().backward()\n") == {(3, 5)}


def test_a_swap_of_names_moves_no_memory() -> None:
    text = "y = x.exp()\nz = x * 2.0\ny, z = z, y\ny.add_(1)\n(y + z).sum().backward()\n"
    assert conflicts(X + text) == set()


def test_a_loop_that_breaks_may_have_run_no_round() -> None:
    text = "y = x * 2.0\nfor i in range(3):\n    if i:\n        break\n    y = x.exp()\ny.add_(1)\ny.sum().backward()\n"
    assert conflicts(X + text) == {(7, 8)}


def test_parts_of_what_is_unknown_stay_the_same_parts() -> None:
    text = """
    def f(batch):
        a: torch.Tensor = batch[0]
        y = a.exp()
        batch[0].add_(1)
        return y + a
    """
    assert observed(text) == set()
