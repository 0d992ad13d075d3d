"""Writes that raise nothing are found by their order in time, and right programs stay unaccused."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_programs import trace


@pytest.mark.parametrize(
    ("body", "kind", "write", "saved"),
    [
        pytest.param(
            "y = torch.rand(3, requires_grad=True).exp()\ny.data.add_(1)\ny.sum().backward()",
            "data-attribute",
            "y.data.add_(1)",
            "torch.rand(3, requires_grad=True).exp()",
            id=".data",
        ),
        pytest.param(
            """
            w = nn.Parameter(torch.rand(3, 3))
            optimizer = torch.optim.SGD([w], lr=0.1, fused=True)
            y = (torch.rand(2, 3, requires_grad=True) @ w).sin()
            w.grad = torch.ones(3, 3)
            optimizer.step()
            y.sum().backward()
            """,
            "optimizer-order",
            "optimizer.step()",
            "torch.rand(2, 3, requires_grad=True) @ w",
            id="fused optimizer",
        ),
        pytest.param(
            """
            bn = nn.BatchNorm1d(3)
            x = torch.rand(4, 3, requires_grad=True)
            bn.eval()
            y = bn(x)
            bn.train()
            bn(x.detach())
            y.sum().backward()
            """,
            "batch-norm-buffers",
            "bn(x.detach())",
            "bn(x)",
            id="batch norm",
        ),
        pytest.param(
            """
            w = nn.Parameter(torch.rand(2, 1, 3))
            x = torch.rand(1, 1, 5, requires_grad=True)
            y = F.conv1d(x, w)
            w.data = torch.zeros(2, 1, 3)
            y.sum().backward()
            """,
            "data-swap",
            "w.data",
            "F.conv1d(x, w)",
            id=".data set",
        ),
    ],
)
def test_an_unseen_write_is_named_with_what_saved_the_value(
    body: str, kind: str, write: str, saved: str, tmp_path: Path
) -> None:
    seen = trace(tmp_path, body)
    assert seen.error is None
    fault = next(fault for fault in seen.faults if fault.kind == kind)
    assert fault.severity == "silent"
    assert seen.writes(fault) == [write]
    assert seen.text(fault.saved) == saved


def test_two_passes_through_one_layer_are_told_apart_by_their_calls(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(3)

            def forward(self, x):
                return self.norm(x)

        net, x = Net(), torch.rand(4, 3, requires_grad=True)
        first = net.eval()(x)
        second = net.train()(x)
        first.sum().backward()
        """,
    )
    fault = next(fault for fault in seen.faults if fault.kind == "batch-norm-buffers")
    assert seen.writes(fault) == ["net.train()(x)"]
    assert seen.text(fault.saved) == "net.eval()(x)"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "y = torch.rand(3, requires_grad=True).exp() * 1\ny.data.add_(1)\ny.sum().backward()", id="not saved"
        ),
        pytest.param(
            "y = torch.rand(3, requires_grad=True) * 1\ny.data.add_(1)\nz = y.exp()\nz.sum().backward()",
            id="before the save",
        ),
        pytest.param(
            "b = torch.ones(4)\nx = torch.rand(2, requires_grad=True)\ny = x * b[:2]\nb.data[2:] = 5\n"
            "y.sum().backward()",
            id="another part of the memory",
        ),
        pytest.param(
            "y = torch.rand(3, requires_grad=True).exp()\ny.sum().backward()\ny.data.add_(1)", id="after the backward"
        ),
        pytest.param(
            "bn = nn.BatchNorm1d(3)\nx = torch.rand(4, 3, requires_grad=True)\n"
            "y = bn(bn(x))\ny.sum().backward()\nbn(x).sum().backward()",
            id="batch norm in training",
        ),
        pytest.param(
            "l = nn.Linear(3, 3)\nx = torch.rand(2, 3, requires_grad=True)\n"
            "o = torch.optim.Adam(l.parameters(), fused=True)\n"
            "for _ in range(3):\n    o.zero_grad()\n    l(x).sum().backward()\n    o.step()",
            id="fused optimizer after the backward",
        ),
        pytest.param(
            "a = nn.Linear(3, 3)\nb = nn.Linear(3, 3)\nfor p, q in zip(a.parameters(), b.parameters()):\n"
            "    p.data.copy_(q.data)\n    q.data = p.data.clone()\na(torch.rand(2, 3)).sum().backward()",
            id="parameters copied",
        ),
    ],
)
def test_a_right_program_is_not_accused(body: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, body)
    assert seen.error is None
    assert seen.faults == ()
