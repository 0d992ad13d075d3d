"""Questions and answers about repairs."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from findings import finding

from inplace_fix.interactive import Answers, Asker, open_editor
from inplace_fix.nouns import Applicability, Finding
from inplace_fix.report.texts import Texts

HERE = Path("m.py")
TEXT = "a = 1\ny.add_(1)\nb = 2\ny.add_(1)\nc = 3\n"
FINDINGS = [finding(HERE, row, 0, 9, replacement="y = y.add(1)") for row in (2, 4)]


def answered(
    keys: str, findings: list[Finding] = FINDINGS, editor: Callable[[str], str | None] = lambda content: None
) -> tuple[Answers, str]:
    stream = io.StringIO()
    texts = Texts({(HERE, None): TEXT})
    asker = Asker(io.StringIO(keys), stream, lambda code: f"page of {code}", lambda found: (found, texts), editor)
    return asker.ask(findings, {HERE: TEXT}), stream.getvalue()


@pytest.mark.parametrize(
    ("keys", "accepted", "declined"),
    [
        ("y\ny\n", [2, 4], []),
        ("y\nn\n", [2], [4]),
        ("a\n", [2, 4], []),
        ("n\na\n", [4], [2]),
        ("q\n", [], [2, 4]),
        ("y\nq\n", [2], [4]),
        ("y\n", [2], [4]),
        ("YES\nno\n", [2], [4]),
        ("what\n\n?\ny\nn\n", [2], [4]),
    ],
)
def test_each_key_does_what_it_says_and_the_end_of_input_quits(
    keys: str, accepted: list[int], declined: list[int]
) -> None:
    answers, _ = answered(keys)
    assert [found.place.span.line for found in answers.accepted] == accepted
    assert [found.place.span.line for found in answers.declined] == declined


def test_a_question_shows_the_finding_its_fix_and_how_many_are_to_come() -> None:
    _, shown = answered("n\n")
    assert shown.index("error[IPF001]") < shown.index("2 + y = y.add(1)") < shown.index("(1/2) Repair this?")


def test_the_question_mark_shows_the_keys_and_the_page() -> None:
    _, shown = answered("?\nq\n")
    assert "e - edit the repaired lines" in shown
    assert "page of IPF001" in shown


def test_findings_that_nobody_may_apply_are_not_asked_about() -> None:
    advice = finding(HERE, 2, 0, 9, replacement="z", applicability=Applicability.DISPLAY)
    answers, shown = answered("y\n", [advice, finding(HERE, 4)])
    assert (answers.accepted, shown) == ([], "")


def test_only_what_was_accepted_is_kept() -> None:
    answers, _ = answered("y\nn\n")
    assert [answers.keep(found, TEXT) for found in FINDINGS] == [True, False]


def test_in_a_changed_text_a_finding_is_known_by_its_line_and_the_one_above() -> None:
    answers, _ = answered("y\nn\n")
    changed = "import torch\n" + TEXT
    assert [answers.keep(finding(HERE, row), changed) for row in (3, 5)] == [True, False]
    assert not answers.keep(finding(HERE, 2), changed)
    assert not answers.keep(finding(HERE, 3, code="IPF002"), changed)


def test_where_an_accepted_and_a_declined_one_look_the_same_neither_is_kept() -> None:
    text = "b\ny.add_(1)\nb\ny.add_(1)\n"
    answers = Answers({HERE: text}, accepted=[finding(HERE, 2)], declined=[finding(HERE, 4)])
    assert not answers.keep(finding(HERE, 3), "new\n" + text)


def test_edited_lines_take_the_place_of_the_old_ones() -> None:
    seen = []

    def editor(content: str) -> str:
        seen.append(content)
        return "y = y + 1\nz = y"

    answers, _ = answered("e\ny\n", editor=editor)
    assert seen == ["y = y.add(1)\n"]
    assert answers.edited_texts() == {HERE: TEXT.replace("y.add_(1)", "y = y + 1\nz = y", 1)}
    assert [found.place.span.line for found in answers.accepted] == [4]


@pytest.mark.parametrize(
    ("written", "words"), [("y = (\n", "would not parse"), (None, "editor could not be run; set EDITOR")]
)
def test_an_edit_that_comes_to_nothing_is_told_and_asked_again(written: str | None, words: str) -> None:
    answers, shown = answered("e\ny\nn\n", editor=lambda content: written)
    assert words in shown
    assert answers.edited_texts() == {}
    assert [found.place.span.line for found in answers.accepted] == [2]


def test_the_editor_of_the_environment_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import sys; p = sys.argv[1]; s = open(p).read(); open(p, 'w').write(s.upper())"
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f'"{sys.executable}" -c "{script}"')
    assert open_editor("abc\n") == "ABC\n"
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert open_editor("abc\n") is None
    monkeypatch.setenv("EDITOR", f'"{sys.executable}" -c "raise SystemExit(1)"')
    assert open_editor("abc\n") is None
