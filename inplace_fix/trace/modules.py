"""Where each module with an ``inplace`` argument was constructed, so that a write by its flag leads to that line."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import sys
import weakref
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn

from inplace_fix.trace.frames import local_variables
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.positions import Positions, Site

_OPTIMIZERS = os.path.join(next(iter(torch.__path__)), "optim") + os.sep


class ModuleOrigins:
    """Construction sites by module, held weakly: no attribute is set on a module, since it would be pickled with it."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self._made: weakref.WeakKeyDictionary[nn.Module, Site] = weakref.WeakKeyDictionary()

    def of_frame(self, frame: FrameType | None, stop: CodeType) -> tuple[Site | None, str]:
        """Who wrote, going out from ``frame`` to the user's code ``stop``.

        Gives where the module was constructed whose ``inplace`` flag wrote, and "module" or "optimizer".
        """
        while frame is not None and frame.f_code is not stop:
            code = frame.f_code
            if code.co_name == "forward" and code.co_argcount and code.co_varnames[0] == "self":
                module = (local_variables(frame, ("self",)) or [None])[0]
                if isinstance(module, nn.Module) and getattr(module, "inplace", False):
                    return self._made.get(module), "module"
                return None, ""
            if code.co_filename.startswith(_OPTIMIZERS):
                return None, "optimizer"
            frame = frame.f_back
        return None, ""

    def install(self, patches: Patches) -> None:
        """Watch the constructors, and copies made by ``copy.deepcopy``."""
        for cls in _classes():
            patches.set(cls, "__init__", self._watched(cls.__init__))
        reconstruct = getattr(copy, "_reconstruct", None)
        if reconstruct is None:
            return
        made = self._made

        @functools.wraps(reconstruct)
        def copied(original: Any, *args: Any, **kwargs: Any) -> Any:
            result = reconstruct(original, *args, **kwargs)
            if isinstance(result, nn.Module) and isinstance(original, nn.Module):
                site = made.get(original)
                if site is not None:
                    made[result] = site
            return result

        patches.set(copy, "_reconstruct", copied)

    def _watched(self, init: Any) -> Any:
        made, positions, frame_of = self._made, self._positions, sys._getframe

        @functools.wraps(init)
        def construct(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            init(module, *args, **kwargs)
            site = positions.site(frame_of(1))
            if site is not None:
                made[module] = site

        return construct


def _classes() -> Iterator[type[nn.Module]]:
    """The classes of ``torch.nn`` whose own constructor takes ``inplace``."""
    for value in {id(one): one for one in _modules_of_nn()}.values():
        init = vars(value).get("__init__")
        if init is not None and "inplace" in inspect.signature(init).parameters:
            yield value


def _modules_of_nn() -> Iterator[type[nn.Module]]:
    for value in vars(nn).values():
        if isinstance(value, type) and issubclass(value, nn.Module):
            yield from (base for base in value.__mro__ if issubclass(base, nn.Module))
