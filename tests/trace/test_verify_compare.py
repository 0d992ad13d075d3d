"""Two records side by side: what differs first, and by how much."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from inplace_fix.trace.verify_compare import Comparison, compare, main  # noqa: E402
from inplace_fix.trace.verify_record import Recorder  # noqa: E402


def _recorded(program: Callable[[], Any], kept_bytes: int = 1 << 20) -> dict[str, Any]:
    with Recorder(kept_bytes) as recorder:
        program()
        return recorder.record()


def _compared(one: Callable[[], Any], two: Callable[[], Any]) -> Comparison:
    return compare(_recorded(one), _recorded(two))


def _scaled(factor: float, dtype: torch.dtype = torch.float32) -> Callable[[], None]:
    def program() -> None:
        x = torch.tensor([1.0, 1.0], dtype=dtype, requires_grad=True)
        (x * factor).sum().backward()

    return program


def test_the_same_program_is_the_same() -> None:
    result = _compared(_scaled(3), _scaled(3))
    assert (result.calls, result.differing, result.first) == (1, 0, None)
    assert result.tensors == 2


def test_the_first_difference_is_the_loss_and_says_by_how_much() -> None:
    result = _compared(_scaled(2), _scaled(3))
    assert result.first is not None
    assert result.first.where == "backward 1: loss"
    assert result.first.absolute == 2.0
    assert result.first.relative == pytest.approx(0.5)
    assert result.differing == 2


def test_a_last_bit_is_one_ulp() -> None:
    result = _compared(_scaled(1.0), _scaled(math.nextafter(1.0, 2.0)))
    assert result.differing == 0  # below float32's resolution
    result = _compared(_scaled(1.0, torch.float64), _scaled(math.nextafter(1.0, 2.0), torch.float64))
    assert result.worst is not None
    assert result.worst.ulp == 1


def test_ulps_are_counted_across_zero() -> None:
    tiny = 5e-324
    result = _compared(_scaled(tiny, torch.float64), _scaled(-tiny, torch.float64))
    gradient = result.worst
    assert gradient is not None
    assert gradient.ulp is not None
    assert gradient.ulp >= 2


def test_nan_equals_nan_and_zero_equals_minus_zero() -> None:
    assert _compared(_scaled(math.nan), _scaled(math.nan)).differing == 0
    assert _compared(_scaled(0.0), _scaled(-0.0)).differing == 0


def test_a_nan_on_one_side_is_the_worst_difference() -> None:
    worst = _compared(_scaled(1.0), _scaled(math.nan)).worst
    assert worst is not None
    assert worst.relative is not None
    assert math.isnan(worst.relative)


def test_another_dtype_is_told_in_words() -> None:
    first = _compared(_scaled(1.0), _scaled(1.0, torch.float64)).first
    assert first is not None
    assert "float32" in first.what
    assert "float64" in first.what


def test_a_missing_backward_is_told() -> None:
    def twice() -> None:
        _scaled(1.0)()
        _scaled(1.0)()

    first = _compared(_scaled(1.0), twice).first
    assert first is not None
    assert first.where == "number of backward calls"


def test_leaves_without_names_are_matched_by_their_values_and_not_by_the_order_of_the_graph() -> None:
    def program(swapped: bool) -> Callable[[], None]:
        def run() -> None:
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            y = torch.tensor([5.0, 7.0], requires_grad=True)
            parts = (y * y, x * 3) if swapped else (x * 3, y * y)
            (parts[0] + parts[1]).sum().backward()

        return run

    assert _compared(program(False), program(True)).differing == 0


def test_a_leaf_that_lost_its_gradient_is_named() -> None:
    def program(detached: bool) -> Callable[[], None]:
        def run() -> None:
            layer = torch.nn.Linear(1, 1)
            torch.nn.init.ones_(layer.weight)
            torch.nn.init.ones_(layer.bias)
            h = layer(torch.ones(1, 1))
            (torch.ones(1, requires_grad=True) * (h.detach() if detached else h)).sum().backward()

        return run

    first = _compared(program(False), program(True)).first
    assert first is not None
    assert "Linear." in first.where
    assert "only in the reference" in first.what


def test_integers_are_counted_and_not_measured() -> None:
    def counted(steps: int) -> Callable[[], None]:
        model = torch.nn.BatchNorm1d(2, affine=False)

        def run() -> None:
            for _ in range(steps):
                with torch.no_grad():
                    model(torch.zeros(2, 2))
            model(torch.zeros(2, 2, requires_grad=True)).sum().backward()

        return run

    one, two = counted(1), counted(2)
    result = compare(_recorded(one), _recorded(two))
    assert result.worst is not None
    assert result.worst.where == "final BatchNorm1d.num_batches_tracked"
    assert result.worst.what == "1 of 1 elements differ"


def test_values_that_were_too_many_to_keep_still_count() -> None:
    one, two = (_recorded(_scaled(factor), kept_bytes=0) for factor in (1.0, 2.0))
    assert compare(one, one).differing == 0
    worst = compare(one, two).worst
    assert worst is not None
    assert worst.relative is None
    assert "too large to keep" in worst.what


def test_record_files_are_compared_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, factor in (("one", 1.0), ("two", 2.0)):
        torch.save(_recorded(_scaled(factor)), tmp_path / name)
    assert main([str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert json.loads(capsys.readouterr().out)["first"]["where"] == "backward 1: loss"
