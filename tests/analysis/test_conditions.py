"""Conditions: arms of branches that exclude each other, and the bindings that can be seen under them."""

from __future__ import annotations

from inplace_fix.analysis.conditions import ALWAYS, MOST_ALTERNATIVES, Cell, Condition, both, compatible, implies
from inplace_fix.analysis.values import Const

THEN: Condition = {"a": 1}
ELSE: Condition = {"a": 0}
OTHER: Condition = {"b": 1}


def seen(cell: Cell, condition: Condition) -> list[object]:
    """The values that a cell shows, newest first."""
    return [value.value for _, value, _ in cell.read(condition) if isinstance(value, Const)]


def filled(*bindings: tuple[Condition, object]) -> Cell:
    """A cell bound to several values, one after the other."""
    cell = Cell("local", "x")
    for tick, (condition, value) in enumerate(bindings):
        cell.write(condition, Const(value), tick)
    return cell


def test_two_arms_of_one_branch_never_meet() -> None:
    assert not compatible(THEN, ELSE)
    assert not compatible({**THEN, **OTHER}, ELSE)


def test_arms_of_different_branches_may_meet() -> None:
    assert compatible(THEN, OTHER)
    assert compatible(THEN, ALWAYS)


def test_more_arms_imply_fewer() -> None:
    assert implies({**THEN, **OTHER}, THEN)
    assert implies(THEN, ALWAYS)
    assert not implies(THEN, {**THEN, **OTHER})
    assert not implies(ELSE, THEN)


def test_a_conjunction_holds_the_arms_of_both() -> None:
    assert both(THEN, OTHER) == {"a": 1, "b": 1}
    assert both(ALWAYS, THEN) == THEN == both(THEN, ALWAYS)


def test_a_new_cell_is_not_bound() -> None:
    cell = Cell("local", "x")
    assert not cell.bound
    assert cell.latest() is None
    assert seen(cell, ALWAYS) == []


def test_a_binding_on_every_path_hides_those_before() -> None:
    cell = filled((ALWAYS, 1), (ALWAYS, 2))
    assert seen(cell, ALWAYS) == [2]


def test_a_binding_in_one_arm_leaves_the_one_before_to_the_other() -> None:
    cell = filled((ALWAYS, 1), (THEN, 2))
    assert seen(cell, THEN) == [2]
    assert seen(cell, ELSE) == [1]


def test_after_the_branch_both_bindings_are_seen_newest_first() -> None:
    cell = filled((ALWAYS, 1), (THEN, 2))
    assert seen(cell, ALWAYS) == [2, 1]


def test_the_older_binding_is_seen_where_the_newer_was_not_made() -> None:
    cell = filled((ALWAYS, 1), (THEN, 2))
    assert [dict(condition) for condition, _, _ in cell.read(ALWAYS)] == [{"a": 1}, {"a": 0}]


def test_bindings_in_both_arms_hide_none_of_each_other() -> None:
    cell = filled((THEN, 1), (ELSE, 2))
    assert seen(cell, THEN) == [1]
    assert seen(cell, ELSE) == [2]


def test_a_binding_carries_the_tick_at_which_it_was_made() -> None:
    cell = filled((ALWAYS, 1), (THEN, 2))
    assert [tick for _, _, tick in cell.read(ALWAYS)] == [1, 0]


def test_alternatives_are_bounded_and_the_newest_are_kept() -> None:
    cell = filled(*(({number: 1}, number) for number in range(3 * MOST_ALTERNATIVES)))
    assert len(cell.bindings) == MOST_ALTERNATIVES
    assert seen(cell, ALWAYS)[0] == 3 * MOST_ALTERNATIVES - 1
