"""The editor's own settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_fix.server.preferences import Preferences, parse


@pytest.mark.parametrize("value", [{"select": ["ipf001"]}, {"inplace-fix": {"select": ["IPF001"]}, "python": {}}])
def test_the_section_and_its_content_mean_the_same(value: object) -> None:
    assert parse(value) == (Preferences(select=("IPF001",)), [])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"polcy": "all"}, "did you mean `policy`?"),
        ({"policy": "alle"}, "must be one of unsafe, strict, all"),
        ({"select": "IPF001"}, "must be a list of strings"),
        ({"debounce": -1}, "must be milliseconds"),
        ({"debounce": True}, "must be milliseconds"),
        ({"config": 3}, "must be a file's name"),
        ([1], "must be a table"),
    ],
)
def test_what_is_wrong_is_told_and_left_at_its_default(value: object, words: str) -> None:
    found, (complaint,) = parse(value)
    assert found == Preferences()
    assert words in complaint


def test_one_wrong_setting_spoils_no_other() -> None:
    found, wrong = parse({"polcy": 1, "policy": "all", "debounce": 50})
    assert (found.policy, found.debounce, len(wrong)) == ("all", 0.05, 1)


def test_the_usual_evidence_is_taken_where_it_exists_and_named_evidence_always(tmp_path: Path) -> None:
    assert Preferences().evidence_files(tmp_path) == ()
    (tmp_path / "evidence.json").write_text("{}")
    assert Preferences().evidence_files(tmp_path) == (tmp_path / "evidence.json",)
    assert Preferences(evidence=()).evidence_files(tmp_path) == ()
    assert Preferences(evidence=("a.json",)).evidence_files(tmp_path) == (tmp_path / "a.json",)
