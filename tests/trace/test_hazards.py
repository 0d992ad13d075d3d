"""Writes that are wrong by themselves are found, and their right counterparts are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_programs import trace


def _case(name: str, kind: str, write: str, body: str) -> object:
    return pytest.param(kind, write, body, id=name)


@pytest.mark.parametrize(
    ("kind", "write", "body"),
    [
        _case("overlapping windows", "overlap", "w *= 2", "w = torch.rand(8).unfold(0, 4, 2)\nw *= 2"),
        _case(
            "repeated index",
            "repeated-index",
            "d[i]",
            "d, i = torch.zeros(3), torch.tensor([0, 0, 1])\nd[i] += torch.ones(3)",
        ),
        _case(
            "repeated pair of indices",
            "repeated-index",
            "d[i, j]",
            "d = torch.zeros(3, 3)\ni, j = torch.tensor([0, 0]), torch.tensor([1, 1])\nd[i, j] -= 1",
        ),
        _case("swapped rows", "row-swap", "p[1]", "p = torch.rand(3, 2)\np[0], p[1] = p[1], p[0]"),
        _case(
            "hook",
            "gradient-written",
            "g.clamp_(-1, 1)",
            """
            a, b = torch.rand(3, requires_grad=True) * 1, torch.rand(3, requires_grad=True) * 1
            b.register_hook(lambda g: g.clamp_(-1, 1))
            (a + b).pow(2).sum().backward()
            """,
        ),
        _case(
            "custom backward",
            "gradient-written",
            "grad.mul_(0.1)",
            """
            class Scale(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x.clone()

                @staticmethod
                def backward(ctx, grad):
                    grad.mul_(0.1)
                    return grad

            a, b = torch.rand(3, requires_grad=True) * 1, torch.rand(3, requires_grad=True) * 1
            (a + Scale.apply(b)).pow(2).sum().backward()
            """,
        ),
        _case(
            "dual tensor",
            "forward-mode",
            "d.mul_(2)",
            """
            import torch.autograd.forward_ad as forward_ad
            point, direction = torch.rand(3), torch.rand(3)
            with forward_ad.dual_level():
                d = forward_ad.make_dual(point, direction)
                d.mul_(2)
            """,
        ),
    ],
)
def test_a_wrong_write_is_found(kind: str, write: str, body: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, body)
    assert seen.error is None
    assert seen.kinds == [kind]
    assert seen.writes(seen.faults[0]) == [write]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("w = torch.rand(8).unfold(0, 4, 4)\nw *= 2", id="windows side by side"),
        pytest.param("w = torch.rand(8).unfold(0, 4, 2)\nw.zero_()", id="overlapping windows filled"),
        pytest.param("w = torch.rand(4, 6).t()[::2]\nw *= 2", id="transposed and stepped"),
        pytest.param("d, i = torch.zeros(3), torch.tensor([0, 2])\nd[i] += 1", id="different indices"),
        pytest.param("d, i = torch.zeros(3), torch.tensor([0, 0])\nd[i] = 1.0", id="plain store"),
        pytest.param("d, i = torch.zeros(3), torch.tensor([True, True, False])\nd[i] += 1", id="mask"),
        pytest.param("p = torch.rand(3, 2)\np[[0, 1]] = p[[1, 0]]", id="gathered rows"),
        pytest.param("p = torch.rand(3, 2)\np[0], p[1] = p[1].clone(), p[0].clone()", id="cloned rows"),
        pytest.param("p = torch.rand(4, 2)\np[0], p[1] = p[2], p[3]", id="rows copied from elsewhere"),
        pytest.param("p = torch.rand(4, 2)\nfor i in range(3):\n    p[i] = p[i + 1]", id="rows shifted"),
        pytest.param(
            "b = torch.rand(3, requires_grad=True) * 1\n"
            "b.register_hook(lambda g: g.clone().clamp_(-1, 1))\nb.sum().backward()",
            id="hook on a clone",
        ),
        pytest.param(
            "p = torch.rand(3, requires_grad=True)\ndef hook(q):\n    q.grad.clamp_(-1, 1)\n    q.data.clamp_(-1, 1)\n"
            "p.register_post_accumulate_grad_hook(hook)\np.pow(2).sum().backward()",
            id="hook after accumulation",
        ),
        pytest.param(
            "import torch.autograd.forward_ad as forward_ad\n"
            "with forward_ad.dual_level():\n"
            "    d = forward_ad.make_dual(torch.rand(3), torch.rand(3))\n    (d * 1).mul_(2)",
            id="result of a dual tensor",
        ),
    ],
)
def test_a_right_write_is_left_alone(body: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, body)
    assert seen.error is None
    assert seen.faults == ()


def test_a_gradient_that_nobody_else_has_is_a_hazard_only(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        b = torch.rand(3, requires_grad=True) * 1
        b.register_hook(lambda g: g.clamp_(-1, 1))
        b.sin().sum().backward()
        """,
    )
    assert seen.fault().severity == "hazard"
