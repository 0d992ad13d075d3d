"""Every in-place method against the expression that the catalog gives for it: the same bits over dtypes and shapes.

A call that raises in place is no evidence either way: the program that is repaired ran.
"""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from inplace_fix.catalog import Kind, Op, load

torch = pytest.importorskip("torch")

DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.uint8,
    torch.bool,
    torch.complex64,
)
CALLS_PER_METHOD = 4
MISFITS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AttributeError, AssertionError)

# Methods without an expression, and why.
NO_COUNTERPART = {
    **dict.fromkeys(("apply_", "map_", "map2_"), "calls Python for every element"),
    **dict.fromkeys(("resize_", "resize_as_", "resize_as_sparse_", "set_"), "changes the storage, not a value"),
    **dict.fromkeys(("sparse_resize_", "sparse_resize_and_clear_"), "changes the storage, not a value"),
    **dict.fromkeys(("requires_grad_", "share_memory_"), "changes a flag, not a value"),
    "fill_diagonal_": "torch has no out-of-place form of it: clone, then write",
}

# Methods whose expression differs in the last place, and why.
LAST_PLACE = dict.fromkeys(
    ("addcmul_", "addcdiv_", "addr_", "div_", "divide_", "true_divide_", "mul_", "multiply_"),
    "complex arithmetic takes another vector path where result and operand share memory",
)


def in_place_methods() -> dict[str, Op]:
    """The methods of the catalog by bare name."""
    ops = load().ops
    names = (name for name in ops if name.startswith("torch.Tensor.") and ops[name].kind is not None)
    return {name.rpartition(".")[2]: ops[name] for name in names if name.count(".") == 2}


def out_of_place(op: Op, x: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The value of the catalog's expression, cast as the catalog asks."""
    expression = op.out_of_place.format(x="x", args="*args, **kwargs")
    result = eval(expression, {"torch": torch, "x": x, "args": args, "kwargs": kwargs})
    return result.to(x.dtype) if op.can_change_dtype else result


def values(shape: Sequence[int], dtype: Any) -> Any:
    """Small positive numbers: some kernels never end for large negative ones in low precision."""
    if dtype is torch.bool:
        return torch.rand(shape) > 0.5
    if dtype.is_floating_point or dtype.is_complex:
        return (torch.rand(shape, dtype=torch.float64) * 1.6 + 0.1).to(dtype)
    return torch.randint(1, 6, tuple(shape)).to(dtype)


def filled(value: Any, dtype: Any, kinds: Callable[[Any], bool]) -> Any:
    """The same nesting, the tensors of some kinds with new values of another dtype."""
    if isinstance(value, torch.Tensor):
        return values(value.shape, dtype) if kinds(value) else value
    if isinstance(value, (list, tuple)):
        return type(value)(filled(item, dtype, kinds) for item in value)
    if isinstance(value, dict):
        return {key: filled(item, dtype, kinds) for key, item in value.items()}
    return value


def is_data(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def varied(calls: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any], Mapping[str, Any]]]:
    """The first calls of different shapes, over all pairs of dtypes for the receiver and the other operands."""
    shapes: set[Any] = set()
    for call in calls:
        first = call.args[0]
        if not isinstance(first, torch.Tensor):
            continue
        shape = (
            tuple(item.shape for item in (first, *call.args[1:]) if isinstance(item, torch.Tensor)),
            len(call.kwargs),
        )
        if first.layout is not torch.strided or shape in shapes or len(shapes) >= CALLS_PER_METHOD:
            continue
        shapes.add(shape)
        kinds = is_data if is_data(first) else (lambda tensor: True)
        others = any(isinstance(item, torch.Tensor) for item in (*call.args[1:], *call.kwargs.values()))
        for receiver, other in itertools.product(DTYPES, DTYPES if others else DTYPES[:1]):
            yield (
                values(first.shape, receiver),
                filled(call.args[1:], other, kinds),
                filled(dict(call.kwargs), other, kinds),
            )


