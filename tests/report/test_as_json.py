"""The JSON report."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from findings import finding, place

from inplace_fix.nouns import Place, Span
from inplace_fix.report.as_json import dumps

HERE = Path("m.py")


def test_a_finding_has_the_shape_that_readers_of_ruff_know() -> None:
    found = finding(HERE, 2, 0, 9, saved=place(HERE, 1, 4, 11), why="gone", replacement="y = é")
    assert json.loads(dumps([found])) == [
        {
            "code": "IPF001",
            "name": "saved-tensor-overwritten",
            "severity": "error",
            "certainty": "certain",
            "message": found.message,
            "why": "gone",
            "filename": os.path.abspath("m.py"),
            "cell": None,
            "location": {"row": 2, "column": 1},
            "end_location": {"row": 2, "column": 10},
            "related": [
                {
                    "message": "saved here",
                    "filename": os.path.abspath("m.py"),
                    "cell": None,
                    "location": {"row": 1, "column": 5},
                    "end_location": {"row": 1, "column": 12},
                }
            ],
            "evidence": ["static"],
            "url": None,
            "fix": {
                "applicability": "safe",
                "form": "out-of-place",
                "message": "write to a new tensor",
                "edits": [
                    {
                        "content": "y = é",
                        "filename": os.path.abspath("m.py"),
                        "cell": None,
                        "location": {"row": 2, "column": 1},
                        "end_location": {"row": 2, "column": 10},
                    }
                ],
            },
            "no_fix": None,
        }
    ]


def test_no_findings_are_an_empty_list_and_the_reason_for_no_fix_is_told() -> None:
    assert dumps([]) == "[]\n"
    entry = json.loads(dumps([finding(HERE, 1).with_fix(None, "a view")]))[0]
    assert (entry["fix"], entry["no_fix"]) == (None, "a view")


def test_a_notebook_place_carries_its_cell() -> None:
    found = replace(finding(HERE, 1), place=Place(HERE, Span(2, 0, 2, 1), 5))
    assert json.loads(dumps([found]))[0]["cell"] == 5
