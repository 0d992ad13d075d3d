"""Keeps a run's evidence on disk while it goes on, so that nothing is lost however the process ends.

Every process of a run writes its own part beside the output: ``OUTPUT.<root>-<pid>.part``. The process that began the
run joins the parts and what an earlier run left into the output at its end.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from inplace_fix.trace import evidence as files
from inplace_fix.trace.observations import Evidence, merge

_LOCK_SECONDS = 10.0
_FIRST_SAVE = 5.0


class Keeper:
    """Writes the evidence of one process; ``root_pid`` names the run and ``collect`` says what was seen so far."""

    def __init__(self, output: Path, root: Path, root_pid: int) -> None:
        self.output = Path(os.path.abspath(output))
        self.root = root
        self.root_pid = root_pid
        self.collect: Callable[[], Evidence] | None = None
        self._next = time.monotonic() + _FIRST_SAVE
        self._wait = _FIRST_SAVE

    @property
    def part(self) -> Path:
        """This process's own file; a fork has another than its parent."""
        return self.output.with_name(f"{self.output.name}.{self.root_pid}-{os.getpid()}.part")

    def save(self) -> None:
        """Write this process's part. A disk that refuses must not end the program: then there is no part."""
        if self.collect is None:
            return
        seen = self.collect()
        if not seen.facts and not seen.faults:
            return
        with contextlib.suppress(OSError):
            files.write(self.part, seen, self.root)

    def save_in_time(self) -> None:
        """Save now and then, ever more seldom."""
        if time.monotonic() >= self._next:
            self.save()
            self._wait *= 2
            self._next = time.monotonic() + self._wait

    def finish(self) -> Evidence:
        """Join the parts of this run and earlier evidence into the output; gives what this run alone saw.

        Raises ``OSError`` where the output cannot be written.
        """
        own = self.collect() if self.collect is not None else Evidence(runs=0)
        mine = self.part
        parts = [path for path in self.output.parent.glob(f"{self.output.name}.{self.root_pid}-*.part") if path != mine]
        run = merge([own, *(_readable(parts, self.root))])
        run = Evidence(run.faults, run.facts, run.notes, run.digests, run.torch_version, 1)
        with _locked(self.output):
            earlier = _readable([self.output, *_left_behind(self.output)], self.root)
            joined = merge([*(files.current(one) for one in earlier), run])
            files.write(self.output, joined, self.root)
            for path in (*parts, mine, *_left_behind(self.output)):
                path.unlink(missing_ok=True)
        return run


def _readable(paths: list[Path], root: Path) -> list[Evidence]:
    found = []
    for path in paths:
        with contextlib.suppress(files.EvidenceError):
            found.append(files.read(path, root))
    return found


def _left_behind(output: Path) -> list[Path]:
    """Parts of runs that are over without having joined them (killed outright)."""
    found = []
    for path in output.parent.glob(f"{output.name}.*.part"):
        root_pid = path.name[len(output.name) + 1 :].partition("-")[0]
        if root_pid.isdigit() and int(root_pid) != os.getpid() and not _alive(int(root_pid)):
            found.append(path)
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold ``PATH.lock``; a lock that nobody gives back within ten seconds is taken over."""
    lock = path.with_name(path.name + ".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() >= until:
                break
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
