"""The proof of a rewrite: run a command before and after in scratch copies of the tree and compare what it computes.

The reference is the program itself where it computes what it says, and the program with every saved tensor kept at its
save-time value where it fails or is silently wrong. This module needs no torch; the interpreter of the command does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inplace_fix.scratch import Bench, Run, TreeTooLargeError, parse_command, with_torch

# Relative differences, against the largest value of a tensor, that another order of the same roundings can make.
CLOSE = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2, "complex64": 1e-5, "complex128": 1e-9}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison says.

    ``status`` is ``same`` (bit for bit), ``close`` (differs by roundings only), ``different``, ``still fails`` (the
    program failed before and fails after) or ``cannot run`` (nothing could be compared). ``reason`` is one sentence;
    ``details`` are further sentences: what was compared, what it proves nothing about, the end of a failed run.
    """

    status: str
    reason: str
    details: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the rewrite may be written."""
        return self.status in ("same", "close")


def verify(command: str, changed: Mapping[Path, str], root: Path, *, timeout: float = 900.0) -> Verdict:
    """Run ``command`` on the tree below ``root`` as it is and with the ``changed`` texts, and compare the results.

    The command is started from the current directory where that lies below ``root``, else from ``root``, in fresh
    copies of the tree that are removed afterwards, also on Ctrl-C. ``timeout`` holds for each run, in seconds.
    Relative paths in ``changed`` are relative to ``root``. The tree itself is only read.
    """
    launch = parse_command(command)
    if isinstance(launch, str):
        return Verdict("cannot run", launch)
    root = root.resolve()
    texts = {(root / path).resolve(): text for path, text in changed.items()}
    outside = [str(path) for path in texts if not path.is_relative_to(root)]
    if outside:
        return Verdict("cannot run", f"{outside[0]} does not lie below {root}, so no copy of it can be run.")
    with tempfile.TemporaryDirectory(prefix="inplace-fix-verify-") as scratch:
        bench = Bench(root, Path(scratch).resolve(), with_torch(launch), timeout)
        try:
            return _Proof(bench, texts).verdict()
        except TreeTooLargeError as error:
            return Verdict("cannot run", str(error))


KEPT = "what the program computes when each backward sees the values of its forward"


@dataclass(frozen=True, slots=True)
class _Reference:
    """The run to compare with, what its meaning is in words, and whether the program failed as it was."""

    run: Run
    words: str
    failed: bool
    notes: tuple[str, ...] = ()


class _Proof:
    """One verification: each method is a step of it, and the answer of a step may end it."""

    def __init__(self, bench: Bench, texts: Mapping[Path, str]) -> None:
        self._bench = bench
        self._texts = texts

    def verdict(self) -> Verdict:
        plain = self._bench.run("before")
        if plain.record is None:
            return Verdict("cannot run", f"The program as it is {plain.trouble}.", plain.tail)
        reference = self._reference(plain)
        after = self._bench.run("after", texts=self._texts)
        if after.record is None:
            status = "different" if after.ended else "cannot run"
            return Verdict(status, f"The rewritten program {after.trouble}.", after.tail)
        coverage = self._coverage(after)
        if isinstance(coverage, Verdict):
            return coverage
        if after.failure != reference.run.failure or reference.run.record is None:
            return self._other_end(plain, reference, after)
        if not reference.run.calls:
            return Verdict(
                "cannot run",
                "The command runs no backward() and no autograd.grad in its own process: there is nothing to compare.",
                reference.run.tail,
            )
        return self._judged(reference, after, coverage)

    def _reference(self, plain: Run) -> _Reference:
        failed = bool(plain.failure)
        # Views are lifted only where the program needs it: on a program that runs, nothing should be touched.
        oracle = self._bench.run("reference", "--oracle", *(["--lift"] if failed else []))
        helped = bool(oracle.rescued or oracle.lifted)
        if failed:
            if oracle.failure == plain.failure and not helped:
                return _Reference(plain, "up to where the program failed and fails", True)
            return _Reference(oracle, KEPT, True, (f"Before, the program failed: {_short(plain)}.",))
        if oracle.record is None or oracle.failure:
            note = f"Silent faults could not be looked for: with kept values the program {_end(oracle)}."
            return _Reference(plain, "as before", False, (note,))
        if helped:
            silent = self._bench.compare(plain, oracle)
            if silent["differing"] and not _is_close(silent["worst"]):
                note = "Before, the program ran with wrong gradients: values that backward needed were overwritten."
                return _Reference(oracle, KEPT, False, (note,))
        return _Reference(plain, "as before", False)

    def _other_end(self, plain: Run, reference: _Reference, after: Run) -> Verdict:
        if reference.failed and after.failure:
            return Verdict("still fails", f"After the rewrite the program still fails: {_short(after)}.", after.tail)
        if reference.failed:
            return Verdict(
                "cannot run",
                f"The program fails as it is ({_short(plain)}), and with kept values it {_end(reference.run)}: "
                f"there is no reference. The rewritten program {_end(after)}.",
                reference.run.tail,
            )
        return Verdict(
            "different", f"Before, the program ran to its end; after the rewrite it {_end(after)}.", after.tail
        )

    def _coverage(self, after: Run) -> tuple[str, ...] | Verdict:
        """Whether the run saw the rewritten text: a file never loaded, or loaded from elsewhere, proves nothing."""
        names = {path: str(path.relative_to(self._bench.root)) for path in self._texts}
        elsewhere = [name for path, name in names.items() if str(path) in after.files]
        if elsewhere:
            return Verdict(
                "cannot run",
                f"The command loads {elsewhere[0]} from the tree itself and not from the copy that holds the rewrite; "
                "install the project in editable mode, or name the script by a relative path.",
            )
        missed = sorted(name for name in names.values() if not after.loaded(name))
        if len(missed) == len(names):
            return Verdict("cannot run", f"The command loads no changed file ({_some(missed)}), so it proves nothing.")
        return (f"Not loaded by the command, hence not proved: {_some(missed)}.",) if missed else ()

    def _judged(self, reference: _Reference, after: Run, coverage: tuple[str, ...]) -> Verdict:
        notes = (*reference.notes, *coverage)
        result = self._bench.compare(reference.run, after)
        if result["differing"] and reference.failed and reference.run.lifted:
            # A write to a leaf can be an update or a step of the computation; a repair may mean either.
            other = self._bench.run("copied leaves", "--oracle", "--lift", "--leaf", "clone")
            if other.record is not None and not other.failure:
                second = self._bench.compare(other, after)
                if second["differing"] < result["differing"] or not second["differing"]:
                    result, reference = second, _Reference(other, reference.words, True)
                    notes = (*notes, "A leaf that is written in place counts as copied first.")
        counted = f"{result['tensors']} values of {result['calls']} backward calls"
        if not result["differing"]:
            return Verdict("same", f"{counted} are the same bit for bit, {reference.words}.", notes)
        first, worst = result["first"], result["worst"]
        told = f"first, {first['where']} {first['what']}"
        if worst["where"] != first["where"]:
            notes = (*notes, f"Worst: {worst['where']} {worst['what']}.")
        if _is_close(worst):
            return Verdict("close", f"{result['differing']} of {counted} differ by roundings: {told}.", notes)
        if not reference.failed and self._unsteady(reference.run):
            return Verdict("cannot run", "Two runs of the unchanged program differ, so nothing can be compared.", notes)
        return Verdict("different", f"{result['differing']} of {counted} differ: {told}.", notes)

    def _unsteady(self, run: Run) -> bool:
        again = self._bench.run("before, again", *run.options)
        return again.record is None or bool(self._bench.compare(run, again)["differing"])


def _is_close(difference: Mapping[str, Any]) -> bool:
    relative, bound = difference["relative"], CLOSE.get(difference["dtype"])
    return relative is not None and bound is not None and relative <= bound


def _end(run: Run) -> str:
    if run.record is None:
        return run.trouble
    return f"fails: {_short(run)}" if run.failure else "runs to its end"


def _short(run: Run) -> str:
    """The first sentence of how a run failed, which is where PyTorch's messages say what happened."""
    sentence = run.failure.splitlines()[0].partition(". ")[0].rstrip(".")
    return sentence if len(sentence) <= 240 else f"{sentence[:237]}..."


def _some(names: Sequence[str], limit: int = 3) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(name.replace(os.sep, "/") for name in names[:limit]) + more
