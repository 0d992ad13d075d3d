"""Evidence files: written whole, read back equal, joined, and left out where the source changed; without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fix.nouns import Place, Span
from inplace_fix.trace.evidence import FORMAT, VERSION, EvidenceError, load, read, write
from inplace_fix.trace.observations import Evidence, Fact, Fault, Write, merge
from inplace_fix.trace.positions import digest


def _place(path: Path, line: int = 1, column: int = 0) -> Place:
    return Place(path, Span(line, column, line, column + 4))


def _fault(path: Path, saved: Path | None = None, **changes: object) -> Fault:
    fields: dict[str, object] = {
        "kind": "saved-tensor",
        "severity": "raised",
        "message": "one of the variables ...",
        "why": "it was saved",
        "remedy": "clone",
        "writes": (Write(_place(path), "add_", made_at=_place(path, 7), caller=_place(path, 8)),),
        "saved": _place(saved or path, 2),
        "node": "ExpBackward0",
        "attribute": "result",
        "backward": _place(path, 3),
        "related": (("the copy was made", _place(path, 4)),),
        "count": 2,
    }
    return Fault(**{**fields, **changes})  # type: ignore[arg-type]


def _fact(path: Path, **changes: object) -> Fact:
    fields: dict[str, object] = {
        "place": _place(path),
        "role": "write",
        "ops": ("add_",),
        "dtypes": ("float32",),
        "shapes": ((2, 3),),
        "devices": ("cpu",),
        "requires_grad": (True, False),
        "leaf": (False,),
        "view": (False,),
        "parameter": (False,),
        "grad_mode": (True,),
        "inference": (False,),
        "aliases": (_place(path, 5),),
        "names": ("h",),
        "count": 3,
        "harmless": 1,
    }
    return Fact(**{**fields, **changes})  # type: ignore[arg-type]


def _evidence(*paths: Path) -> Evidence:
    for path in paths:
        if not path.exists():
            path.write_text("source\n")
    return Evidence(
        tuple(_fault(path) for path in paths),
        tuple(_fact(path) for path in paths),
        (),
        {str(path): digest(str(path)) for path in paths},
        "2.13.0",
    )


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path / "train.py")
    write(tmp_path / "e.json", evidence, tmp_path)
    assert read(tmp_path / "e.json", tmp_path) == evidence
    assert load([tmp_path / "e.json"], tmp_path) == evidence


def test_paths_below_the_root_are_relative_so_that_the_tree_can_move(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    write(tmp_path / "one" / "e.json", _evidence(tmp_path / "one" / "train.py"), tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "two")
    moved = load([tmp_path / "two" / "e.json"], tmp_path / "two")
    assert [one.place.path for one in moved.faults[0].writes] == [tmp_path / "two" / "train.py"]
    assert moved.notes == ()


def test_evidence_about_changed_source_is_left_out_with_a_note(tmp_path: Path) -> None:
    changed, kept = tmp_path / "changed.py", tmp_path / "kept.py"
    evidence = _evidence(changed, kept)
    mixed = _fault(kept, saved=changed)
    write(tmp_path / "e.json", Evidence((*evidence.faults, mixed), evidence.facts, (), evidence.digests), tmp_path)
    changed.write_text("source, edited\n")
    found = load([tmp_path / "e.json"], tmp_path)
    assert {one.place.path for fault in found.faults for one in fault.writes} == {kept}
    assert [fault.saved for fault in found.faults] == [_place(kept, 2), None]
    assert {fact.place.path for fact in found.facts} == {kept}
    assert found.notes == (
        f"evidence about {changed} was left out: the file changed since the traced run; trace again",
    )


def test_evidence_about_a_file_that_is_gone_is_left_out_with_a_note(tmp_path: Path) -> None:
    write(tmp_path / "e.json", _evidence(tmp_path / "train.py"), tmp_path)
    (tmp_path / "train.py").unlink()
    found = load([tmp_path / "e.json"], tmp_path)
    assert (found.faults, found.facts) == ((), ())
    assert "the file is not there" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("import torch\n", "is not an evidence file: it is not JSON"),
        ("[1, 2]", "is not an evidence file"),
        ('{"format": "something else"}', "is not an evidence file"),
        (json.dumps({"format": FORMAT, "version": VERSION + 1}), f"is of version {VERSION + 1}"),
        (json.dumps({"format": FORMAT, "version": VERSION}), "is damaged (KeyError"),
        (json.dumps({"format": FORMAT, "version": VERSION, "files": [], "faults": [], "facts": 3}), "is damaged"),
        (
            json.dumps(
                {
                    "format": FORMAT,
                    "version": VERSION,
                    "files": [],
                    "faults": [],
                    "facts": [{"place": [5, 1, 0, 1, 1], "role": "write", "count": 1}],
                }
            ),
            "is damaged (IndexError",
        ),
    ],
)
def test_a_file_that_is_no_evidence_is_refused_with_the_reason(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text(text)
    with pytest.raises(EvidenceError) as raised:
        load([path], tmp_path)
    assert words in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_truncated_file_is_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    write(path, _evidence(tmp_path / "train.py"), tmp_path)
    path.write_text(path.read_text()[:-40])
    with pytest.raises(EvidenceError, match=r"truncated or damaged.*run `inplace-fix trace` again"):
        load([path], tmp_path)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"cannot read evidence.*No such file"):
        load([tmp_path / "none.json"], tmp_path)
    (tmp_path / "binary").write_bytes(b"\x80\x81\xff")
    with pytest.raises(EvidenceError, match="it is not text"):
        load([tmp_path / "binary"], tmp_path)


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "e.json"
    write(path, _evidence(tmp_path / "train.py"), tmp_path)
    before = path.read_text()

    def refuse(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write(path, Evidence(), tmp_path)
    assert path.read_text() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["e.json", "train.py"]


def test_runs_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    first = Evidence((_fault(path, caught=True),), (_fact(path),), ("a note",), {"a": "1"}, "2.13", 1)
    second = Evidence(
        (_fault(path, caught=False), _fault(path, kind="leaf")),
        (_fact(path, dtypes=("float64",), requires_grad=(False,)), _fact(path, role="value")),
        ("a note",),
        {"b": "2"},
        "2.13",
        1,
    )
    both = merge([first, second])
    assert [(fault.kind, fault.count, fault.caught) for fault in both.faults] == [
        ("saved-tensor", 4, False),
        ("leaf", 2, False),
    ]
    assert [(fact.role, fact.count, fact.harmless) for fact in both.facts] == [("write", 6, 2), ("value", 3, 1)]
    assert both.facts[0].dtypes == ("float32", "float64")
    assert both.facts[0].requires_grad == (True, False)
    assert (both.notes, both.digests, both.runs) == (("a note",), {"a": "1", "b": "2"}, 2)


def test_reading_evidence_imports_no_torch() -> None:
    code = "import sys, inplace_fix.trace.evidence; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
