"""Data types: what a source names, and where an operand could change a result's."""

from __future__ import annotations

import pytest

from analysis.analysed import facts
from inplace_fix.analysis.dtypes import may_differ, named
from inplace_fix.analysis.values import Const, Extern


def last_write(text: str) -> tuple[str | None, bool]:
    """The receiver's dtype at the last write, and whether an operand's could change the result's."""
    write = facts(text).writes[-1]
    return write.tensor.dtype, may_differ(write.tensor, write.operands)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("torch.bfloat16", "bfloat16"), ("torch.double", "float64"), ("torch.long", "int64"), ("torch.bool", "bool")],
)
def test_a_dtype_is_named_by_its_attribute_of_torch(name: str, dtype: str) -> None:
    assert named(Extern(name)) == dtype


@pytest.mark.parametrize("value", [Extern("torch.nn"), Extern("numpy.float32"), Const("float32"), Const(None)])
def test_nothing_else_names_a_dtype(value: Const | Extern) -> None:
    assert named(value) is None


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        ("torch.zeros(3)", "float"),
        ("torch.zeros(3, dtype=torch.int32)", "int32"),
        ("torch.tensor([1, 2])", "int64"),
        ("torch.tensor([1.0, 2])", "float"),
        ("torch.tensor([True])", "bool"),
        ("torch.arange(4)", "int64"),
        ("torch.zeros(3).half()", "float16"),
        ("torch.zeros(3).to(torch.complex64)", "complex64"),
        ("torch.zeros(3).double()", "float64"),
        ("torch.zeros_like(torch.zeros(3).half())", "float16"),
        ("torch.zeros(3).exp()", "float"),
    ],
)
def test_a_tensor_has_the_dtype_that_its_making_names(made: str, dtype: str) -> None:
    assert last_write(f"x = {made}\nx.zero_()\n")[0] == dtype


@pytest.mark.parametrize(
    ("receiver", "operand", "differs"),
    [
        ("torch.zeros(3)", "torch.ones(3)", False),
        ("torch.zeros(3)", "2.0", False),
        ("torch.zeros(3).half()", "torch.ones(3)", True),
        ("torch.zeros(3)", "torch.ones(3, dtype=torch.float64)", True),
        ("torch.zeros(3).half()", "torch.ones(())", False),
    ],
)
def test_only_an_operand_of_another_type_and_of_some_size_can_change_the_result(
    receiver: str, operand: str, differs: bool
) -> None:
    assert last_write(f"x = {receiver}\nx.mul_({operand})\n")[1] is differs
