"""The base of all errors that a command answers with one line and exit status 2."""

from __future__ import annotations


class RefusalError(Exception):
    """A request that cannot be carried out; the message says what is wrong, where, and what to do instead."""
