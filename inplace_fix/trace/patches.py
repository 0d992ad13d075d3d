"""Attributes of modules and classes that are replaced for the time of a run, and put back in reverse order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    """Replaced attributes; each is put back to what its owner itself held (an inherited one is deleted)."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        self._after: list[Callable[[], object]] = []

    def after(self, act: Callable[[], object]) -> None:
        """Call ``act`` when everything has been put back."""
        self._after.append(act)

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace ``owner.name``."""
        self._replaced.append((owner, name, vars(owner).get(name, _MISSING), value))
        setattr(owner, name, value)

    def suspend(self) -> None:
        """Put everything back until ``resume``: for code that makes tables of torch's own functions."""
        for owner, name, original, _ in reversed(self._replaced):
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)

    def resume(self) -> None:
        """End what ``suspend`` began."""
        for owner, name, _, value in self._replaced:
            setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back for good."""
        self.suspend()
        self._replaced.clear()
        while self._after:
            self._after.pop()()