def same_bits(left: Any, right: Any) -> bool:
    """Whether dtype, shape and every bit are equal."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.is_complex():
        left, right = torch.view_as_real(left.resolve_conj()), torch.view_as_real(right.resolve_conj())
    left, right = left.contiguous().reshape(-1), right.contiguous().reshape(-1)
    return bool(torch.equal(left.view(torch.uint8), right.view(torch.uint8)))


def compared(op: Op, calls: Sequence[Any]) -> tuple[Counter[str], list[str]]:
    """How many calls were equal, refused or different, and the different ones in words."""
    leaf = op.name.rpartition(".")[2]
    counts: Counter[str] = Counter()
    different = []
    for x, args, kwargs in varied(calls):
        torch.default_generator.manual_seed(0)
        receiver = x.clone()
        try:
            in_place = getattr(receiver, leaf)(*args, **kwargs)
        except MISFITS:
            counts["refused"] += 1
            continue
        torch.default_generator.manual_seed(0)
        result = out_of_place(op, x, args, kwargs)
        if same_bits(in_place, result):
            counts["equal"] += 1
        else:
            counts["different"] += 1
            close = result.shape == receiver.shape and torch.allclose(
                result, receiver, rtol=1e-5, atol=1e-6, equal_nan=True
            )
            different.append(f"{x.dtype} {'last place' if close else 'value'}")
    return counts, different


@pytest.fixture(scope="module")
def outcomes(calls: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Counter[str], list[str]]]:
    """Every method with an expression, run in place and out of place."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            leaf: compared(op, calls.get(op.name, ())) for leaf, op in in_place_methods().items() if op.out_of_place
        }


def test_the_methods_without_an_expression_are_known() -> None:
    without = {leaf for leaf, op in in_place_methods().items() if not op.out_of_place}
    assert without == {*NO_COUNTERPART, "retain_grad"}


def test_every_expression_gives_the_bits_of_the_in_place_form(outcomes: Any) -> None:
    assert {leaf: cases for leaf, (_, cases) in outcomes.items() if cases and leaf not in LAST_PLACE} == {}


@pytest.mark.parametrize("leaf", LAST_PLACE)
def test_the_known_exceptions_differ_in_the_last_place_at_most(leaf: str) -> None:
    torch.default_generator.manual_seed(0)
    shapes = {"addr_": ((17,), (23,))}.get(leaf, ((17, 23), (17, 23)))
    x, *args = (torch.randn(shape, dtype=torch.complex64) for shape in ((17, 23), *shapes))
    args = args if leaf.startswith("add") else args[:1]
    in_place = getattr(x.clone(), leaf)(*args)
    torch.testing.assert_close(out_of_place(in_place_methods()[leaf], x, args, {}), in_place, rtol=1e-6, atol=1e-6)


def test_every_expression_was_really_compared(outcomes: Any) -> None:
    assert [leaf for leaf, (counts, _) in outcomes.items() if not counts["equal"]] == []


def test_a_cast_is_asked_for_only_where_it_can_matter(calls: Mapping[str, Sequence[Any]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for leaf, op in in_place_methods().items():
            if op.can_change_dtype:
                assert changes_dtype(op, calls[op.name]), leaf


def changes_dtype(op: Op, calls: Sequence[Any]) -> bool:
    """Whether some call that runs in place gives another dtype out of place."""
    leaf = op.name.rpartition(".")[2]
    for x, args, kwargs in varied(calls):
        try:
            getattr(x.clone(), leaf)(*args, **kwargs)
            if getattr(x, leaf[:-1])(*args, **kwargs).dtype != x.dtype:
                return True
        except MISFITS:
            continue
    return False


def test_an_overwriting_method_does_not_read_the_old_contents(calls: Mapping[str, Sequence[Any]]) -> None:
    for leaf, op in in_place_methods().items():
        if op.kind not in (Kind.OVERWRITE, Kind.RANDOM):
            continue
        call = next(call for call in calls[op.name] if is_data(call.args[0]) and call.args[0].numel())
        results = []
        for start in (0.25, 0.75):
            torch.default_generator.manual_seed(0)
            receiver = torch.full(call.args[0].shape, start)
            results.append(getattr(receiver, leaf)(*call.args[1:], **call.kwargs))
        if not (leaf == "bernoulli_" and not call.args[1:]):
            assert torch.equal(*results), leaf
