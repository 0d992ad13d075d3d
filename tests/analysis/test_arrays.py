"""Arrays: memory that NumPy and tensors share, written without a version."""

from __future__ import annotations

import pytest

from analysis.analysed import conflicts, facts

W = "import numpy as np\nw = torch.ones(3, requires_grad=True)\n"


OWN = pytest.mark.xfail(reason="in-place methods of arrays and NumPy's out= are not known", strict=True)


@pytest.mark.parametrize(
    "write",
    [
        "a += 1",
        "a[0] = 1",
        "a[:] = 0",
        "a[0] *= 2",
        pytest.param("np.add(a, 1, out=a)", marks=OWN),
        pytest.param("a.fill(0)", marks=OWN),
        pytest.param("a.sort()", marks=OWN),
    ],
)
def test_a_write_to_the_array_behind_a_tensor_is_a_silent_write_to_it(write: str) -> None:
    text = W + f"a = np.ones(3)\nt = torch.from_numpy(a)\nloss = (w * t).sum()\n{write}\nloss.backward()\n"
    assert conflicts(text) == {(6, 7)}


def test_a_tensor_made_of_a_copy_shares_nothing() -> None:
    text = "a = np.ones(3)\nt = torch.tensor(a)\nloss = (w * t).sum()\na += 1\nloss.backward()\n"
    assert conflicts(W + text) == set()


@pytest.mark.parametrize(
    "taken",
    [
        "torch.from_numpy(a)",
        pytest.param("torch.as_tensor(a)", marks=pytest.mark.xfail(reason="taken for a copy", strict=True)),
    ],
)
def test_what_shares_memory_with_an_array_sees_its_writes(taken: str) -> None:
    text = f"a = np.ones(3)\nt = {taken}\nloss = (w * t).sum()\na += 1\nloss.backward()\n"
    assert conflicts(W + text) == {(6, 7)}


def test_an_array_taken_from_a_tensor_is_its_memory() -> None:
    text = "t = torch.ones(3)\nloss = (w * t).sum()\nt.numpy()[0] = 5\nloss.backward()\n"
    assert conflicts(W + text) == {(5, 6)}


def test_writes_to_arrays_that_no_tensor_shares_are_no_writes_to_tensors() -> None:
    found = facts(W + "a = np.zeros(3)\na += 1\na[0] = 2\nb = a.reshape(3, 1)\nb *= 2\n")
    assert found.conflicts == []
