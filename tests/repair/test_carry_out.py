"""Carrying out: plans as edits of text, rounds of fixes that do not clash, all of a fix or none of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.steps import CannotRewrite, CloneExpression
from inplace_fix.nouns import Applicability, Edit, Finding, Fix, Span
from inplace_fix.repair.carry_out import Sources, difference, edits_of, round_of, wanted
from repair.repaired import PATH, X, finding, fixed, program

END = "y.sum().backward()\n"


def applied(before: str, edits: list[Edit]) -> str:
    """A text with edits applied, last first."""
    lines = before.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda e: e.place.span, reverse=True):
        span = edit.place.span
        begin, end = starts[span.line - 1] + span.column, starts[span.end_line - 1] + span.end_column
        before = before[:begin] + edit.content + before[end:]
    return before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n", "a\n"),
        ("a = 1\nb = 2\n", "a = 1\nb = 3\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nc\n", "a\nb\nc\n"),
        ("a\n", "b\na\n"),
        ("a", "a\nb"),
        ("", "a\n"),
        ("a\n", ""),
        ("a\r\nb\r\n", "a\r\nx = 1\r\nb\r\n"),
        ("é = 'ü'\nx.add_(1)\n", "é = 'ü'\nx = x.add(1)\n"),
        ("a\na\na\n", "a\nb\na\na\nc\n"),
        ("x  # one\ny\n", "with w:\n    x  # one\ny\n"),
    ],
)
def test_the_edits_between_two_texts_turn_one_into_the_other(before: str, after: str) -> None:
    assert applied(before, difference(PATH, before, after)) == after


def test_an_edit_is_as_short_as_what_changed_on_the_line() -> None:
    (edit,) = difference(PATH, "y = x.add_(1)  # c\n", "y = x.add(1)  # c\n")
    assert (edit.place.span, edit.content) == (Span(1, 9, 1, 10), "")


def test_equal_texts_differ_nowhere() -> None:
    assert difference(PATH, "a\nb\n", "a\nb\n") == []


def test_the_edits_of_a_finding_are_its_fix() -> None:
    text = X + "y = x.exp()\ny.add_(1)\n" + END
    fix = finding(text).fix
    assert fix is not None
    assert applied(program(text), list(fix.edits)) == program(text.replace("y.add_(1)", "y = y.add(1)"))


def test_a_step_in_a_file_that_is_not_at_hand_cannot_be_carried_out() -> None:
    step = CloneExpression(Span(1, 0, 1, 1))
    fix = Fix("clone", "", Applicability.SAFE, ((Path("elsewhere.py"), step),))
    with pytest.raises(CannotRewrite, match=r"elsewhere\.py, which was not given"):
        edits_of(fix, Sources({PATH: "x\n"}))


@pytest.mark.parametrize(
    ("applicability", "unsafe", "expected"),
    [
        (Applicability.SAFE, False, True),
        (Applicability.UNSAFE, False, False),
        (Applicability.UNSAFE, True, True),
        (Applicability.DISPLAY, True, False),
    ],
)
def test_only_fixes_that_are_allowed_are_wanted(applicability: Applicability, unsafe: bool, expected: bool) -> None:
    found = finding(X + "y = x.exp()\ny.add_(1)\n" + END)
    assert wanted(found.with_fix(Fix("f", "", applicability)), unsafe) is expected


def test_a_finding_without_a_fix_is_not_wanted() -> None:
    found = finding(X + "y = x.exp()\ny.add_(1)\n" + END)
    assert not wanted(found.with_fix(None, "why"), True)


def clone(found: Finding, *spans: Span) -> Finding:
    """The finding with a fix that clones at some places."""
    steps = tuple((PATH, CloneExpression(span)) for span in spans)
    return found.with_fix(Fix("clone", "", Applicability.SAFE, steps))


def test_fixes_on_different_ground_go_in_one_round() -> None:
    found = finding(X + "y = x.exp()\ny.add_(1)\n" + END)
    pair = [clone(found, Span(1, 4, 1, 5)), clone(found, Span(1, 8, 1, 9))]
    changed, done = round_of(pair, Sources({PATH: "z = a + b\n"}), unsafe=False)
    assert changed == {PATH: "z = a.clone() + b.clone()\n"}
    assert done == pair


def test_of_two_fixes_that_overlap_the_second_waits() -> None:
    found = finding(X + "y = x.exp()\ny.add_(1)\n" + END)
    pair = [clone(found, Span(1, 4, 1, 9)), clone(found, Span(1, 8, 1, 9))]
    changed, done = round_of(pair, Sources({PATH: "z = a + b\n"}), unsafe=False)
    assert changed == {PATH: "z = (a + b).clone()\n"}
    assert done == pair[:1]


def test_a_step_that_two_fixes_share_is_carried_out_once() -> None:
    found = finding(X + "y = x.exp()\ny.add_(1)\n" + END)
    pair = [clone(found, Span(1, 4, 1, 5)), clone(found, Span(1, 4, 1, 5), Span(1, 8, 1, 9))]
    changed, done = round_of(pair, Sources({PATH: "z = a + b\n"}), unsafe=False)
    assert changed == {PATH: "z = a.clone() + b.clone()\n"}
    assert done == pair


def test_a_fix_one_step_of_which_fails_changes_nothing() -> None:
    found = finding(X + "y = x.exp()\ny.add_(1)\n" + END)
    broken = clone(found, Span(1, 4, 1, 5), Span(7, 0, 7, 1))
    whole = clone(found, Span(1, 8, 1, 9))
    changed, done = round_of([broken, whole], Sources({PATH: "z = a + b\n"}), unsafe=False)
    assert changed == {PATH: "z = a + b.clone()\n"}
    assert done == [whole]


def test_neighbouring_updates_share_one_block() -> None:
    text = "w = torch.nn.Parameter(torch.ones(3))\nw.zero_()\nw.add_(1)\n"
    assert fixed(text).endswith("with torch.no_grad():\n    w.zero_()\n    w.add_(1)\n")


def test_every_other_byte_survives() -> None:
    text = X + "y = x.exp() ;  é = 1\t# größer\r\n\r\ny.add_( 1 )   # é\r\n" + END
    assert fixed(text) == text.replace("y.add_( 1 )", "y = y.add( 1 )")
