"""Evidence files: a run's faults and facts as versioned JSON, joined over runs and dropped where the source changed.

The format is described in ``docs/evidence.md``. Nothing here imports torch, so that a check can read evidence
without it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inplace_fix.nouns import Place, Span
from inplace_fix.trace.observations import Evidence, EvidenceError, Fact, Fault, Write, merge

__all__ = [
    "FORMAT",
    "VERSION",
    "Evidence",
    "EvidenceError",
    "Fact",
    "Fault",
    "Write",
    "load",
    "merge",
    "read",
    "write",
]

FORMAT = "inplace-fix evidence"
VERSION = 1

_FLAGS = ("requires_grad", "leaf", "view", "parameter", "grad_mode", "inference")


def load(paths: Iterable[Path], root: Path) -> Evidence:
    """Read evidence files and join them; what speaks of sources that changed since is left out with a note.

    ``root`` is the directory that relative paths in the files start from. Raises ``EvidenceError`` for a file that
    cannot be read, is no evidence, or is of another version.
    """
    return merge(current(read(path, root)) for path in paths)


def read(path: Path, root: Path) -> Evidence:
    """Read one evidence file as it is, changed sources included. Raises ``EvidenceError``."""
    again = "run `inplace-fix trace` again to make a new one"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise EvidenceError(
            f"cannot read evidence {path}: {error.strerror or error}; give the file of a traced run"
        ) from None
    except UnicodeDecodeError:
        raise EvidenceError(f"{path} is not an evidence file: it is not text; give the file of a traced run") from None
    if not text.strip():
        raise EvidenceError(f"evidence {path} is empty; {again}")
    try:
        data = json.loads(text)
    except ValueError as error:
        if text.lstrip().startswith("{") and FORMAT in text[:200]:
            raise EvidenceError(f"evidence {path} is truncated or damaged ({error}); {again}") from None
        raise EvidenceError(f"{path} is not an evidence file: it is not JSON ({error})") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise EvidenceError(f'{path} is not an evidence file: it does not say `"format": "{FORMAT}"`')
    if data.get("version") != VERSION:
        raise EvidenceError(
            f"evidence {path} is of version {data.get('version')!r}, this is version {VERSION} of the format; {again}"
        )
    try:
        return _Decoder(data, root).evidence()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceError(f"evidence {path} is damaged ({type(error).__name__}: {error}); {again}") from None


def current(evidence: Evidence) -> Evidence:
    """The evidence that still speaks of the sources as they are now, with a note for each file that changed."""
    notes = list(evidence.notes)
    stale: set[Path] = set()
    for name, digest in evidence.digests.items():
        path = Path(name)
        try:
            now = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            stale.add(path)
            notes.append(f"evidence about {name} was left out: the file is not there; trace again from its tree")
            continue
        if now != digest:
            stale.add(path)
            notes.append(f"evidence about {name} was left out: the file changed since the traced run; trace again")
    if not stale:
        return evidence
    kept = [_without(fault, stale) for fault in evidence.faults]
    return replace(
        evidence,
        faults=tuple(fault for fault in kept if fault is not None),
        facts=tuple(
            replace(fact, aliases=tuple(place for place in fact.aliases if place.path not in stale))
            for fact in evidence.facts
            if fact.place.path not in stale
        ),
        digests={name: digest for name, digest in evidence.digests.items() if Path(name) not in stale},
        notes=tuple(notes),
    )


def write(path: Path, evidence: Evidence, root: Path) -> None:
    """Write an evidence file whole or not at all; paths below ``root`` are written relative to it."""
    text = json.dumps(_Encoder(root).document(evidence), separators=(",", ":"), ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        scratch.write_text(text + "\n", encoding="utf-8")
        os.replace(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def _without(fault: Fault, stale: set[Path]) -> Fault | None:
    """The fault without what it says of changed files; None where one of its writes lies in one of them."""
    places = [write.place for write in fault.writes] or [place for place in (fault.backward,) if place is not None]
    if any(place.path in stale for place in places) or not places:
        return None

    def fresh(place: Place | None) -> Place | None:
        return None if place is None or place.path in stale else place

    return replace(
        fault,
        writes=tuple(replace(one, made_at=fresh(one.made_at), caller=fresh(one.caller)) for one in fault.writes),
        saved=fresh(fault.saved),
        backward=fresh(fault.backward),
        related=tuple((text, place) for text, place in fault.related if place.path not in stale),
    )


class _Encoder:
    """Evidence to JSON; a place is ``[file, line, column, end line, end column]`` with the file's index."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.abspath(root))
        self._files: dict[Path, int] = {}

    def document(self, evidence: Evidence) -> dict[str, Any]:
        faults = [self._fault(fault) for fault in evidence.faults]
        facts = [self._fact(fact) for fact in evidence.facts]
        files = [
            {"path": self._name(path), "sha256": evidence.digests.get(str(path), "")} for path in list(self._files)
        ]
        return {
            "format": FORMAT,
            "version": VERSION,
            "torch": evidence.torch_version,
            "runs": evidence.runs,
            "files": files,
            "faults": faults,
            "facts": facts,
            "notes": list(evidence.notes),
        }

    def _name(self, path: Path) -> str:
        try:
            return path.relative_to(self._root).as_posix()
        except ValueError:
            return str(path)

    def _place(self, place: Place) -> list[int]:
        index = self._files.setdefault(place.path, len(self._files))
        span = place.span
        return [index, span.line, span.column, span.end_line, span.end_column]

    def _fault(self, fault: Fault) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": fault.kind, "severity": fault.severity}
        for name in ("message", "why", "remedy", "node", "attribute"):
            if getattr(fault, name):
                data[name] = getattr(fault, name)
        data["writes"] = [self._write(one) for one in fault.writes]
        for name in ("saved", "backward"):
            place = getattr(fault, name)
            if place is not None:
                data[name] = self._place(place)
        if fault.related:
            data["related"] = [[text, self._place(place)] for text, place in fault.related]
        if fault.caught:
            data["caught"] = True
        data["count"] = fault.count
        return data

    def _write(self, one: Write) -> dict[str, Any]:
        data: dict[str, Any] = {"place": self._place(one.place), "op": one.op}
        for name in ("made_at", "caller"):
            place = getattr(one, name)
            if place is not None:
                data[name] = self._place(place)
        return data

    def _fact(self, fact: Fact) -> dict[str, Any]:
        data: dict[str, Any] = {"place": self._place(fact.place), "role": fact.role, "count": fact.count}
        for name in ("ops", "dtypes", "shapes", "devices", "names"):
            if getattr(fact, name):
                data[name] = list(getattr(fact, name))
        for name in _FLAGS:
            if getattr(fact, name):
                data[name] = [int(seen) for seen in getattr(fact, name)]
        if fact.aliases:
            data["aliases"] = [self._place(place) for place in fact.aliases]
        if fact.harmless:
            data["harmless"] = fact.harmless
        return data


