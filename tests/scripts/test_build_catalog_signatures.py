"""Parameter names as Python sees them, and which overload a call means."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from scripts.catalog_build import signatures, surface  # noqa: E402
from scripts.catalog_build.facts import unbind  # noqa: E402

TENSOR = torch.ones(3, 4)


def names(name: str) -> set[tuple[str, ...]]:
    found = signatures.of(name, surface.callables()[name])
    return {signature.names for signature in found if not signature.scalar_first}


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("torch.add", ("input", "other", "alpha")),
        ("torch.Tensor.add_", ("self", "other", "alpha")),
        ("torch.max", ("input", "dim", "keepdim")),
        ("torch.linalg.det", ("A",)),
        ("torch.fft.fft", ("input", "n", "dim", "norm")),
        ("torch.nn.functional.relu", ("input", "inplace")),
        ("torch.nn.functional.linear", ("input", "weight", "bias")),
        ("torch.einsum", ("equation", "operands")),
        ("torch.nn.init.zeros_", ("tensor",)),
        ("torch.lu", ("A", "pivot", "get_infos")),
    ],
)
def test_parameters_come_from_stubs_signatures_or_docstrings(name: str, params: tuple[str, ...]) -> None:
    assert params in names(name)


def test_a_scalar_first_overload_is_set_apart() -> None:
    forms = [one.scalar_first for one in signatures.of("torch.add", torch.add)]
    assert forms == sorted(forms)
    assert True in forms


@pytest.mark.parametrize(("name", "keyword"), [("torch.Tensor.add_", "alpha"), ("torch.relu", "")])
def test_the_keyword_of_the_scalar_is_known(name: str, keyword: str) -> None:
    assert signatures.scalar_first_keyword(name) == keyword


def fitting(name: str, *args: object) -> list[tuple[str, ...]]:
    found = signatures.of(name, surface.callables()[name])
    return [signature.names for signature in found if signature.bind(args, {}) is not None]


def test_a_call_fits_the_overload_that_its_arguments_mean() -> None:
    assert fitting("torch.max", TENSOR, TENSOR) == [("input", "other")]
    assert fitting("torch.max", TENSOR, 1) == [("input", "dim", "keepdim")]
    assert ("self", "dtype") not in fitting("torch.Tensor.view", TENSOR, -1)
    assert ("self", "dtype") in fitting("torch.Tensor.view", TENSOR, torch.int32)


def test_a_call_with_too_many_or_unknown_arguments_fits_nothing() -> None:
    signature = signatures.of("torch.relu", torch.relu)[0]
    assert signature.bind((TENSOR, TENSOR), {}) is None
    assert signature.bind((TENSOR,), {"inplace": True}) is None
    assert signature.bind((), {}) is None


def test_arguments_are_given_back_as_they_were_given() -> None:
    positional = [signatures.Param(name, optional=name == "b") for name in "abc"]
    signature = signatures.Signature((*positional, signatures.Param("k", keyword_only=True)))
    assert unbind(signature, {"a": 1, "c": 3, "k": 4}) == ((1,), {"c": 3, "k": 4})
    assert unbind(signature, {"a": 1, "b": 2, "c": 3}, frozenset("c")) == ((1, 2), {"c": 3})


@pytest.mark.parametrize(
    ("index", "advanced"),
    [
        (0, False),
        (slice(1), False),
        ((0, None, ...), False),
        (torch.tensor(1), False),
        (torch.tensor([0, 1]), True),
        (torch.tensor(True), True),
        ([0, 1], True),
        ((0, [0, 1]), True),
    ],
)
def test_indexing_with_a_tensor_or_a_list_is_an_operation_of_its_own(index: object, advanced: bool) -> None:
    name = "torch.Tensor.__getitem__"
    assert surface.name_of_call(name, (TENSOR, index)) == name + (surface.ADVANCED if advanced else "")


def test_the_surface_holds_what_people_call_and_not_what_is_private() -> None:
    names_of_surface = surface.callables().keys()
    assert {"torch.Tensor.add_", "torch.special.expit", "torch._foreach_mul_", "torch.nn.init.eye_"} <= names_of_surface
    assert not {"torch.Tensor._coalesced_", "torch._adaptive_avg_pool2d", "torch.compile"} & names_of_surface
