"""Writes through NumPy arrays that share memory with a saved tensor are found, with their line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from traced_programs import trace

pytest.importorskip("numpy")


@pytest.mark.parametrize(
    ("body", "write"),
    [
        pytest.param(
            """
            def clip(values):
                array = values.detach().numpy()
                array[array > 0.5] = 0.5

            y = torch.rand(3, requires_grad=True).exp()
            clip(y)
            y.sum().backward()
            """,
            "array[array > 0.5] = 0.5",
            id="numpy()",
        ),
        pytest.param(
            """
            import numpy as np
            batch = np.ones((2, 3), dtype=np.float32)
            w = torch.rand(3, 1, requires_grad=True)
            loss = 0
            for _ in range(2):
                batch[...] += 1
                loss = loss + (torch.from_numpy(batch) @ w).sum()
            loss.backward()
            """,
            "batch[...] += 1",
            id="from_numpy",
        ),
        pytest.param(
            """
            import numpy as np
            batch = np.ones((2, 3), dtype=np.float32)
            y = torch.rand(2, 3, requires_grad=True) * torch.as_tensor(batch)
            np.multiply(batch, 2, out=batch)
            y.sum().backward()
            """,
            "np.multiply(batch, 2, out=batch)",
            id="as_tensor",
        ),
    ],
)
def test_a_write_through_an_array_is_named(body: str, write: str, tmp_path: Path) -> None:
    before = sys.gettrace()
    fault = (seen := trace(tmp_path, body)).fault()
    assert fault.kind == "numpy"
    assert seen.writes(fault) == [write]
    assert sys.gettrace() is before


def test_a_write_before_the_save_is_right(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        y = torch.rand(3, requires_grad=True) * 1
        y.detach().numpy()[0] = 0
        y.exp().sum().backward()
        """,
    )
    assert seen.faults == ()


def test_torchs_own_writes_to_shared_memory_are_not_put_down_to_numpy(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        x = torch.ones(3)
        array = x.numpy()
        x.add_(1)
        w = torch.rand(3, requires_grad=True)
        (w * x).sum().backward()
        x.mul_(2)
        (w * x).sum().backward()
        """,
    )
    assert seen.faults == ()


def test_a_debuggers_tracing_is_left_alone_and_the_sharing_is_named(tmp_path: Path) -> None:
    seen_lines = []

    def debugger(frame: object, event: str, argument: object) -> None:
        seen_lines.append(event)

    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        seen = trace(
            tmp_path,
            """
            y = torch.rand(3, requires_grad=True).exp()
            array = y.detach().numpy()
            array[0] = 7
            y.sum().backward()
            """,
        )
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(before)
    assert seen.fault().kind == "numpy"
    assert seen.writes(seen.fault()) == ["y.detach().numpy()"]
