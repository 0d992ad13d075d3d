"""Tells who asked when a tensor of a watched storage is read: the mode passes every operation's arguments by here."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch

from inplace_fix.trace import storages

Reader = Callable[[torch.Tensor, Any, FrameType], None]
"""Called with the tensor, the torch function and the calling frame, before the function runs."""

_WATCHED = 2000


class Reads:
    """The watched storages. While there are none, an operation costs one comparison."""

    def __init__(self) -> None:
        self.count = 0

    def watch(self, storage: Any, reader: Reader, gone: Callable[[], None] | None = None) -> None:
        """Call ``reader`` at every read of ``storage`` from now on, and ``gone`` when it is freed."""
        if self.count >= _WATCHED:
            return
        readers = getattr(storage, "_inplace_fix_readers", None)
        if readers is None:
            readers = storage._inplace_fix_readers = []
        readers.append(reader)
        self.count += 1
        end = weakref.finalize(storage, self._freed, gone)
        end.atexit = False

    def look(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, frame: FrameType) -> None:
        """Pass an operation's tensors by; the receiver of an in-place write is not read by it."""
        name = getattr(func, "__name__", "")
        writes = name == "__setitem__" or (name.endswith("_") and not name.startswith("__")) or name in _AUGMENTED
        for tensor in _tensors(args[1:] if writes else args, kwargs):
            storage = storages.storage_of(tensor)
            readers = getattr(storage, "_inplace_fix_readers", None)
            if readers:
                for reader in list(readers):
                    reader(tensor, func, frame)

    def _freed(self, gone: Callable[[], None] | None) -> None:
        self.count -= 1
        if gone is not None:
            gone()


_AUGMENTED = frozenset(
    f"__i{stem}__"
    for stem in (
        "add",
        "sub",
        "mul",
        "div",
        "truediv",
        "pow",
        "floordiv",
        "mod",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    )
)


def _tensors(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Iterator[torch.Tensor]:
    for one in (*args, *(kwargs or {}).values()):
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, (tuple, list)):
            for inner in one:
                if isinstance(inner, torch.Tensor):
                    yield inner
