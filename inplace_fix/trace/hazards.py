"""Writes that are wrong by themselves, whatever a backward needs: no version counter is concerned with these.

Each check looks at one write; the costly ones look only at those that are sampled (see ``sampling.Sample.due``).
"""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

import torch
from torch.autograd import forward_ad

from inplace_fix.trace import storages
from inplace_fix.trace.frames import local_variables
from inplace_fix.trace.patches import Patches
from inplace_fix.trace.positions import Site
from inplace_fix.trace.recorder import Observed, Recorder, Started
from inplace_fix.trace.regions import narrowed, overlap, overlaps_itself, region_of
from inplace_fix.trace.statements import Statements
from inplace_fix.trace.storages import Entry

_FILLS = {"fill_", "zero_"}  # every element gets the same value, so it does not matter how often
_ENGINE = ("_engine_run_backward", "graph.py")
_MOST_INDICES = 100_000


class Hazards:
    """The checks; ``install`` hangs them on a recorder."""

    def __init__(self, recorder: Recorder, statements: Statements) -> None:
        self._recorder = recorder
        self._statements = statements

    def install(self, patches: Patches) -> None:
        """Begin to look."""
        self._recorder.checks += [self._stored_view, self._repeated_index, self._gradient, self._dual]
        self._recorder.noted.append(self._overlapping)
        original = forward_ad.make_dual
        recorder = self._recorder

        def make_dual(tensor: torch.Tensor, tangent: torch.Tensor, *, level: int | None = None) -> Any:
            site = recorder.caller_site()
            for one in (tensor, tangent):
                storage = storages.storage_of(one) if isinstance(one, torch.Tensor) else None
                if storage is not None and site is not None:
                    storage._inplace_fix_dual = site
            return original(tensor, tangent, level=level)  # type: ignore[no-untyped-call]

        make_dual.__doc__ = original.__doc__
        patches.set(forward_ad, "make_dual", make_dual)

    def _report(
        self,
        started: Started,
        kind: str,
        severity: str,
        why: str,
        remedy: str,
        related: tuple[tuple[str, Site], ...] = (),
    ) -> None:
        write = (started.site, started.op, started.made_at)
        self._recorder.report([Observed(kind, severity, "", why, remedy, (write,), related=related)])

    def _overlapping(self, entry: Entry, receiver: torch.Tensor, storage: Any, started: Started) -> None:
        """A write to a tensor in which several elements are one memory cell; PyTorch only refuses stride 0."""
        if not started.sampled or started.op in _FILLS or started.region is None:
            return
        if overlaps_itself(narrowed(started.region)):
            self._report(
                started,
                "overlap",
                "silent",
                "elements of the written tensor share memory (unfold with a step below its size, as_strided, expand), "
                "so some cells are written several times; PyTorch's own check only knows expanded dimensions",
                "write to a clone, or compute out of place",
            )

    def _repeated_index(
        self, started: Started, receiver: torch.Tensor, args: tuple[Any, ...], frame: FrameType
    ) -> None:
        """``x[index] += v`` with an index that occurs twice: it reads, adds and stores, so one addition is lost."""
        if started.op != "__setitem__" or not started.sampled or len(args) < 3:
            return
        indices = [one for one in _listed(args[1]) if isinstance(one, torch.Tensor) and _is_integer(one)]
        statement = self._statements.of(started.site) if indices else None
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, (ast.Add, ast.Sub)):
            return
        if _repeats(indices):
            self._report(
                started,
                "repeated-index",
                "silent",
                "an index occurs more than once, and `x[index] += v` reads, adds and stores: of "
                "several additions to one "
                "element only the last is kept",
                "x.index_add_(0, index, v), or index_put_((index,), v, accumulate=True)",
            )

    def _stored_view(self, started: Started, receiver: torch.Tensor, args: tuple[Any, ...], frame: FrameType) -> None:
        """``x[i], x[j] = x[j], x[i]``: the second value is a view of what the first store has overwritten."""
        if started.op != "__setitem__" or len(args) < 3 or not isinstance(args[2], torch.Tensor):
            return
        storage, value = storages.storage_of(receiver), args[2]
        source = storages.storage_of(value)
        if storage is None or source is None or storage._cdata != source._cdata:
            return
        target = narrowed(started.region) if started.region is not None else None
        statement = self._statements.of(started.site)
        before = getattr(storage, "_inplace_fix_stored", None)
        storage._inplace_fix_stored = (statement, started.site, id(frame), target)
        if before is None or statement is None or before[0] is not statement or before[2] != id(frame):
            return
        region = region_of(value)
        if before[1] is started.site or before[3] is None or region is None or region == target:
            return
        if overlap(before[3], region):
            self._report(
                started,
                "row-swap",
                "silent",
                "the value is a view of memory that the same statement has just overwritten, so the old value is lost",
                "gather first: x[[i, j]] = x[[j, i]], or clone one side",
                (("overwritten", before[1]),),
            )

    def _gradient(self, started: Started, receiver: torch.Tensor, args: tuple[Any, ...], frame: FrameType) -> None:
        """A hook or a custom backward that writes to the gradient it was handed."""
        if not self._recorder.backwards:
            return
        outermost, custom = _called_by_engine(frame)
        if outermost is None:
            return
        storage = storages.storage_of(receiver)
        # A hook after accumulation is handed the parameter itself, and may update it.
        handed = [one for one in _arguments(outermost) if not (one.is_leaf and one.requires_grad)]
        if storage is None or not any(_same_storage(storage, one) for one in handed):
            return
        count = getattr(receiver, "_use_count", None)
        # The engine itself holds the gradient of a tensor hook once more; any further holder is another branch.
        shared = count is not None and count() > (1 if custom else 2)
        self._report(
            started,
            "gradient-written",
            "silent" if shared else "hazard",
            "the gradient handed to a hook or a backward is not its own: autograd may hand the same tensor to another "
            "branch (`+` does), and gradients have no version check",
            "return a new tensor: grad.clamp(...) in place of grad.clamp_(...)",
        )

    def _dual(self, started: Started, receiver: torch.Tensor, args: tuple[Any, ...], frame: FrameType) -> None:
        """A write to a dual tensor, which shares memory with the primal and the tangent it was made of."""
        if getattr(forward_ad, "_current_level", -1) < 0:
            return
        storage = storages.storage_of(receiver)
        made = getattr(storage, "_inplace_fix_dual", None)
        if made is not None:
            self._report(
                started,
                "forward-mode",
                "silent",
                "make_dual copies neither the primal nor the tangent, so a write to the dual "
                "changes the caller's tensors",
                "compute out of place, or make the dual from clones",
                (("the dual was made", made),),
            )


