"""One call, watched: small functions of which it is plain what they save, write and return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from inplace_fix.catalog import Result, Save  # noqa: E402
from scripts.catalog_build import facts, measure  # noqa: E402
from scripts.catalog_build.measure import Seen  # noqa: E402

MATRIX = torch.arange(12.0).reshape(3, 4) + 1


def watched(function: Callable[..., Any], mask: str = "x", **bound: Any) -> Seen:
    return measure.run(function, bound, lambda values: (tuple(values.values()), {}), frozenset(mask))


def test_a_saved_argument_is_named() -> None:
    seen = watched(lambda x, y: x * y, mask="x", x=MATRIX, y=MATRIX + 1)
    assert seen.saved == {"y"}
    assert seen.requires_grad


def test_a_saved_result_is_named() -> None:
    assert watched(lambda x: x.exp(), x=MATRIX).saved == {"result"}
    assert watched(lambda x: (x + 1, x.exp()), x=MATRIX).saved == {"result[1]"}


def test_a_private_value_is_not_reported() -> None:
    assert watched(lambda x: (x + 1).log(), x=MATRIX).saved == set()


def test_an_in_place_operation_saves_its_result_not_its_argument() -> None:
    seen = watched(lambda x: x.exp_(), x=MATRIX)
    assert (seen.saved, seen.written, seen.silent, seen.relation) == ({"result"}, {"x"}, False, Result.SAME)


def test_a_write_past_the_version_counter_is_silent() -> None:
    seen = watched(lambda x: x.data.add_(1).sum(), x=MATRIX)
    assert (seen.written, seen.silent) == ({"x"}, True)


def test_a_zero_dimensional_tensor_counts_as_saved() -> None:
    assert watched(lambda x, y: x * y, mask="x", x=MATRIX, y=torch.tensor(2.0)).saved == {"y"}


def test_nothing_requires_grad_without_a_mask() -> None:
    assert not watched(lambda x: x.exp(), mask="", x=MATRIX).requires_grad


@pytest.mark.parametrize(
    ("function", "relation"),
    [
        (lambda x: x + 1, Result.FRESH),
        (lambda x: x, Result.SAME),
        (lambda x: x.t(), Result.VIEW),
        (lambda x: x.chunk(2), Result.VIEWS),
        (lambda x: x.tensor_split(2), Result.SINGLE_VIEWS),
        (lambda x: x[:, :1].expand(3, 4), Result.EXPANDED),
        (lambda x: x.unfold(1, 2, 1), Result.OVERLAPPING),
        (lambda x: x.detach(), Result.DETACHED),
        (lambda x: x.data, Result.UNVERSIONED),
        (lambda x: x.detach().numpy(), Result.ARRAY),
        (lambda x: None, Result.NONE),
        (lambda x: 3, Result.VALUE),
        (lambda x: iter([x[0], x[1]]), Result.SINGLE_VIEWS),
    ],
)
def test_a_result_is_related_to_the_first_tensor(function: Callable[..., Any], relation: Result) -> None:
    assert watched(function, x=MATRIX).relation is relation


def test_memory_of_an_array_is_recognised() -> None:
    assert watched(torch.from_numpy, mask="", a=MATRIX.numpy().copy()).relation is Result.ARRAY
    assert watched(lambda a: torch.tensor(a), mask="", a=MATRIX.numpy().copy()).relation is Result.FRESH


def test_random_numbers_are_noticed() -> None:
    assert watched(torch.rand_like, mask="", x=MATRIX).random
    assert not watched(torch.ones_like, mask="", x=MATRIX).random


def test_empty_and_single_element_tensors_are_trivial() -> None:
    assert watched(lambda x: x + 1, x=torch.ones(0)).trivial
    assert watched(lambda x: x + 1, x=torch.ones(())).trivial
    assert not watched(lambda x: x + 1, x=MATRIX).trivial


def run(mask: str, saved: str = "", tensors: str = "xy", **more: Any) -> Seen:
    """What a run with a mask saved, every letter a parameter."""
    plain = {"written": frozenset(), "silent": False, "requires_grad": True, "relation": Result.FRESH, "results": 1}
    plain |= {"random": False, "trivial": False}
    return Seen(frozenset(mask), frozenset(tensors), frozenset(saved), **{**plain, **more})  # type: ignore[arg-type]


def combined(*seen: Seen) -> tuple[Save, ...]:
    return facts.combine(seen, ("x", "y")).saves


def test_a_save_that_hangs_on_another_argument_says_so() -> None:
    assert combined(run("x"), run("y", "x"), run("xy", "x")) == (Save("x", ("y",)),)


def test_a_save_under_every_mask_hangs_on_nothing() -> None:
    assert combined(run("x", "x"), run("y", "x"), run("xy", "x")) == (Save("x"),)


def test_a_save_in_half_of_the_samples_is_not_always() -> None:
    assert combined(run("x", "x"), run("x")) == (Save("x", (), False),)


def test_one_odd_sample_in_ten_does_not_count() -> None:
    assert combined(*[run("x", "x")] * 9, run("x")) == (Save("x"),)


def test_a_sample_without_the_argument_says_nothing_of_saving_it() -> None:
    assert combined(run("x", "y"), run("x", tensors="x")) == (Save("y"),)


def test_empty_samples_and_other_layouts_do_not_make_it_sometimes() -> None:
    seen = (run("x", "x"), run("x", trivial=True), run("x", other_layout=True))
    assert combined(*seen) == (Save("x"),)


def test_a_save_that_single_masks_do_not_explain_is_not_always() -> None:
    assert combined(run("x"), run("y"), run("xy", "x")) == (Save("x", (), False),)


@pytest.mark.parametrize(
    ("kinds", "whole"),
    [
        ({Result.VIEW, Result.FRESH}, Result.VIEW_OR_FRESH),
        ({Result.SAME, Result.FRESH}, Result.SAME_OR_FRESH),
        ({Result.SAME, Result.VIEW}, Result.VIEW),
        ({Result.VIEW, Result.EXPANDED}, Result.EXPANDED),
        ({Result.VIEWS, Result.SINGLE_VIEWS}, Result.VIEWS),
        ({Result.VALUE, Result.NONE}, Result.VALUE),
    ],
)
def test_relations_of_many_runs_make_one(kinds: set[Result], whole: Result) -> None:
    assert facts.relation_of(kinds) is whole
