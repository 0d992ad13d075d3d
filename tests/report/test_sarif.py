"""SARIF, held against the published schema."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from findings import finding, place

from inplace_fix.engine import Problem
from inplace_fix.nouns import Applicability, Finding, Place, Severity, Span
from inplace_fix.report import sarif
from inplace_fix.report.texts import Texts

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json"
HERE = Path("sub dir/ü.py")
TEXT = "y = x.exp()\ny.add_(1)\ny.sum().backward()\n"


@cache
def validator() -> Any:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def log(*findings: Finding, problems: tuple[Problem, ...] = ()) -> Any:
    pages = {"IPF001": ("a value saved for backward is overwritten", "# IPF001\n")}
    made = json.loads(sarif.dumps(findings, problems, Texts({(HERE, None): TEXT}), pages))
    assert [error.message for error in validator().iter_errors(made)] == []
    return made["runs"][0]


def example() -> Finding:
    return finding(HERE, 2, 0, 9, saved=place(HERE, 1, 4, 11), why="it is gone", replacement="y = y.add(1)")


def test_the_schema_refuses_what_is_wrong() -> None:
    assert list(validator().iter_errors({"version": "2.1.0", "runs": [{"tool": {}}]}))


def test_a_result_has_places_flow_and_fix() -> None:
    run = log(example(), finding(HERE, 3, code="IPF002", name="leaf", severity=Severity.NOTE))
    first, second = run["results"]
    region = {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 10}
    location = first["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "sub%20dir/%C3%BC.py", "uriBaseId": "SRCROOT"}, "region": region}
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow(first)] == [1, 2]
    assert first["relatedLocations"][0]["message"] == {"text": "saved here"}
    assert first["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {"deletedRegion": region, "insertedContent": {"text": "y = y.add(1)"}}
    ]
    assert (first["level"], second["level"]) == ("error", "note")
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["IPF001", "IPF002"]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["help"]["markdown"] == "# IPF001\n"


def test_a_place_that_comes_later_follows_in_the_flow() -> None:
    found = example()
    later = replace(found.related[0], message="needed by this backward", place=place(HERE, 3, 0, 18))
    result = log(replace(found, related=(*found.related, later)))["results"][0]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow(result)] == [1, 2, 3]


def test_advice_and_notebook_places_are_valid_too() -> None:
    advice = finding(HERE, 2, 0, 9, replacement="z", applicability=Applicability.DISPLAY)
    in_cell = replace(finding(HERE, 2, 0, 9, replacement="z"), place=Place(HERE, Span(2, 0, 2, 9), 4))
    run = log(advice, in_cell)
    assert "fixes" not in run["results"][0]
    assert "region" not in run["results"][1]["locations"][0]["physicalLocation"]


def test_a_fix_that_reaches_into_notebook_cells_is_left_out() -> None:
    found = finding(HERE, 2, 0, 9, replacement="z")
    assert found.fix is not None
    edit = replace(found.fix.edits[0], place=replace(found.place, cell=3))
    result = log(replace(found, fix=replace(found.fix, edits=(edit,))))["results"][0]
    assert "fixes" not in result


def test_what_could_not_be_analysed_is_a_notification() -> None:
    run = log(problems=(Problem(Path("bad.py"), "no Python", 3), Problem(Path("/elsewhere/x.py"), "does not exist")))
    invocation = run["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert [n["message"]["text"] for n in invocation["toolExecutionNotifications"]] == ["no Python", "does not exist"]


def test_the_pages_of_the_rules_are_found() -> None:
    pages = sarif.pages_of(["IPF001", "IPF999"])
    assert list(pages) == ["IPF001"]
    assert pages["IPF001"][1].startswith("# IPF001")


def flow(result: Any) -> Any:
    return result["codeFlows"][0]["threadFlows"][0]["locations"]