def _called_by_engine(frame: FrameType | None) -> tuple[FrameType | None, bool]:
    """The outermost frame that the engine called, and whether it is a custom Function's backward."""
    custom = False
    while frame is not None:
        caller = frame.f_back
        passed = caller
        while passed is not None and passed.f_code.co_filename.endswith(("autograd/function.py", "utils/hooks.py")):
            passed = passed.f_back
        if passed is not None and passed.f_code.co_name == _ENGINE[0]:
            custom = passed is not caller
            return frame, custom
        frame = caller
    return None, False


def _arguments(frame: FrameType) -> list[torch.Tensor]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)]
    values = local_variables(frame, names)
    return [one for value in values for one in _listed(value) if isinstance(one, torch.Tensor)]


def _same_storage(storage: Any, tensor: torch.Tensor) -> bool:
    other = storages.storage_of(tensor)
    return other is not None and bool(other._cdata == storage._cdata)


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _is_integer(tensor: torch.Tensor) -> bool:
    return not tensor.dtype.is_floating_point and tensor.dtype is not torch.bool and tensor.dim() > 0


def _repeats(indices: list[torch.Tensor]) -> bool:
    try:
        joined = torch.stack(torch.broadcast_tensors(*indices)).flatten(1)
        if joined.shape[1] > _MOST_INDICES:
            return False
        return bool(torch.unique(joined, dim=1).shape[1] < joined.shape[1])
    except RuntimeError:
        return False
