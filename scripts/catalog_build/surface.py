"""The public callables of torch that the catalog speaks of, by qualified name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional
import torch.nn.init
import torch.nn.utils.rnn
from torch import overrides

NAMESPACES: dict[str, ModuleType] = {
    "torch": torch,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
    "torch.nn.functional": torch.nn.functional,
    "torch.nn.init": torch.nn.init,
    "torch.nn.utils": torch.nn.utils,
    "torch.nn.utils.rnn": torch.nn.utils.rnn,
}

# Special methods that Python's syntax reaches; the other dunders are Python's own machinery.
_DUNDERS = """
    abs add and array bool complex contains deepcopy div eq float floordiv ge getitem gt iadd iand idiv ifloordiv
    ilshift imod imul index int invert ior ipow irshift isub iter itruediv ixor le len long lshift lt matmul mod mul
    ne neg or pos pow radd rand rdiv rfloordiv rlshift rmatmul rmod rmul ror rpow rrshift rshift rsub rtruediv rxor
    setitem sub truediv xor
"""
DUNDERS = frozenset(_DUNDERS.split())

INDEXING = ("torch.Tensor.__getitem__", "torch.Tensor.__setitem__")
ADVANCED = ".advanced"

# Tensor operators of the ``torch`` namespace that begin with an underscore and are used by name in training code.
PRIVATE_PREFIXES = ("_foreach_", "_fused_", "_amp_")

_WRITTEN_UTILS = (
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
)
# Creation, state and questions that are plain Python or C functions.
_EXTRA = frozenset(
    [
        *("as_tensor", "asarray", "frombuffer", "from_dlpack", "from_file", "from_numpy", "tensor"),
        *("get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"),
        *("is_grad_enabled", "is_storage", "is_tensor", "numel"),
    ]
)
_RNN_UTILS = ("pad_sequence", "unpad_sequence", "pack_padded_sequence", "pad_packed_sequence", "pack_sequence")


def callables() -> dict[str, Callable[..., Any]]:
    """Every public callable by name, in the order of the names."""
    found = dict(_methods())
    found.update(_functions())
    for name in INDEXING:
        found[name + ADVANCED] = found[name]
    return dict(sorted(found.items()))


def name_of_call(name: str, args: Sequence[Any]) -> str:
    """The entry that a call belongs to: indexing with a tensor or a list is an operation of its own."""
    if name.removesuffix(ADVANCED) not in INDEXING:
        return name
    basic = name.removesuffix(ADVANCED)
    return basic + ADVANCED if _is_advanced(args[1]) else basic


def _is_advanced(index: Any) -> bool:
    if isinstance(index, tuple):
        return any(_is_advanced(item) or isinstance(item, tuple) for item in index)
    return isinstance(index, list) or (
        isinstance(index, torch.Tensor) and (index.dim() > 0 or index.dtype == torch.bool)
    )


def _methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in dir(torch.Tensor):
        dunder = name.startswith("__") and name[2:-2] in DUNDERS
        value = inspect.getattr_static(torch.Tensor, name, None)
        if (name.startswith("_") and not dunder) or isinstance(value, (type, classmethod, staticmethod)):
            continue
        method = getattr(torch.Tensor, name)
        if callable(method) and not isinstance(value, property):
            yield f"torch.Tensor.{name}", method


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for namespace, module in NAMESPACES.items():
        for name in dir(module):
            function = getattr(module, name)
            if callable(function) and not inspect.isclass(function) and _wanted(namespace, name, function):
                yield f"{namespace}.{name}", function


def _wanted(namespace: str, name: str, function: Callable[..., Any]) -> bool:
    if namespace == "torch" and name.startswith(PRIVATE_PREFIXES):
        return True
    if name.startswith("_"):
        return False
    if namespace == "torch":
        return _is_torch_operator(name, function)
    if namespace == "torch.nn.utils":
        return name in _WRITTEN_UTILS
    if namespace == "torch.nn.utils.rnn":
        return name in _RNN_UTILS
    if namespace == "torch.nn.init":
        return function.__module__ == module_name(namespace) and name != "calculate_gain"
    if namespace == "torch.nn.functional":
        return name not in ("boolean_dispatch", "handle_torch_function", "assert_int_or_pair", "Optional") and (
            not name.startswith("has_torch_function")
        )
    return name not in ("common_args", "factory_common_args")


def module_name(namespace: str) -> str:
    """The ``__module__`` that functions defined in a namespace carry."""
    return NAMESPACES[namespace].__name__


def _is_torch_operator(name: str, function: Callable[..., Any]) -> bool:
    if name.startswith(("sym_", "import_", "parse_", "fbgemm_", "miopen_")):
        return False
    return (
        hasattr(torch._C._VariableFunctions, name)
        or getattr(function, "__module__", "") == "torch.functional"
        or function in _overridable()
        or name in _EXTRA
    )


@lru_cache(maxsize=1)
def _overridable() -> frozenset[Callable[..., Any]]:
    return frozenset(overrides.get_testing_overrides())
