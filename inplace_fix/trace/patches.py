"""Attributes of modules and classes that are replaced for the time of a run, and put back in reverse order."""

from __future__ import annotations

from typing import Any

_MISSING = object()


class Patches:
    """Replaced attributes; ``undo`` restores each to what its owner itself held (an inherited one is deleted)."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace ``owner.name``."""
        self._replaced.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back."""
        while self._replaced:
            owner, name, value = self._replaced.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
