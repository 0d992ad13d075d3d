"""What the catalog knows of one torch callable: what it writes, returns and saves for backward.

All of it is measured by ``scripts/build_catalog.py`` and read from a data file; nothing here is believed from a page.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class Result(str, enum.Enum):
    """What a call's result is in relation to the storage of its first tensor argument."""

    FRESH = "fresh"  # new memory
    VIEW = "view"  # always a view of the argument
    VIEWS = "views"  # several views made by one operation: autograd forbids in-place writes to them (chunk, unbind)
    SINGLE_VIEWS = "single_views"  # several views that may be written to (tensor_split)
    SAME = "same"  # the very same object (every in-place operation, Identity, Dropout in eval)
    VIEW_OR_FRESH = "view_or_fresh"  # reshape, flatten: a view where the layout allows
    SAME_OR_FRESH = "same_or_fresh"  # contiguous, to, float: the same object where nothing changes
    EXPANDED = "expanded"  # a view in which several elements share one address (expand, broadcast_to, meshgrid)
    OVERLAPPING = "overlapping"  # a view whose elements may overlap without stride 0 (unfold, as_strided)
    DETACHED = "detached"  # shares storage and version counter, has no graph (detach)
    UNVERSIONED = "unversioned"  # shares storage but not the version counter, has no graph (.data)
    ARRAY = "array"  # NumPy or another library's view of the storage (numpy, __array__, to_dlpack)
    NONE = "none"  # None or something that is no tensor (backward, manual_seed)
    VALUE = "value"  # a Python value (item, size, dim, tolist)


class Kind(str, enum.Enum):
    """What an in-place operation does to its receiver."""

    VALUE = "value"  # has an exact out-of-place twin of the same dtype
    VALUE_CAST = "value_cast"  # the twin's result needs a cast to the receiver's dtype in some cases
    PARTIAL = "partial"  # writes some elements (masked_fill_, scatter_, index_put_)
    OVERWRITE = "overwrite"  # the old contents do not matter (copy_, fill_, zero_)
    RANDOM = "random"  # overwrites with random numbers
    VIEW_META = "view_meta"  # changes shape or strides, not the data (t_, squeeze_)
    STORAGE_META = "storage_meta"  # changes the storage (resize_, set_)
    FLAG = "flag"  # changes autograd flags only (requires_grad_, detach_, retain_grad)
    CALLBACK = "callback"  # calls Python per element (apply_, map_)


@dataclass(frozen=True, slots=True)
class Save:
    """One value that an operation keeps for backward.

    ``what`` is a parameter's name, or ``result`` (``result[1]`` for the second of several). ``needs`` names the
    parameters of which at least one must require grad for the save to happen; empty means: any differentiable input.
    ``always`` is False where only some layouts, shapes or modes save it
    (fewer than nine in ten of the samples of ordinary shape).
    """

    what: str
    needs: tuple[str, ...] = ()
    always: bool = True


