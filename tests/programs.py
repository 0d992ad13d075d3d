"""Runs small programs in processes forked from one that has loaded torch: their numbers, or their error."""

from __future__ import annotations

import importlib.util
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

import forked

TORCH = importlib.util.find_spec("torch") is not None
LONGEST = 60.0  # seconds until a program is given up


@dataclass(frozen=True)
class Ran:
    """What a program gave: by name the type, the shape and the numbers of each value; or its error."""

    values: dict[str, tuple[str, tuple[int, ...], list[float]]] = field(default_factory=dict)
    error: str = ""


def run(text: str, function: str | None = None) -> Ran:
    """Execute a program and, where named, a function of it that returns its values by name."""
    return run_all([(text, function)])[0]


def run_all(programs: Sequence[tuple[str, str | None]]) -> list[Ran]:
    """Execute programs one after the other in one process."""
    forked.start()
    context = multiprocessing.get_context("forkserver")
    mine, its = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(list(programs), its), daemon=True)
    process.start()
    its.close()
    results = []
    for _ in programs:
        try:
            answer = mine.recv() if mine.poll(LONGEST) else "the program did not end"
        except EOFError:
            answer = "the program's process ended without an answer"
        results.append(Ran(error=answer) if isinstance(answer, str) else Ran(values=answer))
    process.kill()
    process.join()
    return results


def close(one: Ran, two: Ran, tolerance: float = 1e-6) -> bool:
    """Whether two runs gave the same names, types and shapes, and numbers equal to ``tolerance`` of the largest."""
    if one.error or two.error or one.values.keys() != two.values.keys():
        return False
    for name, (kind, shape, numbers) in one.values.items():
        other_kind, other_shape, others = two.values[name]
        if (kind, shape) != (other_kind, other_shape):
            return False
        scale = max([1.0, *map(abs, others)])
        if not all(abs(a - b) <= tolerance * scale for a, b in zip(numbers, others, strict=True)):
            return False
    return True


def _child(programs: list[tuple[str, str | None]], answer: Connection) -> None:
    import warnings

    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for text, function in programs:
        space: dict[str, object] = {"__name__": "__main__"}
        try:
            exec(compile(text, "program.py", "exec", dont_inherit=True), space)
            result = space[function]() if function else {}  # type: ignore[operator]
            values = {}
            for name, value in result.items():
                tensor = torch.as_tensor(value).detach()
                values[name] = (str(tensor.dtype), tuple(tensor.shape), tensor.double().flatten().tolist())
            answer.send(values)
        except Exception as error:
            answer.send(f"{type(error).__name__}: {error}")
