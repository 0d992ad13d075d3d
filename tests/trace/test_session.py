"""``with inplace_fix.tracing() as run`` in a program or a notebook."""

from __future__ import annotations

import linecache
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import inplace_fix
from inplace_fix.trace.evidence import load


def _overwrite() -> None:
    y = torch.rand(3, requires_grad=True).exp()
    y.add_(1)
    y.sum().backward()


def test_an_exception_passes_through_explained(capsys: pytest.CaptureFixture[str]) -> None:
    run = inplace_fix.tracing()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"), run:
        _overwrite()
    (fault,) = run.faults
    assert not fault.caught
    assert "y.add_(1)" in capsys.readouterr().err
    assert "y.add_(1)" in str(run)


def test_nothing_is_printed_where_nothing_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    with inplace_fix.tracing() as run:
        torch.zeros(2).add_(1)
    assert capsys.readouterr() == ("", "")
    assert str(run) == "no fault was seen\n"
    assert len(run.evidence.facts) == 1


def test_the_output_is_joined_over_runs(tmp_path: Path) -> None:
    output = tmp_path / "e.json"
    for _ in range(2):
        with inplace_fix.tracing("full", output, quiet=True):
            torch.zeros(2).add_(1)
    assert load([output], Path.cwd()).runs == 2


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown level 'all'; choose one of writes, full"), inplace_fix.tracing("all"):
        pass


def test_what_was_written_before_is_not_blamed_on_what_comes_after() -> None:
    y = torch.rand(3, requires_grad=True) * 1
    with inplace_fix.tracing("full", quiet=True):
        y.data.mul_(2)
    z = y.exp()
    with inplace_fix.tracing("full", quiet=True) as run:
        y.data.mul_(1)
        z.sum().backward()
    assert run.faults == ()


def test_a_notebook_cell_is_quoted() -> None:
    name = "<ipython-input-1-abc>"
    source = "y = torch.rand(3, requires_grad=True).exp()\ny.add_(1)\ny.sum().backward()\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    run = inplace_fix.tracing(quiet=True)
    with pytest.raises(RuntimeError), run:
        exec(compile(source, name, "exec"), {"torch": torch})
    (write,) = run.faults[0].writes
    assert (write.place.span.line, write.place.span.end_column) == (2, 9)


def test_importing_the_package_imports_neither_torch_nor_the_tracer() -> None:
    code = "import sys, inplace_fix; sys.exit('torch' in sys.modules or 'inplace_fix.trace' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_other_names_are_refused_as_usual() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tracer'"):
        inplace_fix.tracer  # noqa: B018
