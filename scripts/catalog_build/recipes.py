"""What each in-place method is written as out of place, and what kind of write it is.

These are the only statements of the catalog that are chosen, not measured; the tests run every one of them against the
in-place form, bit for bit. What is not listed here has an exact twin of the same name without the underscore.
"""

from __future__ import annotations

import torch

from inplace_fix.catalog.model import Kind

# Namespaces with in-place functions that are written like the methods.
FUNCTIONS = {"torch": torch, "torch.nn.functional": torch.nn.functional}

# Settings that turn a write on: a value that does, one that does not, and what must be given for either to make sense
# (batch_norm without running statistics reads through a null pointer when told not to use those of the batch).
WRITE_FLAGS = {
    "inplace": (True, False, ""),
    "max_norm": (1.0, None, ""),
    "training": (True, False, "running_mean"),
    "use_input_stats": (True, False, "running_mean"),
}

# Parts of the receiver are written, the rest is kept.
_PARTIAL = """
    index_add_ index_copy_ index_fill_ index_put_ index_reduce_ masked_fill_ masked_scatter_ put_ scatter_ scatter_add_
    scatter_reduce_ fill_diagonal_
"""
PARTIAL = tuple(_PARTIAL.split())

# The old contents do not matter.
OVERWRITE = {
    "zero_": "torch.zeros_like({x})",
    "fill_": "torch.fill({x}, {args})",
    "copy_": "torch.empty_like({x}).copy_({args})",
}

RANDOM = {
    "normal_": "torch.empty_like({x}).normal_({args})",
    "uniform_": "torch.empty_like({x}).uniform_({args})",
    "exponential_": "torch.empty_like({x}).exponential_({args})",
    "cauchy_": "torch.empty_like({x}).cauchy_({args})",
    "geometric_": "torch.empty_like({x}).geometric_({args})",
    "log_normal_": "torch.empty_like({x}).log_normal_({args})",
    "random_": "torch.empty_like({x}).random_({args})",
    "bernoulli_": "torch.empty_like({x}).bernoulli_({args})",
}

VIEW_META = ("t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_")
STORAGE_META = ("resize_", "resize_as_", "resize_as_sparse_", "set_", "sparse_resize_", "sparse_resize_and_clear_")
FLAG = ("requires_grad_", "detach_", "share_memory_", "retain_grad")
CALLBACK = ("apply_", "map_", "map2_")

# Moves between devices: documented to give the same object where it is there already, and not to be seen otherwise
# on a machine with one device.
TRANSFERS = ("cpu", "cuda", "ipu", "mtia", "pin_memory", "xpu")

# In-place methods without an exact counterpart of the same name.
NO_TWIN = {*STORAGE_META, *CALLBACK, "requires_grad_", "share_memory_", "retain_grad", "fill_diagonal_"}


def is_in_place(namespace: str, leaf: str) -> bool:
    """Whether a name belongs to the table of in-place methods and of the functions named like them."""
    return (namespace in FUNCTIONS or namespace == "torch.Tensor") and (leaf.endswith("_") or leaf in FLAG)


def kind_of(leaf: str, can_change_dtype: bool) -> Kind:
    """The kind of an in-place method by its name; values need a cast where the result type was seen to differ."""
    for names, kind in (
        (PARTIAL, Kind.PARTIAL),
        (OVERWRITE, Kind.OVERWRITE),
        (RANDOM, Kind.RANDOM),
        (VIEW_META, Kind.VIEW_META),
        (STORAGE_META, Kind.STORAGE_META),
        (FLAG, Kind.FLAG),
        (CALLBACK, Kind.CALLBACK),
    ):
        if leaf in names:
            return kind
    return Kind.VALUE_CAST if can_change_dtype else Kind.VALUE


def template_of(namespace: str, leaf: str) -> str:
    """The out-of-place expression of an in-place method or function, "" where there is none."""
    if leaf in NO_TWIN:
        return ""
    chosen = OVERWRITE.get(leaf, RANDOM.get(leaf))
    if chosen is not None:
        return chosen
    twin = leaf[:-1]
    if namespace == "torch.Tensor" or hasattr(torch.Tensor, twin):
        return f"{{x}}.{twin}({{args}})"
    owner = FUNCTIONS[namespace]
    return f"{namespace}.{twin}({{x}}, {{args}})" if hasattr(owner, twin) else ""
