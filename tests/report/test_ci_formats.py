"""The formats of CI services: GitHub, GitLab, JUnit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from findings import finding

from inplace_fix.engine import Problem
from inplace_fix.nouns import Place, Severity, Span
from inplace_fix.report import github, gitlab, junit
from inplace_fix.report.texts import Texts

HERE = Path("a,b:c%.py")
TEXT = "y.add_(1); y.add_(1)\ny.add_(1)\n"


def test_a_workflow_command_escapes_what_would_end_it() -> None:
    found = finding(HERE, 2, 0, 9, severity=Severity.WARNING, message="50 % wrong:\nsee")
    assert list(github.lines([found], [])) == [
        "::warning title=IPF001 saved-tensor-overwritten,file=a%2Cb%3Ac%25.py,line=2,endLine=2,col=1,endColumn=10"
        "::50 %25 wrong:%0Asee"
    ]


def test_a_place_over_lines_has_no_columns_and_one_in_a_cell_no_lines() -> None:
    over = replace(finding(HERE, 1), place=Place(HERE, Span(1, 0, 2, 4)))
    cell = replace(finding(HERE, 1, severity=Severity.NOTE), place=Place(HERE, Span(1, 0, 1, 4), 3))
    first, second = github.lines([over, cell], [])
    assert "line=1,endLine=2::" in first
    assert "col=" not in first
    assert second.startswith("::notice ")
    assert "line=" not in second
    assert "::cell 3, line 1: " in second


def test_a_file_that_cannot_be_read_is_an_error_there_too() -> None:
    assert list(github.lines([], [Problem(Path("m.py"), "no Python", 3)])) == [
        "::error title=inplace-fix,file=m.py,line=3::no Python"
    ]


def test_gitlab_gets_what_it_asks_for_with_fingerprints_that_differ() -> None:
    twins = [finding(HERE, 1, 0, 9), finding(HERE, 1, 11, 20), finding(HERE, 2, 0, 9)]
    issues = json.loads(gitlab.dumps(twins, Texts({(HERE, None): TEXT})))
    assert len({issue["fingerprint"] for issue in issues}) == 3
    assert issues[0] == {
        "description": twins[0].message,
        "check_name": "IPF001",
        "fingerprint": issues[0]["fingerprint"],
        "severity": "critical",
        "location": {"path": HERE.as_posix(), "lines": {"begin": 1, "end": 1}},
    }


def test_a_gitlab_fingerprint_survives_lines_above() -> None:
    first = gitlab.dumps([finding(HERE, 2)], Texts({(HERE, None): "a\ny.add_(1)\n"}))
    second = gitlab.dumps([finding(HERE, 3)], Texts({(HERE, None): "a\nb\ny.add_(1)\n"}))
    assert json.loads(first)[0]["fingerprint"] == json.loads(second)[0]["fingerprint"]


def test_junit_counts_failures_and_errors_and_survives_odd_characters() -> None:
    found = finding(HERE, 2, message='<&"> \x00 \x1b', why="because")
    tree = ElementTree.fromstring(junit.dumps([found], [Problem(Path("m.py"), "no Python")]))
    suite = tree[0]
    assert suite.attrib == {"name": "inplace-fix", "tests": "2", "failures": "1", "errors": "1"}
    failure, error = suite[0][0], suite[1][0]
    assert failure.attrib["message"] == '<&"> \ufffd \ufffd'
    assert failure.text is not None
    assert failure.text.endswith("because")
    assert (error.tag, error.text) == ("error", "no Python")


def test_junit_without_findings_has_one_passed_test() -> None:
    suite = ElementTree.fromstring(junit.dumps([], []))[0]
    assert [case.tag for case in suite] == ["testcase"]
    assert len(suite[0]) == 0
