"""Keeps the tracer out of torch.compile's way.

TorchDynamo makes tables of torch's functions when it is imported: they must hold the functions, not their wrappers. And
while compiled code runs the mode is off: the compiler would trace it into the program, split graphs where the mode
reads
frames, and compute a wrong result for some of the parts (seen with PyTorch 2.13).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch.overrides import (  # type: ignore[attr-defined]
    TorchFunctionMode,
    _get_current_function_mode,
    _len_torch_function_stack,
    _pop_mode,
    _push_mode,
)

from inplace_fix.trace.importing import when_imported
from inplace_fix.trace.patches import Patches

_PACKAGE = "torch._dynamo"


class _Suspended(threading.local):
    mode: TorchFunctionMode | None = None
    by: FrameType | None = None  # TorchDynamo's own function that took over, which also hands back


def install(kind: type[TorchFunctionMode], patches: Patches) -> Callable[[], None]:
    """Suspend modes of ``kind`` wherever TorchDynamo takes over a call; the result ends the wait for TorchDynamo."""
    here = _PACKAGE in sys.modules

    def imported() -> None:
        if not here:
            sys.modules[f"{_PACKAGE}.trace_rules"].get_tensor_method()
            patches.resume()
        module = sys.modules.get(f"{_PACKAGE}.eval_frame")
        if module is not None and hasattr(module, "_maybe_set_eval_frame"):
            patches.set(module, "_maybe_set_eval_frame", _suspending(kind, module._maybe_set_eval_frame))

    return when_imported(_PACKAGE, imported, patches.suspend)


def _is_current(kind: type[TorchFunctionMode]) -> bool:
    """Whether the innermost mode in force is of this kind."""
    return bool(_len_torch_function_stack()) and isinstance(_get_current_function_mode(), kind)


def _suspending(kind: type[TorchFunctionMode], original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    suspended = _Suspended()

    def set_eval_frame(callback: Any) -> Any:
        caller = sys._getframe(1)
        if caller is suspended.by:
            if suspended.mode is not None:
                _push_mode(suspended.mode)
            suspended.mode = suspended.by = None
        # None and False mean that Python runs the call itself, anything else is the compiler.
        elif callback is not None and callback is not False and suspended.by is None and _is_current(kind):
            suspended.mode, suspended.by = _pop_mode(), caller
        return original(callback)

    return set_eval_frame
