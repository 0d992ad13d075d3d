"""What all tests share: where torch is not installed, whatever imports it is skipped."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence

import pytest


class SkipTorch(importlib.abc.MetaPathFinder):
    """Turns an import of torch, in a test module or in a test, into a skip."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Skip for torch; any other module is somebody else's."""
        if name == "torch":
            pytest.skip("torch is not installed", allow_module_level=True)
        return None


if importlib.util.find_spec("torch") is None:
    sys.meta_path.append(SkipTorch())
