"""Whether two stretches of a storage share memory, compared with what torch itself writes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from inplace_fix.trace.regions import narrowed, overlap, overlaps_itself, region_of

INDICES: list[Any] = [
    0,
    -1,
    slice(None),
    slice(1, None),
    slice(None, None, 2),
    slice(2, 1),
    ...,
    (0, 1),
    (..., 0),
    (slice(1, 3), -1),
    (None, 0, slice(None, 2)),
    (0, ..., 1),
]


def _elements(tensor: torch.Tensor) -> set[int]:
    """The storage positions that a view reaches, by asking torch."""
    numbers = torch.arange(tensor.untyped_storage().nbytes() // tensor.element_size())
    reached: set[int] = set(
        numbers.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).flatten().tolist()
    )
    return reached


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize(
    "base", [torch.zeros(4, 3), torch.zeros(3, 4).t(), torch.zeros(6, 5)[1:5, 2:]], ids=["plain", "t", "part"]
)
def test_an_index_is_narrowed_as_torch_does(index: Any, base: torch.Tensor) -> None:
    view = base[index]
    region, wanted = region_of(base, index), region_of(view)
    assert region is not None
    assert wanted is not None
    mine = narrowed(region)
    assert mine.offset == wanted.offset or view.numel() == 0
    kept = [pair for pair in zip(wanted.shape, wanted.strides, strict=True) if pair[0] != 1]
    assert [pair for pair in zip(mine.shape, mine.strides, strict=True) if pair[0] != 1] == kept


@pytest.mark.parametrize("index", [torch.tensor([0]), [0, 1], True, (0, torch.tensor([1]))], ids=str)
def test_an_index_that_gives_no_view_covers_the_whole(index: object) -> None:
    base = torch.zeros(4, 3)
    region = region_of(base, index)
    assert region is not None
    assert narrowed(region) == region_of(base)


views = st.builds(
    lambda rows, columns, row, column, step, turned: (
        (view := torch.zeros(8, 8)[row : row + rows : step, column : column + columns]),
        view.t() if turned else view,
    )[1],
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(0, 4),
    st.integers(0, 4),
    st.integers(1, 2),
    st.booleans(),
)


@given(views, views)
def test_overlap_agrees_with_the_elements_that_torch_reaches(a: torch.Tensor, b: torch.Tensor) -> None:
    first, second = region_of(a), region_of(b)
    assert first is not None
    assert second is not None
    assert overlap(first, second) == bool(_elements(a) & _elements(b))


@given(st.integers(1, 6), st.integers(1, 6))
def test_windows_overlap_where_their_step_is_below_their_size(size: int, step: int) -> None:
    windows = torch.zeros(20).unfold(0, size, step)
    region = region_of(windows)
    assert region is not None
    assert overlaps_itself(region) == (step < size)


def test_tensors_of_another_element_size_are_compared_by_bytes() -> None:
    base = torch.zeros(8)
    low, high = region_of(base[:4].view(torch.float64)), region_of(base[4:])
    assert low is not None
    assert high is not None
    assert not overlap(low, high)
    assert overlap(low, high._replace(offset=3))
