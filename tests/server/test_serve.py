"""Starting the server where something is missing."""

from __future__ import annotations

import sys

import pytest
from command_line import run


def test_without_pygls_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    ended = run("server")
    assert ended.status == 2
    assert "pip install 'inplace-fix[server]'" in ended.err
