"""Each of PyTorch's in-place errors is explained: its kind, the exact expression, why, and what to do."""

from __future__ import annotations

import contextlib
import linecache
import warnings
from pathlib import Path

import pytest
from triggers import TRIGGERS, Trigger

import inplace_fix
from inplace_fix import engine
from inplace_fix.nouns import Severity
from inplace_fix.rules.traced import same_construct
from inplace_fix.trace.errors import explain, first_sentence
from inplace_fix.trace.observations import Fault, Place


@pytest.mark.parametrize("level", ["writes", "full"])
@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.name)
def test_an_error_is_explained_at_its_expression(trigger: Trigger, level: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(trigger.program)
    linecache.checkcache()
    code = compile(trigger.program, str(path), "exec")
    run = inplace_fix.tracing(level, quiet=True)
    try:
        with warnings.catch_warnings(), run:
            warnings.simplefilter("ignore")
            exec(code, {"__name__": "program"})
    except Exception as error:
        assert trigger.kind, error  # noqa: PT017 - the program under test is run by hand
        print(repr(error))
    else:
        assert not trigger.kind, "nothing was raised"
    raised = [fault for fault in run.faults if fault.severity == "raised"]
    assert [fault.kind for fault in raised][:1] == ([trigger.kind] if trigger.kind else []), run.faults
    for fault in raised:
        assert fault.why
        assert fault.remedy
        assert not fault.caught
    if trigger.expression:
        assert _text(trigger.program, _place(raised[0])) == trigger.expression


@pytest.mark.parametrize("trigger", [t for t in TRIGGERS if t.kind], ids=lambda trigger: trigger.name)
def test_a_check_with_the_evidence_tells_line_column_why_and_remedy(trigger: Trigger, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(trigger.program)
    linecache.checkcache()
    run = inplace_fix.tracing("full", quiet=True, output=tmp_path / "evidence.json")
    with warnings.catch_warnings(), contextlib.suppress(Exception), run:
        warnings.simplefilter("ignore")
        exec(compile(trigger.program, str(path), "exec"), {"__name__": "program"})
    (result,) = engine.check([path], engine.Options(evidence=(tmp_path / "evidence.json",), root=tmp_path))
    assert result.problem is None
    place = _place(next(fault for fault in run.faults if fault.severity == "raised"), changed=True)
    told = [finding for finding in result.findings if same_construct(place, finding.place)]
    assert "traced" in {word for finding in told for word in finding.evidence}, result.findings
    assert {finding.severity for finding in told} <= {Severity.ERROR, Severity.WARNING}
    for finding in told:
        assert finding.why
        assert finding.no_fix or (finding.fix is not None and finding.fix.message)


def _place(fault: Fault, *, changed: bool = False) -> Place:
    place = fault.writes[0].place if fault.writes else fault.backward
    if changed and fault.writes and fault.writes[0].made_at is not None:
        place = fault.writes[0].made_at  # a person changes the module, not its call
    assert place is not None
    return place


def _text(source: str, place: Place) -> str:
    span = place.span
    assert span.line == span.end_line
    return source.splitlines()[span.line - 1][span.column : span.end_column]


def test_an_error_of_the_programs_own_is_not_explained() -> None:
    assert explain("could not open config.yaml") is None


def test_the_hint_of_a_message_is_left_out() -> None:
    assert first_sentence("it is at version 1; expected version 0 instead. Hint: enable\n anomaly") == (
        "it is at version 1; expected version 0 instead."
    )
