"""Values behind hooks, and what a custom Function saves: PyTorch's version check does not reach them."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_programs import trace


@pytest.mark.parametrize(
    ("body", "write", "saved"),
    [
        pytest.param(
            """
            from torch.utils.checkpoint import checkpoint

            def block(a):
                return (a * 2).exp().add_(1).sin().sum()

            checkpoint(block, torch.rand(3, requires_grad=True), use_reentrant=False).backward()
            """,
            "(a * 2).exp().add_(1)",
            "(a * 2).exp()",
            id="inside a checkpoint",
        ),
        pytest.param(
            """
            x = torch.rand(3, requires_grad=True)
            with torch.autograd.graph.save_on_cpu():
                y = x.exp()
            y.add_(1)
            y.sum().backward()
            """,
            "y.add_(1)",
            "x.exp()",
            id="save_on_cpu",
        ),
        pytest.param(
            """
            x = torch.rand(3, requires_grad=True)
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
                y = x.exp()
            y.add_(1)
            y.sum().backward()
            """,
            "y.add_(1)",
            "x.exp()",
            id="the program's own hooks",
        ),
        pytest.param(
            """
            class Softplus(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    e = x.exp()
                    ctx.save_for_backward(e)
                    e.add_(1)
                    return e.log()

                @staticmethod
                def backward(ctx, grad):
                    (e,) = ctx.saved_tensors
                    return grad * e / (1 + e)

            Softplus.apply(torch.rand(3, requires_grad=True)).sum().backward()
            """,
            "e.add_(1)",
            "ctx.save_for_backward(e)",
            id="custom Function",
        ),
    ],
)
def test_a_write_that_no_check_reaches_is_found(body: str, write: str, saved: str, tmp_path: Path) -> None:
    seen = trace(tmp_path, body)
    assert seen.error is None
    fault = seen.fault()
    assert fault.severity == "silent"
    assert seen.writes(fault) == [write]
    assert seen.text(fault.saved) == saved


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("return (a * 2).add_(1).sin().sum()", id="write before the save"),
        pytest.param(
            "b = a.sin()\n    c = b * 2\n    c.mul_(3)\n    return c.cos().sum()", id="write to a value nobody saved"
        ),
    ],
)
def test_a_right_checkpoint_is_not_accused(block: str, tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        f"""
from torch.utils.checkpoint import checkpoint

def block(a):
    {block}

x = torch.rand(3, requires_grad=True)
for _ in range(2):
    checkpoint(block, x, use_reentrant=False).backward()
""",
    )
    assert seen.error is None
    assert seen.faults == ()
