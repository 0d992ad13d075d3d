"""The report of a run as text: each fault with its places, an excerpt of the source at each, and what to do."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from inplace_fix.nouns import Place
from inplace_fix.trace.kinds import TITLES
from inplace_fix.trace.observations import Evidence, Fault
from inplace_fix.trace.positions import INSTALLED, Spans

_SHOWN = 20
_MANY = 6  # files are named one by one


def report(evidence: Evidence, root: Path, output: Path | None) -> str:
    """The faults of a run in plain words; "" where there are none."""
    faults = sorted(evidence.faults, key=lambda fault: (fault.caught, fault.severity != "raised"))
    if not faults:
        return ""
    sources = _Sources()
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    parts = [f"inplace-fix: {count} in this run"]
    for number, fault in enumerate(faults[:_SHOWN], 1):
        parts.append("\n".join(_lines(number, fault, root, sources)))
    if len(faults) > _SHOWN:
        parts.append(f"... and {len(faults) - _SHOWN} more, all of them in the evidence file")
    if output is not None:
        parts.append(
            f"The repair, as a patch: inplace-fix fix --dry-run --trace {_short(output, root)} {_files(evidence, root)}"
        )
    return "\n\n".join(parts) + "\n"


def _lines(number: int, fault: Fault, root: Path, sources: _Sources) -> Iterator[str]:
    title = TITLES.get(fault.kind, fault.kind.replace("-", " "))
    notes = [{"silent": "PyTorch says nothing", "hazard": "right in this run only"}.get(fault.severity, "")]
    notes += [
        "the program handled the error" if fault.caught else "",
        f"{fault.count} times" if fault.count > 1 else "",
    ]
    told = "; ".join(note for note in notes if note)
    yield f"{number}. {title} [{fault.kind}]" + (f" ({told})" if told else "")
    for write in fault.writes:
        op = f" by {write.op}" if write.op else ""
        yield from sources.excerpt(f"written{op}" if write.op else "raised", write.place, root)
        if write.made_at is not None:
            yield from sources.excerpt("by the module made", write.made_at, root)
        if write.caller is not None:
            yield from sources.excerpt("called", write.caller, root)
    if not fault.writes and fault.kind == "saved-tensor":
        yield "   the write was not seen: it was done by compiled code or by a function taken from torch before the run"
    if fault.saved is not None:
        yield from sources.excerpt(f"saved{_by(fault)}", fault.saved, root)
    elif fault.node:
        yield f"   saved{_by(fault)} (its line is seen with --level full)"
    for text, place in fault.related:
        yield from sources.excerpt(text, place, root)
    if fault.backward is not None:
        yield from sources.excerpt("raised" if not fault.writes else "needed by the backward", fault.backward, root)
    yield f"   why: {fault.why}"
    yield f"   what to do: {fault.remedy}"


def _by(fault: Fault) -> str:
    if not fault.node:
        return ""
    what = "" if fault.attribute in ("", "saved_tensors") else f" as its {fault.attribute}"
    return f" by {fault.node}{what}"


def _files(evidence: Evidence, root: Path) -> str:
    """The program's own files that the run came by, for a command: a repair may be in another than the write."""
    paths = {write.place.path for fault in evidence.faults for write in fault.writes}
    paths |= {Path(name) for name in evidence.digests}
    own = sorted(_short(path, root) for path in paths if not {*path.parts} & INSTALLED)
    return shlex.join(own) if 0 < len(own) <= _MANY else "."


def _short(path: Path, root: Path) -> str:
    try:
        return path.relative_to(Path(os.path.abspath(root))).as_posix()
    except ValueError:
        return str(path)


class _Sources:
    """The lines of the files that the report quotes, each file read once."""

    def __init__(self) -> None:
        self._lines: dict[Path, list[str]] = {}

    def excerpt(self, label: str, place: Place, root: Path) -> Iterator[str]:
        span = place.span
        yield f"   {label} at {_short(place.path, root)}:{span.line}:{span.column + 1}"
        lines = self._of(place.path)
        if not 0 < span.line <= len(lines):
            return
        text = lines[span.line - 1].replace("\t", " ")
        end = span.end_column if span.end_line == span.line else len(text)
        margin = len(text) - len(text.lstrip())
        yield f"     {span.line:>5} | {text.strip()}"
        yield f"           | {' ' * (span.column - margin)}{'^' * max(1, end - span.column)}"

    def _of(self, path: Path) -> list[str]:
        known = self._lines.get(path)
        if known is None:
            known = self._lines[path] = Spans().lines(str(path))
        return known
