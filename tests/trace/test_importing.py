"""Waiting for a module that the program imports itself."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_fix.trace.importing import when_imported


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "awaited_module.py").write_text("import sys\nvalue = sys.modules.get('noted', 0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    finders = list(sys.meta_path)
    yield
    sys.modules.pop("awaited_module", None)
    assert sys.meta_path == finders


def test_the_word_comes_after_the_module_is_ready() -> None:
    seen: list[object] = []
    when_imported(
        "awaited_module", lambda: seen.append(sys.modules["awaited_module"].value), lambda: seen.append("begin")
    )
    assert seen == []
    module = importlib.import_module("awaited_module")
    assert seen == ["begin", 0]
    assert type(module.__loader__).__name__ == type(module.__spec__.loader).__name__ == "SourceFileLoader"  # type: ignore[union-attr]


def test_a_module_that_is_there_already_is_not_waited_for() -> None:
    importlib.import_module("awaited_module")
    seen: list[str] = []
    when_imported("awaited_module", lambda: seen.append("now"), lambda: seen.append("begin"))
    assert seen == ["now"]


def test_a_wait_can_be_cancelled() -> None:
    seen: list[str] = []
    cancel = when_imported("awaited_module", lambda: seen.append("imported"))
    cancel()
    importlib.import_module("awaited_module")
    assert seen == []


def test_a_module_that_is_nowhere_is_refused_as_usual() -> None:
    cancel = when_imported("awaited_nowhere", lambda: None)
    with pytest.raises(ModuleNotFoundError, match="No module named 'awaited_nowhere'"):
        importlib.import_module("awaited_nowhere")
    cancel()
