"""A write by a module's flag leads to the line where the module was made."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced_programs import Seen, trace


def _overwriting(build: str, folder: Path, level: str = "writes") -> Seen:
    return trace(folder, f"{build}\nnet(torch.rand(2, 3, requires_grad=True)).sum().backward()", level)


@pytest.mark.parametrize("level", ["writes", "full"])
def test_a_layer_in_a_sequence_leads_to_its_constructor(level: str, tmp_path: Path) -> None:
    seen = _overwriting("net = nn.Sequential(nn.Sigmoid(),\n    nn.ReLU(inplace=True))", tmp_path, level)
    write = seen.write()
    assert seen.text(write.made_at) == "nn.ReLU(inplace=True)"
    assert seen.text(write.place) == "net(torch.rand(2, 3, requires_grad=True))"


def test_two_layers_of_one_sequence_are_told_apart(tmp_path: Path) -> None:
    seen = _overwriting(
        "net = nn.Sequential(nn.Tanh(),\n    nn.Hardtanh(inplace=True),\n    nn.LeakyReLU(inplace=True))", tmp_path
    )
    fault = next(fault for fault in seen.faults if fault.node == "TanhBackward0")
    assert [seen.text(write.made_at) for write in fault.writes] == [
        "nn.Hardtanh(inplace=True)",
        "nn.LeakyReLU(inplace=True)",
    ]


def test_a_deep_copy_leads_to_the_original(tmp_path: Path) -> None:
    seen = _overwriting(
        "import copy\nact = nn.ReLU(inplace=True)\nnet = nn.Sequential(nn.Sigmoid(), copy.deepcopy(act))", tmp_path
    )
    assert seen.text(seen.write().made_at) == "nn.ReLU(inplace=True)"


def test_a_subclass_made_by_the_program_leads_to_its_own_constructor_call(tmp_path: Path) -> None:
    seen = _overwriting(
        """
class Act(nn.ReLU):
    pass

net = nn.Sequential(nn.Sigmoid(), Act(inplace=True))
""",
        tmp_path,
    )
    assert seen.text(seen.write().made_at) == "Act(inplace=True)"


def test_a_functional_flag_has_its_place_in_the_program(tmp_path: Path) -> None:
    seen = trace(
        tmp_path,
        """
        y = torch.rand(3, requires_grad=True).sigmoid()
        F.relu(y, inplace=True)
        y.sum().backward()
        """,
    )
    assert seen.text(seen.write().place) == "F.relu(y, inplace=True)"
    assert seen.write().made_at is None
