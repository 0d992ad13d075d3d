"""Copies: deepcopy makes memory of its own, and what was shared inside stays shared."""

from __future__ import annotations

import pytest

from analysis.analysed import conflicts

HEAD = "import copy\nx = torch.ones(3, requires_grad=True)\nm = torch.ones(3)\nloss = (x * m).sum()\n"


def test_a_deep_copy_is_written_alone() -> None:
    assert conflicts(HEAD + "n = copy.deepcopy(m)\nn.zero_()\nloss.backward()\n") == set()


@pytest.mark.parametrize("taken", ["copy.copy([m])[0]", "[m].copy()[0]", "[m][:][0]", "list((m,))[0]"])
def test_a_shallow_copy_of_a_container_holds_the_same_tensors(taken: str) -> None:
    assert conflicts(HEAD + f"n = {taken}\nn.zero_()\nloss.backward()\n") == {(5, 7)}


def test_what_two_slots_share_is_shared_in_the_copy() -> None:
    text = "n = copy.deepcopy([m, m])\nloss = (x * n[0]).sum()\nn[1].zero_()\nloss.backward()\n"
    assert conflicts(HEAD + text) == {(7, 8)}


def test_a_copied_module_has_parameters_of_its_own() -> None:
    text = """
    import copy
    model = torch.nn.Linear(2, 2)
    target = copy.deepcopy(model)
    loss = model(torch.ones(1, 2, requires_grad=True)).sum()
    with torch.no_grad():
        for p in target.parameters():
            p.zero_()
    loss.backward()
    """
    assert conflicts(text) == set()
