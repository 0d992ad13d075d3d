"""Processes that a traced program starts are traced as well, and their parts are joined."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fix.trace.evidence import load
from inplace_fix.trace.observations import Evidence

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]


def _traced(folder: Path, source: str, *arguments: str, before: tuple[str, ...] = ()) -> tuple[str, Evidence]:
    (folder / "train.py").write_text(source)
    command = [
        sys.executable,
        "-m",
        "inplace_fix.trace",
        "--level",
        "full",
        "-o",
        "e.json",
        *before,
        "train.py",
        *arguments,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, timeout=240, check=False
    )
    assert sorted(path.name for path in folder.iterdir() if path.suffix in (".part", ".lock", ".tmp")) == []
    return ended.stdout + ended.stderr, load([folder / "e.json"], folder)


def test_forks_spawned_workers_and_subprocesses_are_seen(tmp_path: Path) -> None:
    output, evidence = _traced(
        tmp_path,
        """
import multiprocessing, os, subprocess, sys
import torch

def fork(_):
    x = torch.ones(2)
    x.add_(1)
    return os.getpid()

def spawn(_):
    x = torch.ones(2)
    x.sub_(1)
    return "INPLACE_FIX_TRACE" in os.environ

if __name__ == "__main__":
    if len(sys.argv) > 1:
        torch.ones(2).mul_(3)
        sys.exit()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(fork, [1, 2])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.map(spawn, [1])
    subprocess.run([sys.executable, "train.py", "again"], check=True)
    child = os.fork()
    if child == 0:
        torch.ones(2).div_(3)
        sys.exit(0)
    os.waitpid(child, 0)
    print("done")
""",
    )
    assert output.count("done") == 1, output
    seen = {op: fact.count for fact in evidence.facts if fact.role == "write" for op in fact.ops}
    assert seen == {"add_": 2, "sub_": 1, "mul_": 1, "div_": 1}, output


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without torch.distributed")
def test_both_ranks_of_a_distributed_run_name_the_line(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    output, evidence = _traced(
        tmp_path,
        """
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
torch.set_num_threads(1)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 1)))
gates = model(torch.ones(5, 4)).sigmoid()
gates.add_(1)
try:
    gates.pow(2).mean().backward()
except RuntimeError:
    print("rank", dist.get_rank(), "failed")
shared = torch.ones(3)
product = torch.rand(3, requires_grad=True) * shared
dist.all_reduce(shared)
product.sum().backward()
dist.destroy_process_group()
""",
        before=("-m", "torch.distributed.run", "--nproc_per_node", "2", f"--master_port={port}"),
    )
    assert output.count("failed") == 2, output
    faults = {fault.kind: fault for fault in evidence.faults}
    assert sorted(faults) == ["collective", "saved-tensor"]
    stale, collective = faults["saved-tensor"], faults["collective"]
    assert stale.count == collective.count == 2
    assert [one.place.span.line for one in stale.writes] == [10]
    assert stale.saved is not None
    assert stale.saved.span.line == 9
    assert [one.place.span.line for one in collective.writes] == [17]


def test_workers_of_a_data_loader_are_seen(tmp_path: Path) -> None:
    output, evidence = _traced(
        tmp_path,
        """
import torch

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.zeros(2).add_(index)

print(len(list(torch.utils.data.DataLoader(Numbers(), num_workers=2))))
""",
    )
    assert output.startswith("4\n"), output
    assert [fact.count for fact in evidence.facts if fact.ops == ("add_",)] == [4]