class _Decoder:
    """JSON to evidence; raises the usual lookup and type errors for damaged data."""

    def __init__(self, data: Mapping[str, Any], root: Path) -> None:
        self._data = data
        self._paths = [Path(os.path.abspath(root / file["path"])) for file in data["files"]]

    def evidence(self) -> Evidence:
        data = self._data
        digests = {str(path): str(file["sha256"]) for path, file in zip(self._paths, data["files"], strict=True)}
        return Evidence(
            tuple(self._fault(fault) for fault in data["faults"]),
            tuple(self._fact(fact) for fact in data["facts"]),
            tuple(str(note) for note in data.get("notes", ())),
            digests,
            str(data.get("torch", "")),
            int(data.get("runs", 1)),
        )

    def _place(self, value: Sequence[int]) -> Place:
        index, line, column, end_line, end_column = (int(number) for number in value)
        return Place(self._paths[index], Span(line, column, end_line, end_column))

    def _optional(self, value: Sequence[int] | None) -> Place | None:
        return None if value is None else self._place(value)

    def _fault(self, data: Mapping[str, Any]) -> Fault:
        return Fault(
            kind=str(data["kind"]),
            severity=str(data["severity"]),
            message=str(data.get("message", "")),
            why=str(data.get("why", "")),
            remedy=str(data.get("remedy", "")),
            writes=tuple(
                Write(
                    self._place(one["place"]),
                    str(one["op"]),
                    self._optional(one.get("made_at")),
                    self._optional(one.get("caller")),
                )
                for one in data["writes"]
            ),
            saved=self._optional(data.get("saved")),
            node=str(data.get("node", "")),
            attribute=str(data.get("attribute", "")),
            backward=self._optional(data.get("backward")),
            related=tuple((str(text), self._place(place)) for text, place in data.get("related", ())),
            caught=bool(data.get("caught", False)),
            count=int(data["count"]),
        )

    def _fact(self, data: Mapping[str, Any]) -> Fact:
        flags = {name: tuple(bool(seen) for seen in data.get(name, ())) for name in _FLAGS}
        return Fact(
            place=self._place(data["place"]),
            role=str(data["role"]),
            ops=tuple(map(str, data.get("ops", ()))),
            dtypes=tuple(map(str, data.get("dtypes", ()))),
            shapes=tuple(tuple(int(n) for n in shape) for shape in data.get("shapes", ())),
            devices=tuple(map(str, data.get("devices", ()))),
            aliases=tuple(self._place(place) for place in data.get("aliases", ())),
            names=tuple(map(str, data.get("names", ()))),
            count=int(data["count"]),
            harmless=int(data.get("harmless", 0)),
            **flags,
        )
