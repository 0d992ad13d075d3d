"""Measures how fast the editor's server answers after an edit, as a ratio to parsing the same text.

``python -m scripts.bench_server [FILE]`` edits a file of about a thousand lines (one is made up where none is given),
analyses it anew as the server does, and prints both times and their ratio: a ratio means the same on every machine.
"""

from __future__ import annotations

import ast
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inplace_fix.server.analysis import NOWHERE, Rows, Work, analyse
from inplace_fix.server.documents import Document, Part
from inplace_fix.server.preferences import Preferences

ROUNDS = 7
BLOCK = '''
class Block{n}(nn.Module):
    """One block of a network, with a residual sum and a gate."""

    def __init__(self, width: int, rate: float = 0.1) -> None:
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(rate)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(x)
        hidden = self.act(self.first(hidden))
        gate = torch.sigmoid(self.second(hidden))
        hidden = self.drop(hidden)
        if self.training:
            hidden = hidden * gate{fault}
        return x + hidden


def step{n}(block: Block{n}, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """One step of training."""
    out = block(x)
    weights = torch.ones_like(target)
    weights[target > 0] = 2.0
    loss = (weights * (out - target).square()).mean()
    loss.backward()
    return loss.detach()

'''


FAULT = "\n            gate += 1.0"  # sigmoid keeps its result


@dataclass(frozen=True, slots=True)
class Measured:
    """Times in seconds of the processor, medians of several rounds, of a text with some number of lines.

    ``answer`` is until findings are shown, ``repairs`` until a quick fix could be offered for each.
    """

    lines: int
    parse: float
    answer: float
    repairs: float
    findings: int


def measure(text: str, folder: Path) -> Measured:
    """Analyse a text again and again, each time with another edit, after one round that warms up."""
    path = folder / "edited.py"
    found = 0

    def answer(number: int, rows: Rows = NOWHERE) -> None:
        nonlocal found
        edited = f"{text}\nedited = {number}\n"
        document = Document(path.as_uri(), path, edited, {None: Part(path.as_uri(), number, edited)})
        empty: Mapping[Path, Document] = {}
        found = len(analyse(document, Work(folder, Preferences(), empty), rows).findings)

    parse = _median(lambda number: ast.parse(f"{text}\nedited = {number}\n"))
    return Measured(len(text.splitlines()), parse, _median(answer), _median(lambda number: answer(number, None)), found)


def made_up(lines: int = 1000) -> str:
    """A file of models, of about so many lines, one in ten with a fault."""
    text = "import torch\nfrom torch import nn\n\n"
    number = 0
    while len(text.splitlines()) < lines:
        fault = FAULT if number % 10 == 9 else ""
        text += BLOCK.replace("{n}", str(number)).replace("{fault}", fault)
        number += 1
    return text


def _median(work: Callable[[int], object]) -> float:
    work(0)
    times = []
    for number in range(1, ROUNDS + 1):
        start = time.process_time()
        work(number)
        times.append(time.process_time() - start)
    return statistics.median(times)


def main(arguments: list[str]) -> int:
    """Print what was measured."""
    text = Path(arguments[0]).read_text(encoding="utf-8") if arguments else made_up()
    folder = Path(arguments[0]).resolve().parent if arguments else Path.cwd()
    measured = measure(text, folder)
    print(
        f"{measured.lines} lines, {measured.findings} findings: analysed after an edit in "
        f"{1000 * measured.answer:.1f} ms, {measured.answer / measured.parse:.1f} times what parsing takes "
        f"({1000 * measured.parse:.1f} ms); with all repairs "
        f"{1000 * measured.repairs:.1f} ms, {measured.repairs / measured.parse:.1f} times"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
