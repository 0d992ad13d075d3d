"""Compares two records of a program's results bit for bit, and says by how much they differ where they do.

``python -m inplace_fix.trace.verify_compare A B`` prints the comparison of two record files as JSON.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Record = Mapping[str, Any]
Pair = tuple[str, Mapping[str, Any] | None, Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that differs: where it belongs, in words, and by how much.

    ``absolute`` is the largest absolute difference; ``relative`` is that over the largest absolute value of the
    reference tensor, so that a gradient near zero beside large ones does not count as wholly different; ``ulp`` is the
    largest distance in representable numbers. All are None where sizes, dtypes or presence differ or where the values
    were too many to keep.
    """

    where: str
    what: str
    absolute: float | None = None
    relative: float | None = None
    ulp: int | None = None
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``first`` and ``worst`` are None where every one of the ``tensors`` compared is the same bit for bit."""

    calls: int
    tensors: int
    differing: int
    first: Difference | None
    worst: Difference | None


def compare(reference: Record, other: Record) -> Comparison:
    """Compare two records made by ``Recorder.record``; the two zeros are equal, NaN equals NaN."""
    tensors, differences = 0, []
    for where, expected, found in _pairs(reference, other):
        tensors += 1
        difference = _difference(where, expected, found)
        if difference is not None:
            differences.append(difference)
    worst = max(differences, key=_gravity, default=None)
    return Comparison(
        len(reference["calls"]), tensors, len(differences), differences[0] if differences else None, worst
    )


def _gravity(difference: Difference) -> float:
    relative = difference.relative
    return float("inf") if relative is None or relative != relative else relative


def _pairs(reference: Record, other: Record) -> Iterator[Pair]:
    """The values of two runs side by side, losses before gradients, in the order of the program."""
    one, two = reference["calls"], other["calls"]
    for number, (expected, found) in enumerate(zip(one, two, strict=False), start=1):
        call = f"backward {number}" if expected["kind"] == "backward" else f"autograd.grad {number}"
        if expected["kind"] != found["kind"]:
            yield f"{call}: kind of call", _word(expected["kind"]), _word(found["kind"])
            continue
        yield from _in_order(f"{call}: loss", expected["roots"], found["roots"])
        if expected["error"] != found["error"]:
            yield f"{call}: error", _word(expected["error"]), _word(found["error"])
        yield from _in_order(f"{call}: result", expected["results"], found["results"])
        if expected["kind"] == "backward":
            for name, left, right in _matched(expected["leaves"], found["leaves"]):
                yield f"{call}: gradient of {name}", left and left["grad"], right and right["grad"]
    if len(one) != len(two):
        yield "number of backward calls", _word(str(len(one))), _word(str(len(two)))
    finals = [{entry["name"]: entry["value"] for entry in record["final"]} for record in (reference, other)]
    for name in dict.fromkeys((*finals[0], *finals[1])):
        yield f"final {name}", finals[0].get(name), finals[1].get(name)


def _in_order(where: str, expected: Sequence[Any], found: Sequence[Any]) -> Iterator[Pair]:
    for index in range(max(len(expected), len(found))):
        left = expected[index] if index < len(expected) else None
        right = found[index] if index < len(found) else None
        yield (where if index == 0 else f"{where} {index + 1}"), left, right


def _matched(
    expected: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Mapping[str, Any] | None, Mapping[str, Any] | None]]:
    """Leaves of two graphs side by side: by name, else by equal values, else by sizes in order of appearance.

    A rewrite may change the order in which the graph reaches them, so position alone would confuse them.
    A leaf on one side only is left out where no gradient came to it.
    """
    rest = list(found)
    pairs: dict[int, Mapping[str, Any]] = {}
    for key in (_by_name, _by_value, _by_sizes):
        for index, leaf in enumerate(expected):
            if index in pairs or key(leaf) is None:
                continue
            partner = next((other for other in rest if key(other) == key(leaf)), None)
            if partner is not None:
                pairs[index] = partner
                rest = [other for other in rest if other is not partner]
    for index, leaf in enumerate(expected):
        label = leaf["name"] or f"leaf {index + 1}, {leaf['value']['dtype']}{leaf['value']['shape']}"
        if index in pairs or leaf["grad"] is not None:
            yield label, leaf, pairs.get(index)
    for leaf in rest:
        if leaf["grad"] is not None:
            yield leaf["name"] or f"a further leaf, {leaf['value']['dtype']}{leaf['value']['shape']}", None, leaf


def _by_name(leaf: Mapping[str, Any]) -> object:
    return leaf["name"] or None


def _by_value(leaf: Mapping[str, Any]) -> object:
    return leaf["value"]["digest"]


def _by_sizes(leaf: Mapping[str, Any]) -> object:
    return leaf["value"]["dtype"], tuple(leaf["value"]["shape"]), bool(leaf["name"])


def _word(text: str) -> Mapping[str, Any]:
    return {"text": text}


def _difference(where: str, expected: Mapping[str, Any] | None, found: Mapping[str, Any] | None) -> Difference | None:
    if expected is None or found is None:
        if expected is found:
            return None
        return Difference(where, "is there only in the reference" if found is None else "is not in the reference")
    if "text" in expected or "text" in found:
        left, right = (str(side.get("text", "")).splitlines() for side in (expected, found))
        return Difference(where, f"{(left or ['none'])[0]!r} in the reference, {(right or ['none'])[0]!r} here")
    if (expected["dtype"], expected["shape"]) != (found["dtype"], found["shape"]):
        return Difference(
            where, f"{expected['dtype']}{expected['shape']} in the reference, {found['dtype']}{found['shape']} here"
        )
    if expected["digest"] == found["digest"]:
        return None
    if "data" not in expected or "data" not in found:
        return Difference(where, "differs (too large to keep, so it is not known by how much)", dtype=found["dtype"])
    return _measure(where, expected["data"], found["data"])


def _measure(where: str, expected: torch.Tensor, found: torch.Tensor) -> Difference | None:
    dtype = str(expected.dtype).removeprefix("torch.")
    if not (expected.is_floating_point() or expected.is_complex()):
        return Difference(where, f"{int((expected != found).sum())} of {expected.numel()} elements differ", dtype=dtype)
    both_nan = torch.isnan(expected) & torch.isnan(found)
    equal = (expected == found) | both_nan
    if bool(equal.all()):
        return None
    wide = torch.complex128 if expected.is_complex() else torch.float64
    gap = (expected.to(wide) - found.to(wide)).abs()
    gap = torch.where(equal, torch.zeros_like(gap), gap)
    absolute = float(gap.max())
    scale = float(torch.nan_to_num(expected.to(wide).abs(), nan=0.0, posinf=0.0).max())
    relative = absolute / scale if scale else float("inf")
    ulp = None if expected.is_complex() or absolute != absolute else _ulp(expected, found)
    text = f"differs by at most {absolute:.3g} ({relative:.3g} of the largest value"
    text += f", {ulp} ulp)" if ulp is not None else ")"
    return Difference(where, text, absolute, relative, ulp, dtype)


def _ulp(one: torch.Tensor, two: torch.Tensor) -> int:
    """The largest number of representable values between two tensors, from their bits as ordered integers."""
    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[one.element_size()]
    lowest = torch.iinfo(whole).min

    def ordered(value: torch.Tensor) -> list[int]:
        bits = value.contiguous().view(whole).flatten()
        return [bit if bit >= 0 else lowest - bit for bit in bits.tolist()]

    finite = torch.isfinite(one) & torch.isfinite(two) & (one != two)
    pairs = zip(ordered(one[finite]), ordered(two[finite]), strict=True)
    return max((abs(left - right) for left, right in pairs), default=0)


def main(arguments: Sequence[str]) -> int:
    """Compare two files; 0 when they could be read, whatever the outcome."""
    one, two = (torch.load(path, weights_only=True) for path in arguments)
    print(json.dumps(dataclasses.asdict(compare(one, two))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
