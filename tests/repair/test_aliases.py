"""Aliases: who else looks at the memory that a write changes."""

from __future__ import annotations

import pytest

from inplace_fix.repair.aliases import in_loop, others, parameter, procedure, rebindable
from repair.repaired import X, faults

END = "y.sum().backward()\n"


def readers(text: str) -> set[int]:
    """The lines that read the memory of the first fault's writes through another place."""
    return {read.site.line for read in others(faults(text)[0].writes).reads}


def test_nobody_else_looks_at_a_name_of_its_own() -> None:
    around = others(faults(X + "y = x.exp()\ny.add_(1)\n" + END)[0].writes)
    assert around.none


@pytest.mark.parametrize(
    "taken",
    ["z = y", "z = y[0]", "z = y.view(9)", "z = [y][0]", "z = y.detach()", "z = y.T", "(z := y)"],
)
def test_another_name_that_is_read_after_the_write_looks(taken: str) -> None:
    assert readers(X + f"y = x.exp()\n{taken}\ny.add_(1)\nprint(z)\n" + END) == {6}


@pytest.mark.parametrize(
    ("taken", "read"),
    [
        ("z = [y]", "print(z[0])"),
        ("z = [y]", "for t in z: print(t)"),
        ("z = {'a': y}", "print(z['a'])"),
        ("z = [y]", "print(z)"),
        ("z = [y]", "torch.stack(z)"),
        ("z = {'a': y}", "print(z)"),
        ("z = [y]", "print(*z)"),
    ],
)
def test_a_container_that_is_read_after_the_write_looks(taken: str, read: str) -> None:
    assert not others(faults(X + f"y = x.exp()\n{taken}\ny.add_(1)\n{read}\n" + END)[0].writes).none


def test_a_container_that_a_function_returns_looks() -> None:
    text = "def f(x: torch.Tensor):\n    y = x.exp()\n    z = [y]\n    y.add_(1)\n    return z\n"
    assert not others(faults(text)[0].writes).none


@pytest.mark.parametrize("taken", ["z = y.clone()", "z = y + 0", "z = y[[0, 1]]", "z = y.sum()"])
def test_a_copy_does_not_look(taken: str) -> None:
    assert readers(X + f"y = x.exp()\n{taken}\ny.add_(1)\nprint(z)\n" + END) == set()


def test_a_name_that_is_read_before_the_write_only_does_not_look() -> None:
    assert readers(X + "y = x.exp()\nz = y\nprint(z)\ny.add_(1)\n" + END) == set()


def test_a_name_that_is_bound_to_the_memory_after_the_write_gets_the_new_tensor() -> None:
    assert readers(X + "y = x.exp()\ny.add_(1)\nz = y\nprint(z)\n" + END) == set()


def test_a_reader_in_the_other_arm_does_not_look() -> None:
    text = """
    def f(x: torch.Tensor, flag: bool):
        y = x.exp()
        z = y
        if flag:
            y.add_(1)
        else:
            print(z)
        return y
    """
    assert readers(text) == set()


def test_the_caller_of_a_function_may_look_at_its_argument() -> None:
    text = """
    def f(w: torch.Tensor, h: torch.Tensor):
        loss = (w * h).sum()
        h.add_(1)
        return loss
    """
    assert others(faults(text)[0].writes).outside


@pytest.mark.parametrize(
    ("body", "expected"),
    [("y.add_(1)", True), ("x.exp().add_(1)", False), ("d = {'a': y}\n    d['a'].add_(1)", True)],
)
def test_a_name_or_a_slot_can_be_bound_anew_and_a_temporary_cannot(body: str, expected: bool) -> None:
    text = f"def f(x: torch.Tensor):\n    y = x.exp()\n    {body}\n    return y\n"
    (fault,) = faults(text) or faults(text.replace("return y", f"return {body}"))
    assert rebindable(fault.writes[0]) is expected


def test_a_name_of_another_function_cannot_be_bound_anew() -> None:
    text = "y = x.exp()\ndef f():\n    y.add_(1)\nf()\n"
    assert not rebindable(faults(X + text + END)[0].writes[0])


def test_a_function_that_returns_nothing_is_called_for_what_it_writes() -> None:
    text = (
        "def f(a):\n    a.add_(1)\ndef g(a):\n    return a.add_(1)\ny = x.exp()\nf(y)\n"
        "z = x.exp()\ng(z)\n(y + z).sum().backward()\n"
    )
    by_line = {fault.site.line: procedure(fault.writes[0]) for fault in faults(X + text)}
    assert by_line == {4: True, 6: False}


def test_refilling_a_buffer_is_a_procedure_wherever_it_stands() -> None:
    text = "b = torch.ones(3)\nloss = (x * b).sum()\nb.zero_()\nloss.backward()\n"
    assert procedure(faults(X + text)[0].writes[0])


def test_a_write_in_a_loop_to_memory_from_outside_it_is_in_the_loop() -> None:
    text = (
        "h = torch.zeros(3)\nloss = 0\nfor _ in range(3):\n    h[0] = x.sum()\n"
        "    loss = loss + (h * h).sum()\nloss.backward()\n"
    )
    assert in_loop(faults(X + text)[0].writes[0])


def test_a_write_in_a_loop_to_memory_that_the_round_made_is_not() -> None:
    text = "loss = 0\nfor _ in range(3):\n    h = x.exp()\n    h[0] = 0\n    loss = loss + h.sum()\nloss.backward()\n"
    assert not in_loop(faults(X + text)[0].writes[0])


def test_a_registered_parameter_and_its_views_are_known() -> None:
    text = """
    w = torch.nn.Parameter(torch.ones(3))
    w[0].zero_()
    torch.zeros(3, requires_grad=True).zero_()
    """
    assert [parameter(fault.writes[0].tensor) for fault in faults(text, "IPF002")] == [True, False]


def test_another_of_several_views_does_not_look_whatever_its_name_is_bound_to_later() -> None:
    text = "a, b = (x * 1.0).chunk(2)\na.mul_(2)\nb = b.view(-1)\n(a.sum() + b.sum()).backward()\n"
    assert others(faults(X + text, "IPF003")[0].writes).none
