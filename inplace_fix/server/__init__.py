"""The editor's side: the engine behind the Language Server Protocol, on standard input and output."""

from __future__ import annotations

from typing import BinaryIO

from inplace_fix.refusal import RefusalError


def serve(stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Answer an editor until it says goodbye. Raises RefusalError where pygls is not installed."""
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise RefusalError(
            "the editor server needs pygls, which is not installed here; run: pip install 'inplace-fix[server]'"
        ) from None
    from inplace_fix.server.app import run

    return run(stdin, stdout)
