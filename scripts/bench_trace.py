"""Measures what a trace costs: three training steps, plain, traced on both levels, and under PyTorch's anomaly mode.

    python scripts/bench_trace.py [--rounds 15] [--only cnn|transformer|rnn]

Every ratio is a median over paired runs, each traced step next to a plain one, in processor time of this process on one
thread, which is what a busy machine disturbs least. The row "plain again" is the error of the method.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import torch
import torch.nn.functional as functional
from torch import nn

import inplace_fix

Step = Callable[[], None]


class Residual(nn.Module):
    """Two convolutions with batch norm around a shortcut, with in-place additions and activations."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outer),
            nn.ReLU(inplace=True),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outer),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or inner != outer:
            self.shortcut = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.body(x)
        out += self.shortcut(x)
        activated: torch.Tensor = self.activation(out)
        return activated


def cnn() -> Step:
    """A residual network of six blocks on a batch of eight images of 64 by 64."""
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(inplace=True),
        *[
            Residual(a, b, s)
            for a, b, s in ((32, 32, 1), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1))
        ],
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 10),
    )
    images, labels = torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))
    return _training(model, lambda: functional.cross_entropy(model(images), labels), torch.optim.SGD)


def transformer() -> Step:
    """An encoder of four layers of width 128 on a batch of eight sequences of 64."""
    layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    x, y = torch.randn(8, 64, 128), torch.randn(8, 64, 128)
    return _training(model, lambda: functional.mse_loss(model(x), y), torch.optim.AdamW)


class Cell(nn.Module):
    """A gated recurrent cell written out by hand."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.read = nn.Linear(width, 3 * hidden)
        self.carry = nn.Linear(hidden, 3 * hidden, bias=False)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        reset, update, new = self.read(x).chunk(3, 1)
        reset_h, update_h, new_h = self.carry(h).chunk(3, 1)
        gate = torch.sigmoid(update + update_h)
        candidate = torch.tanh(new + torch.sigmoid(reset + reset_h) * new_h)
        return (1 - gate) * candidate + gate * h


def rnn() -> Step:
    """Two hundred steps of that cell, each written into a buffer: many operations of a few microseconds."""
    steps, batch, hidden = 200, 4, 16
    cell = Cell(8, hidden)
    x, y = torch.randn(steps, batch, 8), torch.randn(steps, batch, hidden)

    def loss() -> torch.Tensor:
        h = torch.zeros(batch, hidden)
        total = torch.zeros(batch, hidden)
        out = torch.zeros(steps, batch, hidden)
        for t in range(steps):
            h = cell(x[t], h)
            out[t] = h
            total += h
            total.mul_(0.9)
        return functional.mse_loss(out, y) + total.square().mean()

    return _training(cell, loss, torch.optim.SGD)


def _training(model: nn.Module, loss: Callable[[], torch.Tensor], kind: type[torch.optim.Optimizer]) -> Step:
    optimizer = kind(model.parameters(), lr=1e-3)  # type: ignore[call-arg]

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


@contextlib.contextmanager
def _anomaly() -> Iterator[None]:
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True, check_nan=False):
        warnings.simplefilter("ignore")
        yield


WORKLOADS = {"cnn": cnn, "transformer": transformer, "rnn": rnn}
WAYS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "plain again": contextlib.nullcontext,
    "writes": lambda: inplace_fix.tracing("writes", quiet=True),  # type: ignore[operator]
    "full": lambda: inplace_fix.tracing("full", quiet=True),  # type: ignore[operator]
    "detect_anomaly": _anomaly,
}


def ratios(step: Step, rounds: int) -> dict[str, float]:
    """The median of each way's time over that of the plain step just before it."""
    for _ in range(3):
        step()
    measured: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, context in WAYS.items():
            plain = _timed(step)
            with context():
                step()  # the first step of a recording meets every site for the first time
                measured[way].append(_timed(step) / plain)
    return {way: statistics.median(times) for way, times in measured.items()}


def _timed(step: Step) -> float:
    begin = time.process_time()
    step()
    return time.process_time() - begin


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", choices=WORKLOADS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table = {name: ratios(make(), options.rounds) for name, make in WORKLOADS.items() if options.only in (None, name)}
    print(f"torch {torch.__version__}, {options.rounds} rounds; time over that of a plain step (median of pairs)\n")
    print("| way | " + " | ".join(table) + " |")
    print("|---|" + "---|" * len(table))
    for way in WAYS:
        print(f"| {way} | " + " | ".join(f"{row[way]:.2f}" for row in table.values()) + " |")


if __name__ == "__main__":
    main()
