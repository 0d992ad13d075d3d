"""The in-place entry points of torch, wrapped so that each write is noted under the statement that did it.

Whatever Python code writes in place, in any library and any thread, goes through one of these callables. Not seen are
``torch.ops.aten`` calls and functions that were taken from torch before the run began.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional

from inplace_fix.trace.patches import Patches
from inplace_fix.trace.recorder import Recorder, Started

Function = Callable[..., Any]

_AUGMENTED = ("add", "sub", "mul", "div", "truediv", "pow", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift")
_FLAGS = {"requires_grad_", "share_memory_", "retain_grad_", "rename_"}
"""Names that end in an underscore and write no element."""


def entry_points() -> Iterator[tuple[Any, str, Function]]:
    """Every (owner, name, callable) whose first tensor argument is written to in place."""
    tensor = torch.Tensor
    for name in dir(tensor):
        if name.endswith("_") and not name.startswith("_") and name not in _FLAGS:
            yield tensor, name, getattr(tensor, name)
    for name in ("__setitem__", *(f"__i{stem}__" for stem in _AUGMENTED)):
        if hasattr(tensor, name):
            yield tensor, name, getattr(tensor, name)
    for name in _builtins_of(torch):
        if not name.startswith(("_foreach_", "_fused_", "_amp_foreach_")):
            yield torch, name, getattr(torch, name)
    # torch.nn.functional calls torch._VF.<name> for some and captured aliases of others when it was imported.
    for name in _builtins_of(torch._C._VariableFunctions):
        yield torch._VF, name, getattr(torch._C._VariableFunctions, name)
    for owner in (torch.nn.functional, torch._C._nn):
        for name in _builtins_of(owner):
            yield owner, name, getattr(owner, name)


def list_entry_points() -> Iterator[tuple[Any, str, Function]]:
    """Every (owner, name, callable) whose first argument is a list of tensors that are all written to."""
    for name in dir(torch):
        if name.startswith(("_foreach_", "_fused_", "_amp_foreach_")) and name.endswith("_"):
            yield torch, name, getattr(torch, name)


def _builtins_of(owner: Any) -> list[str]:
    found = []
    for name in dir(owner):
        if name.endswith("_") and not name.startswith("__") and name not in _FLAGS:
            value = getattr(owner, name)
            # A Python function calls a builtin that is wrapped itself; wrapping both would count the write twice.
            if callable(value) and not isinstance(value, type) and not hasattr(value, "__code__"):
                found.append(name)
    return found


def install(recorder: Recorder, patches: Patches) -> dict[Function, Function]:
    """Wrap all entry points; gives the wrappers by function where a mode is not given the wrapper itself.

    With a mode on, torch calls back with what it finds as an attribute of ``torch.Tensor`` for a method written in C++,
    which is the wrapper, but with the function itself for ``torch.relu_`` and for methods written in Python.
    """
    builtin = _scripting_names()
    wrapped: dict[tuple[int, str], Function] = {}
    functions: dict[Function, Function] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reading a deprecated name of torch warns
        single, lists = list(entry_points()), list(list_entry_points())
    for owner, name, original in single:
        wrapper = wrapped.get((id(original), name))
        if wrapper is None:
            wrapper = wrapped[id(original), name] = wrap(recorder, original, name)
            if id(original) in builtin:
                builtin[id(wrapper)] = builtin[id(original)]
                # Left behind, the entry would become that of whatever object is made at this address next.
                patches.after(functools.partial(builtin.pop, id(wrapper)))
        if owner is not torch.Tensor or hasattr(original, "__code__"):
            functions[original] = wrapper
        patches.set(owner, name, wrapper)
    for owner, name, original in lists:
        wrapper = functions[original] = wrap_list(recorder, original, name)
        patches.set(owner, name, wrapper)
    return functions


def _scripting_names() -> dict[int, str]:
    """TorchScript's table of builtin functions, keyed by ``id``: wrappers must be in it, else they cannot be
    scripted.
    """
    try:
        from torch.jit._builtins import _get_builtin_table
    except ImportError:
        return {}
    table: dict[int, str] = _get_builtin_table()
    return table


def wrap(recorder: Recorder, original: Function, name: str) -> Function:
    """The callable, with each write of a tensor noted; errors and results pass through as they are."""
    frame_of = sys._getframe
    compiling = torch.compiler.is_dynamo_compiling
    mode_is_on = torch._C._is_torch_function_mode_enabled
    tensor_type = torch.Tensor
    begin, wrote, refused = recorder.begin, recorder.wrote, recorder.refused
    known, wrote_again, full = recorder.positions.known, recorder.wrote_again, recorder.full

    def in_place(*args: Any, **kwargs: Any) -> Any:
        # With a mode on, torch comes back to this very wrapper with the mode off: the write is noted there, once.
        if compiling() or mode_is_on() or not recorder.live:
            return original(*args, **kwargs)
        receiver = args[0] if args else kwargs.get("input")
        if not isinstance(receiver, tensor_type):
            return original(*args, **kwargs)
        frame = frame_of(1)
        site = None if full else known(frame)
        sample = site.write if site is not None else None
        if sample is not None and site is not None and sample.passes():
            try:
                before = receiver._version
            except RuntimeError:  # an inference tensor
                before = -1
            tick = recorder.tick = recorder.tick + 1
            try:
                result = original(*args, **kwargs)
            except Exception as error:
                refused(Started(site, name, before, tick, None, None), receiver, error)
                raise
            if before >= 0:
                wrote_again(site, name, receiver, before, tick)
            return result
        started = begin(frame, receiver, name, args)
        if started is None:
            return original(*args, **kwargs)
        try:
            result = original(*args, **kwargs)
        except Exception as error:
            refused(started, receiver, error)
            raise
        wrote(started, receiver)
        return result

    functools.update_wrapper(in_place, original, assigned=("__name__", "__qualname__", "__doc__"), updated=())
    in_place.__module__ = getattr(original, "__module__", None) or "torch"
    return in_place


def wrap_list(recorder: Recorder, original: Function, name: str) -> Function:
    """As ``wrap`` for functions whose first argument is a list of tensors; ``_fused_`` ones bump no version."""
    frame_of = sys._getframe
    compiling = torch.compiler.is_dynamo_compiling
    mode_is_on = torch._C._is_torch_function_mode_enabled

    def in_place(*args: Any, **kwargs: Any) -> Any:
        if compiling() or mode_is_on() or not recorder.live:
            return original(*args, **kwargs)
        receivers = [one for one in args[0] if isinstance(one, torch.Tensor)] if args else []
        started = recorder.begin_list(frame_of(1), receivers, name)
        if started is None:
            return original(*args, **kwargs)
        try:
            result = original(*args, **kwargs)
        except Exception as error:
            recorder.refused(started[0], receivers[0], error)
            raise
        for one, receiver in zip(started, receivers, strict=True):
            recorder.wrote(one, receiver)
        return result

    functools.update_wrapper(in_place, original, assigned=("__name__", "__qualname__", "__doc__"), updated=())
    return in_place
