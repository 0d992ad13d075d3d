"""Calls to measure: real arguments for as many public callables as possible, from ``op_db`` and written samples.

``op_db`` is torch's own list of operators with sample inputs. Its entries are run once under a ``TorchFunctionMode``
that notes which public callable was really called with which arguments, so that entries which reorder their arguments
still give calls in the order that Python code uses.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo

from scripts.catalog_build.measure import MISFITS, seed
from scripts.catalog_build.surface import name_of_call

# Single precision first: it is what programs use, and some kernels (LSTM, convolution) save other things in it.
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.int64)
SAMPLES_PER_ENTRY = 40
CALLS_PER_NAME = 60


@dataclass(frozen=True, eq=False)
class Call:
    """Arguments for one callable; ``origin`` says where they come from (``op_db`` or ``written``)."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    origin: str = "op_db"


class _Notes(TorchFunctionMode):
    """Notes every call of a known callable that is made from outside torch."""

    def __init__(self, names: Mapping[Any, list[str]], origin: str) -> None:
        super().__init__()
        self.names = names
        self.origin = origin
        self.found: list[tuple[str, Call]] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        names = self.names.get(func, ())
        if names:
            call = Call(_detached(args), _detached(dict(kwargs or {})), self.origin)
            self.found.extend((name, call) for name in names if name_of_call(name, args) == name)
        return func(*args, **(kwargs or {}))


def collect(surface: Mapping[str, Callable[..., Any]], written: Iterable[str]) -> dict[str, list[Call]]:
    """Calls by qualified name, noted in op_db and in the ``written`` lines, then lent to names of the same leaf."""
    names: dict[Any, list[str]] = {}
    for name, function in surface.items():
        names.setdefault(function, []).append(name)
    calls: dict[str, list[Call]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, call in itertools.chain(_written(names, written), _noted(names)):
            known = calls.setdefault(name, [])
            if len(known) < CALLS_PER_NAME:
                known.append(call)
    _lend(surface, calls)
    return calls


def _noted(names: Mapping[Any, list[str]]) -> Iterator[tuple[str, Call]]:
    for entry in op_db:
        forms = [form for form in (entry.op, entry.method_variant, entry.inplace_variant) if callable(form)]
        samples = list(_samples(entry))
        for form in dict.fromkeys(forms):
            for sample in samples:
                args = (sample.input, *sample.args)
                notes = _Notes(names, "op_db")
                try:
                    with notes:
                        form(*_detached(args), **_detached(sample.kwargs))
                except MISFITS:
                    continue
                yield from notes.found


def _samples(entry: OpInfo) -> Iterator[Any]:
    """An entry's samples, straight from its function: ``sample_inputs`` looks through the whole stack for a test."""
    dtype = next((dtype for dtype in DTYPES if dtype in entry.supported_dtypes("cpu")), None)
    if dtype is None:
        return
    seed()
    differentiable = entry.supports_autograd and dtype in entry.supported_backward_dtypes("cpu")
    with torch.random.fork_rng(devices=[]):
        try:
            yield from itertools.islice(
                entry.sample_inputs_func(entry, "cpu", dtype, differentiable), SAMPLES_PER_ENTRY
            )
        except (RuntimeError, ImportError, AttributeError):
            return


def _detached(value: Any) -> Any:
    """The same arguments without gradients, so that an in-place form can run on a leaf."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _detached(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_detached(item) for item in value)
    return value


def _written(names: Mapping[Any, list[str]], lines: Iterable[str]) -> Iterator[tuple[str, Call]]:
    for line in lines:
        notes = _Notes(names, "written")
        seed()
        values = scope()

        def call(name: str, *args: Any, notes: _Notes = notes, **kwargs: Any) -> None:
            notes.found.append((name, Call(_detached(args), _detached(kwargs), "written")))

        with notes:
            exec(compile(line, "<written sample>", "exec"), {**values, "call": call})
        yield from notes.found


def scope() -> dict[str, Any]:
    """The names that the written samples use: small tensors, ``f`` of doubles, an index, a mask, integers, a leaf."""
    return {
        "torch": torch,
        "F": torch.nn.functional,
        "v": torch.rand(4) + 0.5,
        "w": torch.rand(4) + 0.5,
        "x": torch.rand(3, 4) + 0.5,
        "y": torch.rand(3, 4) + 0.5,
        "s": torch.rand(4, 4) + 0.5,
        "s8": torch.rand(8, 8) + 0.5,
        "z": torch.rand(()) + 0.5,
        "c": torch.rand(3, 4, dtype=torch.complex64),
        "b": torch.rand(2, 3, 8, 8),
        "g": torch.rand(2, 4, 4, 2),
        "t": torch.rand(1, 2, 3),
        "f": torch.rand(3, 4, dtype=torch.float64),
        "i": torch.tensor([0, 2]),
        "k": torch.tensor([0, 2, 1]),
        "n": torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]),
        "m": torch.tensor([[True, False, True, True], [False, True, True, False], [True, True, False, False]]),
        "r": torch.rand(3, 4, requires_grad=True),
    }


def _lend(surface: Mapping[str, Callable[..., Any]], calls: dict[str, list[Call]]) -> None:
    """Give calls to names that have none, from a name with the same leaf: ``torch.relu_`` takes those of ``relu``."""
    donors: dict[str, str] = {}
    for name in sorted(calls, key=lambda name: (name.count("."), name)):
        if not name.startswith(("torch.nn.init.", "torch.nn.utils")):
            donors.setdefault(name.rpartition(".")[2], name)
    for entry in op_db:
        source = donors.get(entry.name.rpartition(".")[2])
        for alias in entry.aliases:
            if source:
                donors.setdefault(alias.name.rpartition(".")[2], source)
    for name, function in surface.items():
        if name in calls or name.startswith(("torch.nn.init.", "torch.nn.utils")):
            continue
        leaf = name.rpartition(".")[2]
        reflected = "__" + leaf[3:] if leaf.startswith(("__i", "__r")) else leaf
        for candidate in (leaf, leaf.rstrip("_"), leaf.strip("_"), reflected.strip("_"), _documented_alias(function)):
            donor = donors.get(candidate)
            if donor is not None:
                calls[name] = calls[donor]
                break


def _documented_alias(function: Callable[..., Any]) -> str:
    """The leaf that a docstring "Alias for ..." or "See ..." names, else ""."""
    text = (inspect.getdoc(function) or "").split("Alias for ")
    return text[1].split("`")[1].rpartition(".")[2].rstrip("()") if len(text) > 1 and "`" in text[1] else ""
