"""Programs that are checked, repaired and run: ``fixtures/<family>/<case>/`` with before.py, after.py and case.toml.

``before.py`` has ``main()``, the program, and ``meant()``, which computes the same values without any write in place.
``case.toml`` says what happens to ``main()`` as it is (``before``: it works, it raises ``symptom``, or its values are
wrong), under which ``policy`` and whether with ``unsafe`` fixes it is repaired, and the ``culprits``: for each rule the
lines that are reported. Every other line is left alone. ``repaired = false`` marks a fault that no edit repairs.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import programs
import pytest

from inplace_fix import engine

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = sorted(str(path.parent.relative_to(FIXTURES)) for path in FIXTURES.glob("*/*/case.toml"))
needs_torch = pytest.mark.skipif(not programs.TORCH, reason="torch is not installed")


@dataclass(frozen=True)
class Case:
    """One program before and after, and what is known of it."""

    path: Path
    before: str
    after: str
    facts: dict[str, Any]

    @property
    def culprits(self) -> Counter[tuple[str, str]]:
        """The code and the text of every line that is to be reported, as often as it is."""
        found = self.facts.get("culprits", {})
        return Counter((code, line) for code, lines in found.items() for line in lines)

    @property
    def options(self) -> engine.Options:
        """How the program is checked and repaired."""
        return engine.Options(policy=self.facts.get("policy", "unsafe"), unsafe=self.facts.get("unsafe", False))

    def fix(self, text: str) -> engine.FileResult:
        """Repair a text under the name of the program."""
        (result,) = engine.fix([self.path], self.options, {self.path: text})
        assert result.problem is None, result.problem
        return result


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each case in turn; a known defect is expected to fail and must be struck off once it is mended."""
    folder = FIXTURES / request.param
    facts = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    if request.function.__name__ in facts.get("defects", {}):
        reason = facts["defects"][request.function.__name__]
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError))
    before, after = (folder / name for name in ("before.py", "after.py"))
    return Case(before, before.read_text(encoding="utf-8"), after.read_text(encoding="utf-8"), facts)


def test_exactly_the_culprits_are_reported(case: Case) -> None:
    result = case.fix(case.before)
    lines = case.before.splitlines()
    assert Counter((f.code, lines[f.place.span.line - 1].strip()) for f in result.findings) == case.culprits


def test_the_fix_is_the_one_on_file(case: Case) -> None:
    result = case.fix(case.before)
    assert (case.before if result.new_text is None else result.new_text) == case.after


def test_what_is_not_repaired_has_a_reason(case: Case) -> None:
    result = case.fix(case.before)
    assert all(finding.no_fix or finding.fix for finding in result.left)
    assert bool(result.left) == (case.facts.get("repaired", True) is False)


def test_a_second_fix_changes_nothing(case: Case) -> None:
    assert case.fix(case.after).new_text is None


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[Path, str], programs.Ran]:
    """What each program gives before and after, and what it is meant to give; run one after the other."""
    keys, runs = [], []
    for name in NAMES:
        before, after = (FIXTURES / name / part for part in ("before.py", "after.py"))
        for key, path, function in (("main", before, "main"), ("meant", before, "meant"), ("after", after, "main")):
            keys.append((before, key))
            runs.append((path.read_text(encoding="utf-8"), function))
    return dict(zip(keys, programs.run_all(runs), strict=True))


@needs_torch
def test_before_behaves_as_it_is_said_to(case: Case, outcomes: dict[tuple[Path, str], programs.Ran]) -> None:
    ran, meant = outcomes[case.path, "main"], outcomes[case.path, "meant"]
    assert not meant.error
    if case.facts["before"] == "raises":
        assert case.facts["symptom"] in ran.error
    else:
        assert not ran.error
        assert programs.close(ran, meant) == (case.facts["before"] == "works")


@needs_torch
def test_after_computes_what_is_meant(case: Case, outcomes: dict[tuple[Path, str], programs.Ran]) -> None:
    if case.facts.get("repaired", True) is False:
        assert case.after == case.before
        return
    ran = outcomes[case.path, "after"]
    assert not ran.error
    assert programs.close(ran, outcomes[case.path, "meant"])
