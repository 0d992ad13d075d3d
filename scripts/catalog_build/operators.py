"""Python's operators and the attributes of a tensor."""

from __future__ import annotations

import torch

from inplace_fix.catalog.model import Result
from scripts.catalog_build import measure

# Reflected forms are under "r" and the symbol, unary ones under "unary". ``@=`` has no in-place form: it rebinds.
OPERATORS = {
    "+": "torch.Tensor.add",
    "-": "torch.Tensor.sub",
    "*": "torch.Tensor.mul",
    "/": "torch.Tensor.div",
    "//": "torch.Tensor.floor_divide",
    "%": "torch.Tensor.remainder",
    "**": "torch.Tensor.pow",
    "@": "torch.Tensor.matmul",
    "&": "torch.Tensor.bitwise_and",
    "|": "torch.Tensor.bitwise_or",
    "^": "torch.Tensor.bitwise_xor",
    "<<": "torch.Tensor.bitwise_left_shift",
    ">>": "torch.Tensor.bitwise_right_shift",
    "unary -": "torch.Tensor.neg",
    "unary +": "torch.Tensor.positive",
    "~": "torch.Tensor.bitwise_not",
    "==": "torch.Tensor.eq",
    "!=": "torch.Tensor.ne",
    "<": "torch.Tensor.lt",
    "<=": "torch.Tensor.le",
    ">": "torch.Tensor.gt",
    ">=": "torch.Tensor.ge",
    "+=": "torch.Tensor.add_",
    "-=": "torch.Tensor.sub_",
    "*=": "torch.Tensor.mul_",
    "/=": "torch.Tensor.div_",
    "//=": "torch.Tensor.floor_divide_",
    "%=": "torch.Tensor.remainder_",
    "**=": "torch.Tensor.pow_",
    "&=": "torch.Tensor.bitwise_and_",
    "|=": "torch.Tensor.bitwise_or_",
    "^=": "torch.Tensor.bitwise_xor_",
    "<<=": "torch.Tensor.bitwise_left_shift_",
    ">>=": "torch.Tensor.bitwise_right_shift_",
    "r+": "torch.Tensor.__radd__",
    "r-": "torch.Tensor.__rsub__",
    "r*": "torch.Tensor.__rmul__",
    "r/": "torch.Tensor.__rtruediv__",
    "r//": "torch.Tensor.__rfloordiv__",
    "r%": "torch.Tensor.__rmod__",
    "r**": "torch.Tensor.__rpow__",
    "r@": "torch.Tensor.__rmatmul__",
    "r&": "torch.Tensor.__rand__",
    "r|": "torch.Tensor.__ror__",
    "r^": "torch.Tensor.__rxor__",
    "r<<": "torch.Tensor.__rlshift__",
    "r>>": "torch.Tensor.__rrshift__",
}

_ATTRIBUTES = ("T", "H", "mT", "mH", "real", "imag", "data")


def attributes() -> dict[str, Result]:
    """What an attribute is in relation to its tensor: views, and ``data`` without the version counter."""
    found = {}
    for name in _ATTRIBUTES:
        dtype = torch.complex64 if name == "imag" else torch.float32
        tensor = torch.ones(3, 3, dtype=dtype, requires_grad=True).clone()
        result = getattr(tensor, name)
        assert measure.storage_of(result) == measure.storage_of(tensor), name
        version = tensor._version
        with torch.no_grad():
            result.zero_()
        found[name] = Result.VIEW if tensor._version != version else Result.UNVERSIONED
    return found
