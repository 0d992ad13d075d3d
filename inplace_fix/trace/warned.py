"""Lets warnings that torch's C++ code gives inside a wrapper appear at the line they belong to.

Python puts such a warning down to the innermost Python frame, which would be the wrapper's; also, Python shows a
warning
once a line, and all lines of the program would count as the one line of the wrapper.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

from inplace_fix.trace.patches import Patches

_OURS = str(Path(__file__).resolve().parent) + os.sep


def install(patches: Patches) -> None:
    """Send each warning that would name our files through the filters again, with the caller's line."""
    original = getattr(warnings, "_showwarnmsg", None)
    if original is None:
        return

    def show(message: Any) -> None:
        if not str(message.filename).startswith(_OURS):
            original(message)
            return
        frame = sys._getframe(1)
        while frame.f_code.co_filename.startswith(_OURS) and frame.f_back is not None:
            frame.f_globals.pop("__warningregistry__", None)
            frame = frame.f_back
        warnings.onceregistry.pop((str(message.message), message.category), None)  # type: ignore[attr-defined]
        warnings.warn_explicit(
            message.message,
            message.category,
            frame.f_code.co_filename,
            frame.f_lineno,
            frame.f_globals.get("__name__", "<unknown>"),
            frame.f_globals.setdefault("__warningregistry__", {}),
            source=message.source,
        )

    patches.set(warnings, "_showwarnmsg", show)
