"""Carries writes past the refusals of autograd, so that the reference run can reach the end of a faulty program.

Autograd refuses, before any value changes, to write to views of one multi-output operation, to leaves that require
grad, into ``out=`` where a gradient is asked for, and through some views made elsewhere. Each refusal has a reading
under which the program computes what its out-of-place form would.
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._C._autograd import CreationMeta, _get_creation_meta
from torch.overrides import TorchFunctionMode

# In-place operations without a derivative of their in-place form: their backward always raises (measured).
UNDIFFERENTIABLE_IN_PLACE = frozenset({"acosh_", "asinh_", "atanh_", "arccosh_", "arcsinh_", "arctanh_"})
# What hands the memory of a tensor to code that torch does not see, and what makes a tensor of such memory.
EXPORTS = frozenset({"numpy", "__array__", "__dlpack__"})
IMPORTS = frozenset({"as_tensor", "asarray"})

ATTRIBUTE_ACCESS = frozenset({"__get__", "__set__"})

LEAF = "leaf Variable that requires grad is being used in an in-place operation"
VIEW = "is a view and is being modified inplace"
VIEW_OF_NO_GRAD = "A view was created in no_grad mode"


class LeafWrites(str, enum.Enum):
    """What an in-place write to a leaf that requires grad means."""

    UPDATE = "update"  # an update or initialisation, no part of the graph, as under torch.no_grad()
    CLONE = "clone"  # a step of the computation on a copy of the leaf, which keeps its own value


class Lift(TorchFunctionMode):
    """Rewrites calls while they run; ``count`` says how many of them autograd would have refused.

    With ``enabled`` False it only reports memory that leaves or enters torch to ``expose``.

    Under ``LeafWrites.CLONE`` each leaf becomes an inner node of the graph at its first use, since views taken before a
    write have to see it. The new leaf that feeds it carries the old tensor as its attribute ``stands_for``, and its
    gradient goes to ``.grad`` of the old tensor.
    """

    def __init__(self, expose: Callable[[torch.Tensor], None], *, enabled: bool, leaf: LeafWrites) -> None:
        super().__init__()
        self.count = 0
        self._expose = expose
        self._enabled = enabled
        self._leaf = leaf

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in EXPORTS and args and isinstance(args[0], torch.Tensor):
            self._expose(args[0])
        if self._enabled and self._leaf is LeafWrites.CLONE:
            if name not in ATTRIBUTE_ACCESS:
                _adopt_leaves((*args, *kwargs.values()))
            elif func.__self__ is torch.Tensor.is_leaf and hasattr(args[0], "fed_by"):
                return True  # an optimizer asks, and updates the old tensor as it would have
        if not self._enabled:
            result = func(*args, **kwargs)
        else:
            result = _single_views(self._call(func, name, args, kwargs), args)
        if name in IMPORTS and isinstance(result, torch.Tensor) and not (args and isinstance(args[0], torch.Tensor)):
            self._expose(result)
        return result

    def _call(self, func: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if name in UNDIFFERENTIABLE_IN_PLACE and _wants_grad(args):
            self.count += 1
            return args[0].copy_(getattr(args[0], name[:-1])())
        if kwargs.get("out") is not None and _wants_grad((*args, *kwargs.values())):
            self.count += 1
            return _store(func(*args, **{key: value for key, value in kwargs.items() if key != "out"}), kwargs["out"])
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            message = str(error)
            single = bool(args) and isinstance(args[0], torch.Tensor)
            if LEAF in message:
                self.count += 1
                with torch.no_grad():
                    return func(*args, **kwargs)
            if (VIEW in message or VIEW_OF_NO_GRAD in message) and single:
                self.count += 1
                return _write_fresh_view(func, args, kwargs)
            raise


def _wants_grad(values: Sequence[Any]) -> bool:
    return torch.is_grad_enabled() and any(
        isinstance(item, torch.Tensor) and item.requires_grad for item in _flat(values)
    )


def _flat(values: Sequence[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, (list, tuple)) else (value,))]


def _store(result: Any, out: Any) -> Any:
    """Write results where ``out=`` would have put them; a tensor of another shape is left to raise as it does there."""
    if isinstance(out, torch.Tensor):
        return out.copy_(result)
    for target, value in zip(out, result, strict=True):
        target.copy_(value)
    return type(result)(out) if isinstance(result, tuple) else result


def _single_views(result: Any, args: Sequence[Any]) -> Any:
    """The views of one multi-output operation as single views, which autograd lets be written to."""
    if not isinstance(result, (tuple, list)) or not args or not isinstance(args[0], torch.Tensor):
        return result
    views = [item for item in result if isinstance(item, torch.Tensor) and item._is_view()]
    if not views or any(_get_creation_meta(view) != CreationMeta.MULTI_OUTPUT_NODE for view in views):
        return result
    whole = args[0]
    return type(result)(_view_like(whole, item) for item in result)


def _adopt_leaves(values: Sequence[Any]) -> None:
    """Turn the leaves among some arguments into copies of new leaves with the same values."""
    for leaf in _flat(values):
        if torch.is_grad_enabled() and isinstance(leaf, torch.Tensor) and leaf.requires_grad and leaf.is_leaf:
            source = leaf.detach().clone().requires_grad_()
            source.stands_for = leaf  # type: ignore[attr-defined]
            leaf.fed_by = source  # type: ignore[attr-defined]
            source.register_post_accumulate_grad_hook(_hand_over)
            leaf.requires_grad_(False)
            leaf.copy_(source)


def _hand_over(source: torch.Tensor) -> None:
    leaf: torch.Tensor = source.stands_for  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the old tensor is no leaf any more, which torch remarks upon
        before = leaf.grad
    gained = source.grad
    if gained is not None:
        leaf.grad, source.grad = gained if before is None else before + gained, None


def _write_fresh_view(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Write through a view that autograd accepts, and let the caller's object become that view."""
    old = args[0]
    base = old._base
    made_by_function = _get_creation_meta(old) == CreationMeta.IN_CUSTOM_FUNCTION
    fresh = old.clone() if made_by_function or base is None else _view_like(base, old)
    result = func(fresh, *args[1:], **kwargs)
    torch.utils.swap_tensors(old, fresh)
    return old if result is fresh else result


def _view_like(base: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
    return base.as_strided(view.size(), view.stride(), view.storage_offset())
