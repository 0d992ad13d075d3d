"""``inplace-fix explain``."""

from __future__ import annotations

import pytest
from command_line import run

from inplace_fix.rules.base import rules
from inplace_fix.suppress import UNUSED


@pytest.mark.parametrize("what", ["IPF001", "ipf001", "saved-tensor-overwritten"])
def test_a_rule_is_explained_by_its_page(what: str) -> None:
    ended = run("explain", what)
    assert ended.status == 0
    assert ended.out.startswith("# IPF001: saved-tensor-overwritten\n")


def test_every_code_that_a_report_can_show_has_a_page() -> None:
    for code in (*(rule.code for rule in rules()), UNUSED):
        assert run("explain", code).out.startswith(f"# {code}: ")


@pytest.mark.parametrize(
    ("what", "words"), [("add_", "torch.Tensor.add_"), ("relu", "relu"), ("nn.Dropout", "Dropout")]
)
def test_an_operation_is_explained_from_the_catalog(what: str, words: str) -> None:
    ended = run("explain", what)
    assert ended.status == 0
    assert words in ended.out


@pytest.mark.parametrize(("what", "words"), [("nn.Dropot", "did you mean "), ("qqqqqqq", "give a rule (IPF001)")])
def test_an_unknown_name_ends_with_status_2_and_a_hint(what: str, words: str) -> None:
    ended = run("explain", what)
    assert ended.status == 2
    assert words in ended.err
    assert ended.out == ""


def test_on_a_terminal_a_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("explain", "IPF001").out
