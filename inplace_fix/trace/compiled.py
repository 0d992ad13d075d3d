"""Takes the mode off while code compiled by torch.compile runs: the compiler would trace the mode into the program.

TorchDynamo splits graphs where a mode reads frames, and PyTorch 2.13 then computes a wrong result for some of the parts.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode,
    _len_torch_function_stack,
    _pop_mode,
    _push_mode,
)

from inplace_fix.trace.importing import when_imported
from inplace_fix.trace.patches import Patches

_MODULE = "torch._dynamo.eval_frame"


class _Suspended(threading.local):
    mode: TorchFunctionMode | None = None
    by: FrameType | None = None  # TorchDynamo's own function that took over, which also hands back


def install(kind: type[TorchFunctionMode], patches: Patches) -> Callable[[], None]:
    """Suspend modes of ``kind`` wherever TorchDynamo takes over a call; the result ends the wait for TorchDynamo."""
    suspended = _Suspended()

    def watch() -> None:
        module = sys.modules[_MODULE]
        original = getattr(module, "_maybe_set_eval_frame", None)
        if original is None:
            return

        def set_eval_frame(callback: Any) -> Any:
            caller = sys._getframe(1)
            if caller is suspended.by:
                if suspended.mode is not None:
                    _push_mode(suspended.mode)
                suspended.mode = suspended.by = None
            elif callback is not None and callback is not False and suspended.by is None:
                # None and False mean that Python runs the call itself, anything else is the compiler.
                if _len_torch_function_stack() and isinstance(_get_current_function_mode(), kind):
                    suspended.mode, suspended.by = _pop_mode(), caller
            return original(callback)

        patches.set(module, "_maybe_set_eval_frame", set_eval_frame)

    return when_imported(_MODULE, watch)
