"""Turns whatever ends a command into an exit status and, where a person must know, one line on standard error."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import TextIO

from inplace_fix.refusal import RefusalError

INTERRUPTED, BROKEN_PIPE, FAILED = 130, 141, 2
DEBUG = "INPLACE_FIX_DEBUG"


def guard(work: Callable[[], int], stderr: TextIO) -> int:
    """The exit status of ``work``; with INPLACE_FIX_DEBUG set an unexpected error shows its traceback as well."""
    try:
        return work()
    except KeyboardInterrupt:
        stderr.write("\nInterrupted; no file was left half-written.\n")
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    except RefusalError as error:
        stderr.write(f"inplace-fix: {error}\n")
        return FAILED
    except Exception as error:
        from inplace_fix.trace.evidence import EvidenceError

        if isinstance(error, EvidenceError):
            stderr.write(f"inplace-fix: {error}\n")
            return FAILED
        if os.environ.get(DEBUG):
            traceback.print_exc(file=stderr)
        frames = traceback.extract_tb(error.__traceback__)
        where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
        words = " ".join(str(error).split())[:300]
        stderr.write(
            f"inplace-fix: internal error: {type(error).__name__}: {words}{where}\n"
            f"This is a fault of inplace-fix; please report it with what the same command says under {DEBUG}=1.\n"
        )
        return FAILED


def _silence_stdout() -> None:
    # the interpreter flushes standard output when it ends and would complain about the reader that went away
    try:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass
