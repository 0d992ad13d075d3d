"""The report says what happened, where, why, and what to do, in that order."""

from __future__ import annotations

from pathlib import Path

from inplace_fix.nouns import Place, Span
from inplace_fix.trace.observations import Evidence, Fault, Write
from inplace_fix.trace.report import report

SOURCE = "def step(h):\n    y = h.exp()\n\ty.add_(1)  # σ\n    return y\n"


def _fault(path: Path, **changes: object) -> Fault:
    place = Place(path, Span(3, 1, 3, 10))
    fields: dict[str, object] = {
        "kind": "saved-tensor",
        "severity": "raised",
        "message": "one of the variables",
        "why": "it was saved and overwritten",
        "remedy": "clone first",
        "writes": (Write(place, "add_"),),
        "saved": Place(path, Span(2, 8, 2, 15)),
        "node": "ExpBackward0",
        "attribute": "result",
        "backward": Place(path, Span(4, 4, 4, 12)),
    }
    return Fault(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_fault_is_told_with_its_places_and_excerpts(tmp_path: Path) -> None:
    path = tmp_path / "step.py"
    path.write_text(SOURCE)
    lines = report(Evidence((_fault(path),)), tmp_path, tmp_path / "e.json").splitlines()
    assert lines == [
        "inplace-fix: 1 fault in this run",
        "",
        "1. a value saved for backward was overwritten [saved-tensor]",
        "   written by add_ at step.py:3:2",
        "         3 | y.add_(1)  # σ",
        "           | ^^^^^^^^^",
        "   saved by ExpBackward0 as its result at step.py:2:9",
        "         2 | y = h.exp()",
        "           |     ^^^^^^^",
        "   needed by the backward at step.py:4:5",
        "         4 | return y",
        "           | ^^^^^^^^",
        "   why: it was saved and overwritten",
        "   what to do: clone first",
        "",
        "The repair, as a patch: inplace-fix fix --dry-run --trace e.json step.py",
    ]


def test_a_module_is_shown_by_its_constructor_and_a_library_by_its_caller(tmp_path: Path) -> None:
    path = tmp_path / "step.py"
    path.write_text(SOURCE)
    write = Write(
        Place(path, Span(2, 8, 2, 15)), "relu_", Place(path, Span(1, 4, 1, 8)), Place(path, Span(4, 4, 4, 12))
    )
    text = report(Evidence((_fault(path, writes=(write,)),)), tmp_path, None)
    assert "by the module made at step.py:1:5" in text
    assert "called at step.py:4:5" in text
    assert "The repair" not in text


def test_the_command_names_all_of_the_programs_own_files(tmp_path: Path) -> None:
    def told(*names: str) -> str:
        digests = {str(tmp_path / name): "0" for name in names}
        text = report(Evidence((_fault(tmp_path / "step.py"),), digests=digests), tmp_path, tmp_path / "e.json")
        return text.splitlines()[-1].partition("--trace ")[2]

    assert told("my model.py", "lib/site-packages/other.py") == "e.json 'my model.py' step.py"
    assert told(*(f"part{number}.py" for number in range(9))) == "e.json ."


def test_what_was_not_seen_is_said(tmp_path: Path) -> None:
    text = report(Evidence((_fault(tmp_path / "gone.py", writes=(), saved=None),)), tmp_path, None)
    assert "the write was not seen" in text
    assert "its line is seen with --level full" in text


def test_silent_handled_and_repeated_faults_are_marked(tmp_path: Path) -> None:
    silent = _fault(tmp_path / "a.py", severity="silent", count=3)
    handled = _fault(tmp_path / "a.py", kind="leaf", caught=True)
    text = report(Evidence((handled, silent)), tmp_path, None)
    assert "[saved-tensor] (PyTorch says nothing; 3 times)" in text
    assert "[leaf] (the program handled the error)" in text
    assert text.index("[saved-tensor]") < text.index("[leaf]"), "what ended the program comes first"


def test_many_faults_are_counted_not_all_told(tmp_path: Path) -> None:
    faults = tuple(_fault(tmp_path / "a.py", node=f"Node{number}") for number in range(25))
    assert "... and 5 more, all of them in the evidence file" in report(Evidence(faults), tmp_path, None)


def test_no_fault_is_no_report(tmp_path: Path) -> None:
    assert report(Evidence(), tmp_path, tmp_path / "e.json") == ""
