"""Waits for the program's own import of torch.

Importing torch before the program does would fix what the program may still set: ``OMP_NUM_THREADS``,
``CUDA_VISIBLE_DEVICES`` and other variables are read when torch is loaded.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


def when_imported(name: str, act: Callable[[], None], begin: Callable[[], None] | None = None) -> Callable[[], None]:
    """Call ``act`` once the module has been imported, now if it is there already; the result cancels the wait.

    ``begin`` is called before the module's code runs, and only if it runs later.
    """
    if name in sys.modules:
        act()
        return lambda: None
    finder = _Finder(name, act, begin)
    sys.meta_path.insert(0, finder)
    return finder.cancel


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, act: Callable[[], None], begin: Callable[[], None] | None) -> None:
        self.begin = begin
        self._name = name
        self._act = act
        self._busy = False

    def cancel(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name or self._busy:
            return None
        self._busy = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)  # type: ignore[assignment]
        return spec

    def imported(self) -> None:
        self.cancel()
        self._act()


class _Loader:
    """The module's own loader with a word after ``exec_module``; everything else is the loader's."""

    def __init__(self, loader: Any, finder: _Finder) -> None:
        self._loader = loader
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader
        module.__loader__ = self._loader
        if self._finder.begin is not None:
            self._finder.begin()
        self._loader.exec_module(module)
        self._finder.imported()
