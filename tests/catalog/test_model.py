"""Looking up an operation and choosing among its overloads."""

from __future__ import annotations

from inplace_fix.catalog import Catalog, Op

WHOLE = Op("torch.max", params=("input", "other"), overloads=("torch.max.all", "torch.max.dim", "torch.max.other"))
ALL = Op("torch.max.all", params=("input",), given=("input",), required=("input",))
DIM = Op("torch.max.dim", params=("input", "dim", "keepdim"), given=("input",), required=("input", "dim"))
OTHER = Op("torch.max.other", params=("input", "other"), given=("input", "other"), required=("input", "other"))
CATALOG = Catalog("0", {op.name: op for op in (WHOLE, ALL, DIM, OTHER)}, {}, {}, {})


def test_a_call_is_matched_by_the_number_of_its_arguments() -> None:
    assert CATALOG.choose(WHOLE, [True], {}) is ALL


def test_a_number_and_a_tensor_lead_to_different_overloads() -> None:
    assert CATALOG.choose(WHOLE, [True, False], {}) is DIM
    assert CATALOG.choose(WHOLE, [True, True], {}) is OTHER


def test_keywords_lead_to_the_overload_that_has_them() -> None:
    assert CATALOG.choose(WHOLE, [True], {"dim": None}) is DIM
    assert CATALOG.choose(WHOLE, [True], {"other": None}) is OTHER
    assert CATALOG.choose(WHOLE, [True], {"dim": False, "out": True}) is DIM


def test_an_argument_of_which_nothing_is_known_leaves_the_choice_open() -> None:
    assert CATALOG.choose(WHOLE, [True, None], {}) is WHOLE


def test_a_call_that_fits_nothing_gets_the_entry_itself() -> None:
    assert CATALOG.choose(WHOLE, [True, True, True], {}) is WHOLE
    assert CATALOG.choose(WHOLE, [True], {"axis": False}) is WHOLE


def test_an_operation_without_overloads_is_its_own_choice() -> None:
    assert CATALOG.choose(ALL, [True, True], {}) is ALL


def test_a_parameter_that_may_be_a_tensor_fits_either_way() -> None:
    op = Op("torch.f", params=("x", "y"), given=("x",), may_be_given=("y",))
    assert op.fits([True, True], {})
    assert op.fits([True, False], {})
    assert op.fits([True], {})


def test_a_variadic_parameter_takes_all_further_arguments() -> None:
    op = Op("torch.meshgrid", params=("tensors", "indexing"), variadic="tensors")
    assert op.named(3) == ("tensors", "tensors", "tensors")
    assert Op("torch.Tensor.expand", params=("self", "size"), variadic="size").named(3) == ("self", "size", "size")


def test_arguments_beyond_the_last_parameter_have_no_name() -> None:
    assert Op("torch.f", params=("x",)).named(2) == ("x",)


def test_an_operation_with_a_flag_does_not_write_in_a_plain_call() -> None:
    assert Op("torch.f_", params=("x",), writes=("x",)).in_place
    assert not Op("torch.f", params=("x", "inplace"), writes=("x",), flag="inplace").in_place


def test_the_position_of_a_parameter() -> None:
    assert Op("torch.f", params=("x", "y")).position("y") == 1
    assert Op("torch.f", params=("x", "y")).position("z") is None