@dataclass(frozen=True, slots=True)
class Op:
    """One callable of torch.

    ``name`` is the qualified name (``torch.Tensor.add_``, ``torch.nn.functional.relu``). ``params`` are the parameter
    names in order, the receiver of a method first as ``self``. ``writes`` names the parameters whose storage it writes,
    ``silent`` is True where such a write does not move the version counter.
    ``flag`` is the Boolean parameter (``inplace``) that turns the write on, "" where there is none; then ``writes``
    holds what is written when the flag is set. ``inplace_saves`` is what is saved in that mode.
    ``out`` is True where ``out=`` is accepted. ``differentiable`` lists the parameters whose gradient it can give.
    ``out_of_place`` is the expression with {x} and {args}, "" where there is no counterpart. ``broken`` is True where
    the in-place form has no derivative (acosh_).
    ``scalar_first`` names the keyword of the scalar in the deprecated scalar-first overload (alpha, value), or "".
    A name in ``writes`` with a dot is an attribute of that parameter (``parameters.grad``).
    ``variadic`` names the parameter that takes all further positional arguments, or "".
    ``overloads`` names more exact entries where overloads differ (``torch.max.dim``, ``torch.Tensor.pow.number``); the
    entry itself then holds what is true of any of them. In an overload's entry ``given`` are the parameters that are
    tensors in it, ``may_be_given`` those that can be; all others are numbers, settings or left out. ``required`` are
    those that have no default. ``Catalog.choose`` picks one.
    """

    name: str
    params: tuple[str, ...] = ()
    result: Result = Result.FRESH
    results: int = 1  # how many tensors a tuple result holds; 1 = a single tensor, 0 = unknown number
    saves: tuple[Save, ...] = ()
    differentiable: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    silent: bool = False
    flag: str = ""
    flag_default: bool = False
    inplace_saves: tuple[Save, ...] = ()
    out: bool = False
    kind: Kind | None = None
    out_of_place: str = ""
    can_change_dtype: bool = False
    random: bool = False
    broken: bool = False
    scalar_first: str = ""
    variadic: str = ""
    overloads: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    may_be_given: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    source: str = ""  # how this was learnt: "op_db", "written" (measured on a sample written by hand), "declared"

    @property
    def in_place(self) -> bool:
        """Whether a plain call writes to its first argument."""
        return bool(self.writes) and not self.flag

    def position(self, param: str) -> int | None:
        """The index of a parameter, None where there is none of that name."""
        return self.params.index(param) if param in self.params else None

    def named(self, count: int) -> tuple[str, ...]:
        """The parameter of each of ``count`` positional arguments; those beyond the last parameter are left out."""
        if self.variadic:
            start = self.params.index(self.variadic)
            return (*self.params[:start], *[self.variadic] * (count - start))[:count]
        return self.params[:count]

    def fits(self, positional: Sequence[bool | None], keywords: Mapping[str, bool | None]) -> bool:
        """Whether a call can mean this overload; each argument says if it is a tensor, None where that is not known."""
        names = self.named(len(positional))
        if len(names) < len(positional) or not keywords.keys() <= {*self.params, "out"}:
            return False
        tensors: dict[str, bool | None] = {**keywords, **dict(zip(names, positional, strict=True))}
        tensors.pop("out", None)
        allowed = {*self.given, *self.may_be_given}
        return (
            tensors.keys() >= set(self.required)
            and all(tensors.get(name, False) is not False for name in self.given)
            and all(name in allowed for name, is_tensor in tensors.items() if is_tensor)
        )


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """One ``torch.nn`` module: its call in training and in evaluation as an Op each, over the same parameter names.

    In ``train`` and ``evaluate`` the names ``weight``, ``bias``, ``running_mean`` ... stand for the module's own
    tensors (they are in ``parameters`` or ``buffers``). ``inplace`` is the position of the ``inplace`` argument in the
    constructor, None where there is none or where it is ignored. ``init`` are the constructor's parameter names.
    """

    name: str
    init: tuple[str, ...]
    parameters: tuple[str, ...]
    buffers: tuple[str, ...]
    train: Op
    evaluate: Op
    inplace: int | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that is known, by name; every look-up answers None for what is not known."""

    torch_version: str
    ops: Mapping[str, Op]
    modules: Mapping[str, ModuleFacts]
    attributes: Mapping[str, Result]  # Tensor attributes that give a tensor: T, mT, H, real, imag, data, grad
    operators: Mapping[str, str]  # "+" -> "torch.Tensor.add", "+=" -> "torch.Tensor.add_", "@" -> ...

    def function(self, name: str) -> Op | None:
        """A function by qualified name, aliases resolved: ``torch.add``, ``torch.nn.init.zeros_``."""
        return self.ops.get(name)

    def method(self, name: str) -> Op | None:
        """A method of ``torch.Tensor`` by bare name."""
        return self.ops.get("torch.Tensor." + name)

    def module(self, name: str) -> ModuleFacts | None:
        """A module class by qualified name, ``torch.nn.ReLU``."""
        return self.modules.get(name)

    def operator(self, symbol: str) -> Op | None:
        """The operation behind a Python operator, ``+`` or ``+=``."""
        name = self.operators.get(symbol)
        return self.ops.get(name) if name else None

    def choose(self, op: Op, positional: Sequence[bool | None], keywords: Mapping[str, bool | None]) -> Op:
        """The overload of ``op`` that a call means, ``op`` itself where the call fits several or none.

        ``positional`` (the receiver of a method first) and ``keywords`` say of each argument whether it is a tensor or
        a list of tensors, None where that is not known.
        """
        fitting = [self.ops[name] for name in op.overloads if self.ops[name].fits(positional, keywords)]
        return fitting[0] if len(fitting) == 1 else op
