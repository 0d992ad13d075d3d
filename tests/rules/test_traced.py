"""What the source shows and what runs showed, joined: confirmed, decided, lowered, added; never safe by a run alone."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from inplace_fix import engine
from inplace_fix.nouns import Applicability, Certainty, Finding, Place, Severity, Span
from inplace_fix.rules.base import rules
from inplace_fix.rules.traced import CODES, REFUSED
from inplace_fix.trace import evidence as files
from inplace_fix.trace.kinds import TITLES
from inplace_fix.trace.observations import Evidence, Fact, Fault, Write
from inplace_fix.trace.positions import digest

UNKNOWN = """
def f(box):
    y = box.item.exp()
    y += 1
    return y.sum()
"""
ARGUMENT = """
def f(x):
    y = torch.exp(x)
    y += 1
    return y.sum()
"""


class Run:
    """A program with evidence about it, given by the text of its expressions."""

    def __init__(self, folder: Path, text: str) -> None:
        self.path = folder / "program.py"
        self.text = "import torch\n" + textwrap.dedent(text)
        self.path.write_text(self.text)
        self.facts: list[Fact] = []
        self.faults: list[Fault] = []

    def place(self, text: str) -> Place:
        nodes = [n for n in ast.walk(ast.parse(self.text)) if isinstance(n, (ast.expr, ast.stmt))]
        nodes = [n for n in nodes if ast.get_source_segment(self.text, n) == text]
        assert nodes, text
        line, column, end, last = (
            getattr(nodes[0], name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")
        )
        return Place(self.path, Span(line, column, end, last))

    def gave(self, text: str, op: str, *, requires: bool = True) -> None:
        """The expression gave a float tensor."""
        self.facts.append(self._fact(text, "value", op, requires))

    def wrote(self, text: str, op: str, *, requires: bool = True, harmless: int = 0) -> None:
        """The construct wrote to a float tensor."""
        self.facts.append(self._fact(text, "write", op, requires, harmless))

    def _fact(self, text: str, role: str, op: str, requires: bool, harmless: int = 0) -> Fact:
        return Fact(
            self.place(text),
            role,
            (op,),
            ("float32",),
            ((3,),),
            ("cpu",),
            (requires,),
            (False,),
            (False,),
            (False,),
            (True,),
            count=1,
            harmless=harmless,
        )

    def failed(self, text: str, kind: str = "saved-tensor", saved: str = "", attribute: str = "") -> None:
        """PyTorch raised because of the construct."""
        self.faults.append(
            Fault(
                kind,
                "raised",
                "it raised.",
                "it was saved",
                "write elsewhere",
                (Write(self.place(text), "add_"),),
                self.place(saved) if saved else None,
                attribute=attribute,
            )
        )

    def options(self, **more: object) -> engine.Options:
        file = self.path.with_name("evidence.json")
        digests = {str(self.path): digest(str(self.path))}
        files.write(file, Evidence(tuple(self.faults), tuple(self.facts), (), digests), self.path.parent)
        return engine.Options(evidence=(file,), root=self.path.parent, **more)  # type: ignore[arg-type]

    def check(self, **more: object) -> list[Finding]:
        """What a check with the evidence reports."""
        (result,) = engine.check([self.path], self.options(**more))
        assert result.problem is None
        return list(result.findings)

    def fixed(self, *, unsafe: bool) -> str:
        """The program after its repair, without the import."""
        (result,) = engine.fix([self.path], self.options(unsafe=unsafe))
        return (result.new_text or result.text).partition("\n")[2]


@pytest.fixture
def unknown(tmp_path: Path) -> Run:
    """A program that is silent as long as nobody knows that its value is a tensor."""
    run = Run(tmp_path, UNKNOWN)
    run.gave("box.item.exp()", "exp")
    return run


def test_types_from_a_run_show_what_the_source_is_silent_about(unknown: Run) -> None:
    assert Run(unknown.path.parent, UNKNOWN).check() == []
    (found,) = unknown.check()
    assert (found.code, found.place) == ("IPF001", unknown.place("y += 1"))
    assert (found.severity, found.certainty) == (Severity.WARNING, Certainty.POSSIBLE)
    assert found.evidence == ("static", "traced")
    assert "seen in a run" in found.why


def test_a_fix_that_rests_on_types_of_a_run_is_not_safe_and_says_so(unknown: Run) -> None:
    (found,) = unknown.check()
    assert found.fix is not None
    assert found.fix.applicability is Applicability.UNSAFE
    assert "assuming that `y` is always a float32 tensor that requires grad, as in the traced run" in found.fix.message
    assert unknown.fixed(unsafe=False) == UNKNOWN
    assert unknown.fixed(unsafe=True) == UNKNOWN.replace("y += 1", "y = y + 1")


def test_what_a_run_showed_to_be_harmless_is_not_told_for_its_types(unknown: Run) -> None:
    unknown.wrote("y += 1", "add_", harmless=1)
    assert unknown.check() == []


def test_a_fault_that_raised_is_repaired_under_its_assumption_where_types_explain_it(unknown: Run) -> None:
    unknown.failed("y += 1")
    (found,) = unknown.check()
    assert found.why == "seen in the run: it was saved"
    assert found.fix is not None
    assert found.fix.applicability is Applicability.UNSAFE


def test_a_note_about_any_caller_becomes_a_warning_once_a_caller_was_seen(tmp_path: Path) -> None:
    (before,) = Run(tmp_path, ARGUMENT).check()
    assert before.severity is Severity.NOTE
    run = Run(tmp_path, ARGUMENT)
    run.gave("torch.exp(x)", "exp")
    (after,) = run.check()
    assert (after.severity, after.certainty) == (Severity.WARNING, Certainty.POSSIBLE)
    assert after.fix is not None
    assert after.fix.applicability is Applicability.UNSAFE


def test_a_note_stays_one_where_the_callers_seen_needed_no_gradient(tmp_path: Path) -> None:
    run = Run(tmp_path, ARGUMENT)
    run.gave("torch.exp(x)", "exp", requires=False)
    (found,) = run.check()
    assert found.severity is Severity.NOTE


def test_a_possible_fault_that_raised_has_the_fix_that_the_source_proves(tmp_path: Path) -> None:
    run = Run(tmp_path, ARGUMENT)
    run.failed("y += 1")
    (found,) = run.check()
    assert (found.severity, found.evidence) == (Severity.WARNING, ("static", "traced"))
    assert found.fix is not None
    assert found.fix.applicability is Applicability.SAFE


def test_a_possible_fault_whose_writes_were_harmless_becomes_a_note(tmp_path: Path) -> None:
    text = "w = torch.ones(3, requires_grad=True)\ny = w.exp()\nz = y.T.reshape(3)\nz.add_(1)\ny.sum().backward()\n"
    (before,) = Run(tmp_path, text).check(select=("IPF001",))
    assert before.severity is Severity.WARNING
    run = Run(tmp_path, text)
    run.wrote("z.add_(1)", "add_", harmless=1)
    (after,) = run.check(select=("IPF001",))
    assert (after.severity, after.evidence) == (Severity.NOTE, ("static", "traced"))


def test_a_fault_that_only_the_run_showed_is_repaired_where_the_source_has_its_write(tmp_path: Path) -> None:
    text = "def f(net, x: torch.Tensor):\n    h = net(x)\n    h.add_(1)\n    return h\n"
    run = Run(tmp_path, text)
    run.wrote("h.add_(1)", "add_")
    run.failed("h.add_(1)")
    (found,) = run.check()
    assert found.evidence == ("traced",)
    assert found.message == "`h.add_(1)`: a value saved for backward was overwritten; PyTorch raised an error"
    assert found.why == "it was saved (it raised)"
    assert run.fixed(unsafe=False) == text
    assert run.fixed(unsafe=True) == text.replace("h.add_(1)", "h = h.add(1)")


def test_a_fault_that_only_the_run_showed_has_its_remedy_where_there_is_no_repair(tmp_path: Path) -> None:
    run = Run(tmp_path, "def f(step):\n    step()\n")
    run.failed("step()", "optimizer-order")
    (found,) = run.check()
    assert (found.code, found.fix, found.no_fix) == ("IPF008", None, "write elsewhere")


def test_faults_of_a_run_heed_the_rules_that_were_asked(tmp_path: Path) -> None:
    run = Run(tmp_path, "def f(step):\n    step()\n")
    run.failed("step()", "optimizer-order")
    assert run.check(ignore=("IPF008",)) == []
    assert len(run.check(select=("IPF008",))) == 1


def test_every_kind_that_a_run_can_show_has_a_rule() -> None:
    known = {rule.code for rule in rules()}
    assert set(CODES.values()) <= known
    assert REFUSED in known
    assert set(CODES) <= set(TITLES)


def test_what_only_a_run_told_is_left_over_after_another_fault_was_repaired(tmp_path: Path) -> None:
    run = Run(tmp_path, "w = torch.ones(3, requires_grad=True)\ny = w.exp()\ny += 1\nstep()\ny.sum().backward()\n")
    run.failed("y += 1")
    run.failed("step()", "optimizer-order")
    (result,) = engine.fix([run.path], run.options())
    assert [finding.code for finding in result.applied] == ["IPF001"]
    assert [(finding.code, finding.no_fix) for finding in result.left] == [("IPF008", "write elsewhere")]


def test_a_result_that_only_the_run_saw_overwritten_is_cloned_where_it_was_saved(tmp_path: Path) -> None:
    text = "def f(x, write):\n    y = x.exp()\n    write(y, 2.0)\n    return y\n"
    run = Run(tmp_path, text)
    run.failed("write(y, 2.0)", saved="x.exp()", attribute="result")
    (found,) = run.check()
    assert found.fix is not None
    assert found.fix.applicability is Applicability.UNSAFE
    assert run.fixed(unsafe=True) == text.replace("x.exp()", "x.exp().clone()")


def test_a_value_that_was_an_input_of_what_saved_it_is_not_guessed_at(tmp_path: Path) -> None:
    run = Run(tmp_path, "def f(x, y, write):\n    z = x * y\n    write(y, 2.0)\n    return z\n")
    run.failed("write(y, 2.0)", saved="x * y", attribute="other")
    (found,) = run.check()
    assert (found.fix, found.no_fix) == (None, "write elsewhere")
