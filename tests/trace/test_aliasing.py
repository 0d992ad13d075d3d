"""Memory shared by mistake, and writes that never reach what they were meant for."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_programs import trace


def test_two_parameters_that_share_memory_are_named_where_it_was_set(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        online, target = nn.Linear(2, 2), nn.Linear(2, 2)
        for t, p in zip(target.parameters(), online.parameters()):
            t.data = p.data
        optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
        online(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        """,
    )
    assert seen.kinds == ["shared-memory"]
    assert seen.writes(seen.faults[0]) == ["t.data"]
    assert [seen.text(place) for _, place in seen.faults[0].related] == ["optimizer.step()"]


def test_a_vector_that_became_the_parameters_is_named_when_it_is_read_again(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        from torch.nn.utils import parameters_to_vector, vector_to_parameters
        model = nn.Linear(2, 2)
        centre = parameters_to_vector(model.parameters()).detach()
        vector_to_parameters(centre, model.parameters())
        model(torch.ones(1, 2)).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        change = parameters_to_vector(model.parameters()) - centre
        """,
    )
    assert seen.kinds == ["shared-memory"]
    assert seen.writes(seen.faults[0]) == ["vector_to_parameters(centre, model.parameters())"]


def test_a_write_to_a_copy_that_nobody_reads_is_named(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        def zero_first(values):
            flat = values.reshape(-1)
            flat[0] = 0
            return values

        zero_first(torch.rand(2, 3))
        zero_first(torch.rand(2, 3).t())
        """,
    )
    assert seen.kinds == ["lost-write"]
    assert seen.writes(seen.faults[0]) == ["flat[0]"]
    assert [seen.text(place) for _, place in seen.faults[0].related] == ["values.reshape(-1)"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "flat = torch.rand(2, 3).t().reshape(-1)\nflat[0] = 0\ntotal = flat.sum()", id="copy that is read"
        ),
        pytest.param("flat = torch.rand(2, 3).t().reshape(-1)\nflat[0] = 0\nprint(flat)", id="copy that is printed"),
        pytest.param(
            "flat = torch.rand(2, 3).t().reshape(-1).mul_(2)\nrows = [row for row in flat]", id="copy in a chain"
        ),
        pytest.param(
            "a, b = nn.Linear(2, 2), nn.Linear(2, 2)\nfor p, q in zip(a.parameters(), b.parameters()):\n"
            "    p.data = q.data.clone()\nb(torch.ones(1, 2)).sum().backward()\n"
            "torch.optim.SGD(b.parameters(), lr=0.1).step()",
            id="cloned .data",
        ),
        pytest.param(
            "a = nn.Linear(2, 2)\nfor p in a.parameters():\n    old = p.data\n    p.data = old * 2\n    p.data = old\n"
            "a(torch.ones(1, 2)).sum().backward()\ntorch.optim.SGD(a.parameters(), lr=0.1).step()",
            id="the parameter's own .data",
        ),
    ],
)
def test_right_programs_are_left_alone(body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = trace(tmp_path, body)
    assert seen.error is None
    assert seen.faults == ()
