"""The storage-keyed reference: right on faulty programs, bit-identical on correct ones."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from inplace_fix.trace.oracle import Oracle, exact_copy  # noqa: E402
from inplace_fix.trace.verify_lift import LeafWrites  # noqa: E402

Tensor = torch.Tensor
Loss = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Program:
    """A faulty program and the out-of-place program that it means; both take the input and give a loss."""

    name: str
    faulty: Loss
    meant: Loss

    def __str__(self) -> str:
        return self.name


def _programs() -> list[Program]:
    """One file of ``tests/fixtures/oracle`` each, with the functions ``faulty`` and ``meant``."""
    folder = Path(__file__).parents[1] / "fixtures" / "oracle"
    spaces = {path.stem: runpy.run_path(str(path)) for path in sorted(folder.glob("*.py"))}
    return [Program(name, space["faulty"], space["meant"]) for name, space in spaces.items()]


PROGRAMS = _programs()


def _input() -> Tensor:
    generator = torch.Generator().manual_seed(11)
    return (0.2 + torch.rand(4, 6, dtype=torch.float64, generator=generator)).requires_grad_()


def _loss_and_gradient(loss: Loss, x: Tensor) -> tuple[Tensor, Tensor | None]:
    value = loss(x)
    value.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a copied leaf shows its gradient although it is no leaf any more
        return value.detach(), x.grad


@pytest.mark.parametrize("pair", PROGRAMS, ids=str)
def test_a_faulty_program_computes_what_it_means(pair: Program) -> None:
    with Oracle(leaf=LeafWrites.CLONE):
        value, gradient = _loss_and_gradient(pair.faulty, _input())
    meant_value, meant_gradient = _loss_and_gradient(pair.meant, _input())
    torch.testing.assert_close(value, meant_value, rtol=1e-12, atol=0)
    torch.testing.assert_close(gradient, meant_gradient, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("pair", PROGRAMS, ids=str)
def test_a_correct_program_is_bit_identical_and_needs_no_rescue(pair: Program) -> None:
    with Oracle(lift=False) as oracle:
        value, gradient = _loss_and_gradient(pair.meant, _input())
    meant_value, meant_gradient = _loss_and_gradient(pair.meant, _input())
    assert torch.equal(value, meant_value)
    assert torch.equal(gradient, meant_gradient)
    assert (oracle.rescued, oracle.lifted) == (0, 0)


@pytest.mark.parametrize("pair", PROGRAMS, ids=str)
def test_each_faulty_program_is_indeed_refused_or_wrong_without_the_oracle(pair: Program) -> None:
    """Guards the list itself: a program that plain PyTorch runs rightly would prove nothing."""
    _, meant = _loss_and_gradient(pair.meant, _input())
    try:
        _, gradient = _loss_and_gradient(pair.faulty, _input())
    except RuntimeError:
        return
    assert gradient is None or not torch.allclose(gradient, meant)


def test_a_leaf_written_as_an_update_stays_the_leaf() -> None:
    x = _input()
    before = x.detach().clone()
    with Oracle() as oracle:
        x.mul_(2)
        x.pow(2).sum().backward()
    assert torch.equal(x.detach(), before * 2)
    assert torch.equal(x.grad, 2 * x.detach())
    assert x.is_leaf
    assert oracle.lifted == 1


def test_a_step_of_training_is_bit_identical_under_the_oracle() -> None:
    def train() -> list[Tensor]:
        torch.manual_seed(3)
        model = nn.Sequential(
            nn.Conv2d(2, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(inplace=True),
            nn.Flatten(),
            nn.Dropout(0.3),
            nn.Linear(64, 3),
        )
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            functional.cross_entropy(model(torch.randn(5, 2, 6, 6)), torch.tensor([0, 1, 2, 0, 1])).backward()
            optimizer.step()
        return [*model.state_dict().values(), torch.rand(3)]

    plain = train()
    with Oracle(lift=False):
        kept = train()
    assert all(torch.equal(one, two) for one, two in zip(plain, kept, strict=True))


def test_second_derivatives_are_those_of_the_kept_values() -> None:
    def second(write: bool) -> Tensor:
        x = _input()
        y = x.exp()
        (first,) = torch.autograd.grad((y * x).sum(), x, create_graph=True)
        if write:
            y.zero_()
        (result,) = torch.autograd.grad(first.pow(2).sum(), x)
        return result

    with Oracle() as oracle:
        kept = second(write=True)
    assert torch.equal(kept, second(write=False))
    assert oracle.rescued > 0


def test_only_values_that_backward_asks_for_count_as_rescued() -> None:
    with Oracle() as oracle:
        y = _input().exp()
        y.add_(1)
        del y
    assert oracle.rescued == 0


def test_memory_shown_to_numpy_but_not_written_is_not_counted_as_rescued() -> None:
    with Oracle() as oracle:
        x = _input()
        factor = x.detach() * 2
        product = x * factor
        factor.numpy().sum()
        product.sum().backward()
    assert oracle.rescued == 0


def test_leaving_the_oracle_gives_everything_back() -> None:
    before = (torch.from_numpy, torch.utils.checkpoint.checkpoint, torch.autograd.graph.save_on_cpu)
    with pytest.raises(KeyError), Oracle():
        raise KeyError
    assert before == (torch.from_numpy, checkpoint, torch.autograd.graph.save_on_cpu)
    y = _input().exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def _layouts() -> list[Tensor]:
    whole = torch.arange(60.0).reshape(3, 4, 5)
    return [
        whole.transpose(0, 2),
        whole[:, ::2],
        whole[1:, :1].expand(2, 4, 5),
        whole[0, 0, :0],
        torch.arange(400.0).reshape(20, 20)[:, 3],
        torch.complex(whole, whole).conj(),
    ]


@pytest.mark.parametrize("tensor", _layouts(), ids=lambda tensor: f"{tuple(tensor.shape)}-{tensor.stride()}")
def test_an_exact_copy_has_the_same_elements_in_memory_of_its_own(tensor: Tensor) -> None:
    copy = exact_copy(tensor)
    assert torch.equal(copy, tensor)
    if tensor.numel():
        assert copy.untyped_storage().data_ptr() != tensor.untyped_storage().data_ptr()


def test_an_exact_copy_keeps_the_strides_of_an_expanded_view() -> None:
    assert exact_copy(torch.arange(5.0).expand(4, 5)).stride() == (0, 1)
