"""The reference for programs that fail or are silently wrong: every saved tensor keeps its save-time value.

Inside the context each use of a value in backward sees what the forward use saw, which is what a right out-of-place
rewrite computes. Aliases are found by storage, so a write through any view, ``.detach()`` or ``.data`` reaches every
saved value in that memory. (``allow_mutation_on_saved_tensors`` matches data pointers and misses views at an offset.)

The forward pass *and* the backward pass must run inside. Saved-tensor hooks switch PyTorch's own version check off, so
a faulty program runs to its end. A correct program computes the same bits as outside: nothing is copied until a
write comes, and a copy keeps sizes, strides and bits. No random number is drawn.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from inplace_fix.trace.verify_lift import LeafWrites, Lift

# Arguments that these kernels write although their schemas do not say so, and the flag that turns the write on
# (measured: BatchNorm's running statistics move in training without a version bump; collectives receive into a list).
UNDECLARED_WRITES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "aten::native_batch_norm": (("running_mean", "running_var"), "training"),
    "aten::cudnn_batch_norm": (("running_mean", "running_var"), "training"),
    "aten::miopen_batch_norm": (("running_mean", "running_var"), "training"),
    "c10d::allreduce_": (("tensors",), ""),
    "c10d::broadcast_": (("tensors",), ""),
    "c10d::reduce_": (("tensors",), ""),
    "c10d::recv_": (("tensors",), ""),
}


class Oracle:
    """A context in which saved tensors keep their save-time values.

    ``lift`` also carries writes past the refusals of autograd (views of chunks, ``out=``, leaves: see ``Lift``); leave
    it off for a program that runs anyway. ``leaf`` says what a write to a leaf that requires grad means.

    ``rescued`` counts the values that a backward asked for after they had been overwritten: 0 means that the program
    needs no reference but itself. ``lifted`` counts the writes that autograd would have refused.
    """

    def __init__(self, *, lift: bool = True, leaf: LeafWrites = LeafWrites.UPDATE) -> None:
        self.rescued = 0
        self._handles: dict[int, weakref.WeakSet[_Handle]] = {}
        self._exposed: set[int] = set()
        self._prune_at = 1024
        self._lift = Lift(self.expose, enabled=lift, leaf=leaf)
        self._stack = contextlib.ExitStack()

    @property
    def lifted(self) -> int:
        """How many writes were carried past a refusal of autograd."""
        return self._lift.count

    def __enter__(self) -> Oracle:
        with contextlib.ExitStack() as stack:
            stack.enter_context(_patched(_plain_surroundings(self.expose)))
            stack.enter_context(torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack))
            stack.enter_context(_WriteWatch(self._before_write))
            stack.enter_context(self._lift)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        self._handles.clear()
        self._exposed.clear()

    def expose(self, tensor: torch.Tensor) -> None:
        """Take note that code outside torch (NumPy, DLPack) can now write to the memory of ``tensor`` unseen."""
        key = _storage_key(tensor)
        if key is None or key in self._exposed:
            return
        self._exposed.add(key)
        for handle in self._handles.pop(key, ()):
            handle.secure(keep_alias=True)

    def _pack(self, tensor: torch.Tensor) -> _Handle:
        handle = _Handle(tensor.detach())
        key = _storage_key(tensor)
        if key is None:
            return handle
        if key in self._exposed:
            handle.secure(keep_alias=True)
            return handle
        if len(self._handles) > self._prune_at:
            self._handles = {key: handles for key, handles in self._handles.items() if handles}
            self._prune_at = 2 * len(self._handles) + 1024
        self._handles.setdefault(key, weakref.WeakSet()).add(handle)
        return handle

    def _unpack(self, handle: _Handle) -> torch.Tensor:
        if handle.overwritten():
            self.rescued += 1
        return handle.value

    def _before_write(self, tensor: torch.Tensor) -> None:
        key = _storage_key(tensor)
        if key is not None:
            for handle in self._handles.pop(key, ()):
                handle.secure(keep_alias=False)


class _Handle:
    """What autograd holds in place of one saved tensor: an alias until a write comes, a copy from then on."""

    __slots__ = ("__weakref__", "_alias", "_copied", "value")

    def __init__(self, alias: torch.Tensor) -> None:
        self.value = alias
        self._alias: torch.Tensor | None = None
        self._copied = False

    def secure(self, *, keep_alias: bool) -> None:
        """Copy the value; ``keep_alias`` where only a later comparison can tell whether a write really came."""
        self._alias = self.value if keep_alias else None
        self.value = exact_copy(self.value)
        self._copied = True

    def overwritten(self) -> bool:
        if self._alias is None:
            return self._copied
        unequal = (self._alias != self.value) & ~((self._alias != self._alias) & (self.value != self.value))
        return bool(unequal.any())


class _WriteWatch(TorchDispatchMode):
    """Reports every tensor that a kernel is about to write."""

    def __init__(self, before_write: Callable[[torch.Tensor], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._before_write = before_write
        self._written: dict[Any, tuple[_Argument, ...]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        written = self._written.get(func)
        if written is None:
            written = self._written[func] = _written_arguments(func)
        for argument in written:
            if argument.flag is not None and not argument.flag.value(args, kwargs):
                continue
            value = argument.value(args, kwargs)
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(tensor, torch.Tensor):
                    self._before_write(tensor)
        return func(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument of a kernel: its position (None: by keyword only), its name, and the flag that makes it written."""

    position: int | None
    name: str
    flag: _Argument | None = None

    def value(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self.position is not None and self.position < len(args):
            return args[self.position]
        return kwargs.get(self.name)


def _written_arguments(func: Any) -> tuple[_Argument, ...]:
    """The arguments whose data the kernel ``func`` writes."""
    schema = func._schema
    undeclared, flag_name = UNDECLARED_WRITES.get(schema.name, ((), ""))
    # Transposing or squeezing in place changes the receiver's sizes and strides, not the data that was saved.
    declared = schema.is_mutable and torch.Tag.inplace_view not in func.tags
    places = {a.name: _Argument(None if a.kwarg_only else i, a.name) for i, a in enumerate(schema.arguments)}
    written = [places[a.name] for a in schema.arguments if declared and a.alias_info and a.alias_info.is_write]
    written += [replace(places[name], flag=places.get(flag_name)) for name in undeclared if name in places]
    return tuple(written)


def exact_copy(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same sizes, strides and bits, also of expanded and strided views, which ``clone`` would pack.

    Kernels choose their path by strides, so a packed copy could give another last bit in backward.
    """
    if tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg() or tensor.numel() == 0:
        return tensor.clone()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride(), strict=True))
    if extent > 4 * tensor.numel():  # a column of a wide matrix: its gaps are not worth their memory
        return tensor.clone()
    return tensor.as_strided((extent,), (1,)).clone().as_strided(tensor.size(), tensor.stride())


def _storage_key(tensor: torch.Tensor) -> int | None:
    """The identity of the memory behind a tensor, None where it has none (sparse, functorch wrappers)."""
    try:
        key: int = tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None
    return key


def _plain_surroundings(expose: Callable[[torch.Tensor], None]) -> Iterator[tuple[Any, str, Any]]:
    """What is replaced while the oracle runs: importers of foreign memory, and features that pack saved tensors.

    Checkpointing and ``save_on_cpu`` install saved-tensor hooks of their own, in which writes would go unnoticed; the
    plain call computes the same from the same random numbers.
    """
    from torch.utils import checkpoint, dlpack

    def exposing(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def wrapped(*args: Any, **kwargs: Any) -> torch.Tensor:
            tensor = function(*args, **kwargs)
            expose(tensor)
            return tensor

        return wrapped

    for owner, name in ((torch, "from_numpy"), (torch, "frombuffer"), (torch, "from_dlpack"), (dlpack, "from_dlpack")):
        yield owner, name, exposing(getattr(owner, name))

    def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        for option in ("use_reentrant", "context_fn", "determinism_check", "debug", "preserve_rng_state", "early_stop"):
            kwargs.pop(option, None)
        return function(*args, **kwargs)

    yield checkpoint, "checkpoint", call
    yield torch.autograd.graph, "save_on_cpu", lambda *args, **kwargs: contextlib.nullcontext()


@contextlib.contextmanager
def _patched(replacements: Iterator[tuple[Any, str, Any]]) -> Iterator[None]:
    undo: list[tuple[Any, str, Any]] = []
    try:
        for owner, name, value in replacements:
            undo.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)
