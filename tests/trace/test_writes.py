"""Every in-place entry point of torch is seen, at its own expression, and torch is left as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as functional
from traced_programs import trace

import inplace_fix
from inplace_fix.trace import writes

INPLACE_FUNCTIONS = {
    "alpha_dropout": "",
    "celu": "",
    "dropout": "",
    "dropout1d": "",
    "dropout2d": "",
    "dropout3d": "",
    "elu": "",
    "feature_alpha_dropout": "",
    "hardsigmoid": "",
    "hardswish": "",
    "hardtanh": "",
    "leaky_relu": "",
    "mish": "",
    "relu": "",
    "relu6": "",
    "rrelu": "",
    "selu": "",
    "silu": "",
    "threshold": "0.1, 0., ",
}


@pytest.mark.parametrize("level", ["writes", "full"])
@pytest.mark.parametrize("name", INPLACE_FUNCTIONS)
def test_an_in_place_function_is_seen_once(name: str, level: str, tmp_path: Path) -> None:
    shape = {"dropout1d": "(1, 2, 3)", "dropout3d": "(1, 2, 3, 4, 5)"}.get(name, "(1, 2, 3, 4)")
    call = f"F.{name}(x, {INPLACE_FUNCTIONS[name]}inplace=True)"
    seen = trace(tmp_path, f"x = torch.rand{shape}\n{call}", level)
    assert seen.fact(call, "write").count == 1


@pytest.mark.parametrize("level", ["writes", "full"])
@pytest.mark.parametrize(
    "statement",
    [
        "x.add_(1)",
        "x += 1",
        "x -= 1",
        "x *= 2",
        "x /= 2",
        "x //= 2",
        "x %= 2",
        "x **= 2",
        "torch.relu_(x)",
        "F.leaky_relu_(x)",
        "nn.init.zeros_(x)",
        "torch._foreach_add_([x], 1.0)",
    ],
)
def test_a_write_is_seen_with_its_span(statement: str, level: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, f"x = torch.rand(3, 3)\nif True:\n    {statement}", level)
    fact = seen.fact(statement, "write")
    assert fact.count == 1
    assert fact.dtypes == ("float32",)
    assert fact.shapes == ((3, 3),)


@pytest.mark.parametrize("statement", ["x &= 1", "x |= 1", "x ^= 1", "x <<= 1", "x >>= 1"])
def test_a_bitwise_write_is_seen(statement: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, f"x = torch.ones(3, dtype=torch.long)\n{statement}", "writes")
    assert seen.fact(statement, "write").dtypes == ("int64",)


def test_matrix_multiplication_rebinds_and_is_no_write(tmp_path: Path) -> None:
    seen = trace(tmp_path, "x = torch.eye(2)\nx @= x", "writes")
    assert seen.evidence.facts == ()


def test_a_store_is_seen_at_its_target(tmp_path: Path) -> None:
    seen = trace(tmp_path, "x = torch.rand(3)\nx[1:] = 0", "writes")
    assert seen.fact("x[1:]", "write").ops == ("__setitem__",)


def test_out_is_seen_on_the_full_level(tmp_path: Path) -> None:
    body = "x = torch.rand(3)\ntorch.add(x, 1, out=x)"
    assert trace(tmp_path, body, "full").fact("torch.add(x, 1, out=x)", "write").ops == ("add(out=)",)
    assert trace(tmp_path, body, "writes").evidence.facts == ()


def test_links_of_a_chain_and_calls_on_one_line_are_told_apart(tmp_path: Path) -> None:
    seen = trace(tmp_path, "x = torch.rand(3)\nx.add_(1).mul_(2); x.sub_(1)", "writes")
    texts = [seen.text(fact.place) for fact in seen.evidence.facts]
    assert texts == ["x.add_(1)", "x.add_(1).mul_(2)", "x.sub_(1)"]


def test_columns_count_code_points(tmp_path: Path) -> None:
    seen = trace(tmp_path, "é = 'größe'; σ = torch.rand(3); σ.add_(1)  # µ", "writes")
    assert seen.fact("σ.add_(1)", "write").count == 1


def test_the_receiver_is_described_as_it_was_before_the_write(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        p = nn.Parameter(torch.ones(3))
        with torch.no_grad():
            p.mul_(2)
        y = torch.zeros(3)
        y[:2].add_(p[:2])
        """,
        "writes",
    )
    parameter = seen.fact("p.mul_(2)", "write")
    assert (parameter.parameter, parameter.leaf, parameter.requires_grad) == ((True,), (True,), (True,))
    assert parameter.grad_mode == (False,)
    view = seen.fact("y[:2].add_(p[:2])", "write")
    assert (view.view, view.requires_grad, view.grad_mode) == ((True,), (False,), (True,))


def test_other_names_and_places_of_the_same_memory_are_facts(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        def update(state):
            average = state["average"]
            change = average
            change.mul_(0.5)

        update({"average": torch.zeros(3)})
        """,
    )
    fact = seen.fact("change.mul_(0.5)", "write")
    assert fact.names == ("average", "change")
    assert [seen.text(place) for place in fact.aliases] == ["torch.zeros(3)"]


def test_torch_is_left_as_it_was() -> None:
    points = [(owner, name, vars(owner).get(name)) for owner, name, _ in writes.entry_points()]
    points += [(owner, name, vars(owner).get(name)) for owner, name, _ in writes.list_entry_points()]
    relu, dropout = torch.nn.ReLU.__init__, functional.dropout
    for level in ("writes", "full"):
        with inplace_fix.tracing(level, quiet=True):
            assert any(vars(owner).get(name) is not value for owner, name, value in points)
    assert [(owner, name) for owner, name, value in points if vars(owner).get(name) is not value] == []
    assert torch.nn.ReLU.__init__ is relu
    assert functional.dropout is dropout


def test_a_wrapper_that_was_kept_still_works_after_the_run() -> None:
    with inplace_fix.tracing(quiet=True):
        kept = torch.Tensor.add_
    assert kept(torch.zeros(2), 1).tolist() == [1.0, 1.0]
