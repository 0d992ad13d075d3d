"""A failed backward is explained in full: every stale value, who saved it, who overwrote it, who needed it."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_programs import trace


@pytest.mark.parametrize("level", ["writes", "full"])
def test_one_failed_run_shows_every_stale_value(level: str, tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        x = torch.rand(3, requires_grad=True)
        a = x.exp()
        a.add_(1)
        b = a.sigmoid()
        b *= 2
        c = b.tanh()
        c[0] = 0
        c.sum().backward()
        """,
        level,
    )
    found = {fault.node: seen.writes(fault) for fault in seen.faults}
    assert found == {"TanhBackward0": ["c[0]"], "SigmoidBackward0": ["b *= 2"], "ExpBackward0": ["a.add_(1)"]}
    assert {seen.text(fault.backward) for fault in seen.faults} == {"c.sum().backward()"}


def test_the_full_level_names_what_saved_the_value(tmp_path: Path) -> None:
    fault = (seen := trace(tmp_path, SAVED_WEIGHT)).fault()
    assert seen.text(fault.saved) == "x @ w"
    assert (fault.node, fault.attribute) == ("MmBackward0", "mat2")


def test_the_writes_level_names_the_node_alone(tmp_path: Path) -> None:
    fault = trace(tmp_path, SAVED_WEIGHT, "writes").fault()
    assert fault.saved is None
    assert fault.node == "MmBackward0"


SAVED_WEIGHT = """
x = torch.rand(2, 2, requires_grad=True)
w = torch.rand(2, 2)
y = x @ w
w.mul_(2)
y.sum().backward()
"""


def test_all_writes_since_the_save_are_named_and_none_before_it(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        x = torch.rand(3, requires_grad=True)
        h = x * 1
        h.add_(1)
        y = h.sin()
        h.mul_(2)
        h += 1
        y.sum().backward()
        """,
    )
    assert seen.writes(seen.fault()) == ["h.mul_(2)", "h += 1"]


def test_a_write_through_another_name_or_a_view_is_named(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        x = torch.rand(4, requires_grad=True)
        y = x.exp()
        other = y.detach()
        other[1:].zero_()
        y.sum().backward()
        """,
    )
    assert seen.writes(seen.fault()) == ["other[1:].zero_()"]


def test_a_write_in_a_helper_is_named_in_the_helper(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        def scaled(values):
            return values.mul_(2)

        y = torch.rand(3, requires_grad=True).exp()
        scaled(y).sum().backward()
        """,
    )
    assert seen.writes(seen.fault()) == ["values.mul_(2)"]


def test_an_optimizer_step_is_named_where_the_program_calls_it(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = model(torch.ones(1, 2)).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        loss.backward()
        """,
    )
    assert seen.kinds == ["optimizer-order"]
    assert seen.writes(seen.faults[0]) == ["optimizer.step()"]


def test_a_value_of_a_custom_function_is_placed_at_its_save(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        class Exp(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.saved_tensors[0]

        y = Exp.apply(torch.rand(3, requires_grad=True))
        y.add_(1)
        y.sum().backward()
        """,
        "writes",
    )
    fault = seen.fault()
    assert seen.text(fault.saved) == "ctx.save_for_backward(y)"
    assert seen.writes(fault) == ["y.add_(1)"]


def test_a_value_saved_inside_a_write_through_a_view_is_explained_too(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        w = torch.rand(2, requires_grad=True) * 1
        buffer = torch.ones(4, requires_grad=True) * 1
        buffer[:2].mul_(w)
        w.add_(1)
        buffer.sum().backward()
        """,
    )
    assert isinstance(seen.error, RuntimeError)
    assert seen.writes(seen.fault()) == ["w.add_(1)"]


def test_an_index_that_was_saved_counts_as_well(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        table = torch.rand(4, 2, requires_grad=True)
        rows = torch.tensor([0, 1])
        picked = table[rows]
        rows += 1
        picked.sum().backward()
        """,
    )
    assert seen.writes(seen.fault()) == ["rows += 1"]


def test_an_error_that_the_program_handles_is_marked_so(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        y = torch.rand(3, requires_grad=True).exp()
        y.add_(1)
        try:
            y.sum().backward()
        except RuntimeError:
            pass
        """,
    )
    assert seen.error is None
    assert seen.fault().caught


def test_a_harmless_write_is_counted(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        for _ in range(3):
            y = torch.rand(3, requires_grad=True).exp() * 1
            y.add_(1)
            y.sum().backward()
        """,
    )
    assert seen.faults == ()
    assert seen.fact("y.add_(1)", "write").harmless == 3


def test_a_double_backward_is_explained(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        x = torch.rand(3, requires_grad=True)
        y = x.exp()
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        y.mul_(2)
        first.sum().backward()
        """,
    )
    assert seen.writes(seen.faults[0]) == ["y.mul_(2)"]


def test_a_transform_of_a_function_is_explained(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        def growth(x):
            rate = torch.sigmoid(x)
            rate *= 2
            return rate

        torch.func.jacrev(growth)(torch.ones(3))
        """,
    )
    assert seen.writes(seen.faults[0]) == ["rate *= 2"]
    assert seen.text(seen.faults[0].saved) == "torch.sigmoid(x)"
