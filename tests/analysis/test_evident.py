"""What runs showed as types: unknown values become the tensors that were seen, and what the source says stays."""

from __future__ import annotations

import ast
from pathlib import Path

from analysis.analysed import PATH, program
from inplace_fix.analysis.entries import analyse
from inplace_fix.analysis.facts import Facts, Write
from inplace_fix.analysis.project import Project
from inplace_fix.analysis.seen import Glimpse, Seen
from inplace_fix.analysis.values import Tri
from inplace_fix.catalog.reader import load
from inplace_fix.nouns import Place

GRAD = Glimpse((), "float32", scalar=False, requires=True, leaf=False, view=False, grad=True)


def seen(*ops: str, like: Glimpse = GRAD, requires: bool | None = True, view: bool | None = False) -> Glimpse:
    """A float tensor that some operations gave."""
    return Glimpse(ops, like.dtype, like.scalar, requires, like.leaf, view, like.grad)


def facts(text: str, results: dict[str, Glimpse], receivers: dict[str, Glimpse] | None = None) -> Facts:
    """The facts of a text in the light of glimpses, each given under the text of its expression."""
    project = Project({PATH: program(text)}.__getitem__)
    project.know([PATH])
    unit = project.add(PATH)

    def placed(glimpses: dict[str, Glimpse]) -> dict[Place, Glimpse]:
        nodes = [node for node in ast.walk(unit.tree) if isinstance(node, (ast.expr, ast.stmt))]
        found = {unit.place(n): glimpses[unit.segment(n)] for n in nodes if unit.segment(n) in glimpses}
        assert {unit.segment(n) for n in nodes} >= set(glimpses)
        return found

    return analyse(project.as_seen(Seen(placed(results), placed(receivers or {}))), unit, load())


def conflicts(found: Facts) -> set[tuple[int, int, bool]]:
    """The lines that saved and overwrote a value, and whether that is certain."""
    return {(c.save.site.line, c.write.site.line, c.certain) for c in found.conflicts}


def the_write(found: Facts) -> Write:
    """The only write."""
    (write,) = found.writes
    return write


def test_a_method_that_gave_a_tensor_has_a_tensor_for_a_receiver() -> None:
    text = "def f(box):\n    y = box.item.exp()\n    y += 1\n    return y\n"
    assert conflicts(facts(text, {})) == set()
    assert conflicts(facts(text, {"box.item.exp()": seen("exp")})) == {(3, 4, True)}


def test_an_operator_that_gave_a_tensor_has_a_tensor_among_its_operands() -> None:
    text = "def f(box, k):\n    y = (box.a * k.b).exp()\n    y += 1\n    return y\n"
    assert conflicts(facts(text, {"box.a * k.b": seen("mul")})) == {(3, 4, True)}


def test_an_item_and_an_attribute_of_a_tensor_are_views_of_it() -> None:
    text = "def f(box):\n    h = box.a\n    h.data += 1\n    return h\n"
    assert facts(text, {}).writes == []
    assert the_write(facts(text, {"h.data": seen("__get__")})).silent
    text = "def f(box):\n    h = box.a\n    row = h[0]\n    y = torch.sin(h)\n    row += 1\n    return y\n"
    assert conflicts(facts(text, {"h[0]": seen("__getitem__"), "torch.sin(h)": seen("sin")})) == {(5, 6, True)}


def test_an_augmented_assignment_that_was_seen_to_write_writes_to_a_tensor() -> None:
    text = "def f(box):\n    h = box.a\n    h += 1\n    return h\n"
    assert facts(text, {}).writes == []
    write = the_write(facts(text, {}, {"h += 1": seen("add_")}))
    assert (write.tensor.sure, write.tensor.dtype, write.requires) == (True, "float32", Tri.YES)


def test_an_item_assignment_that_was_seen_to_write_writes_to_a_tensor() -> None:
    text = "def f(box):\n    h = box.a\n    h[0] = 1\n    return h\n"
    assert facts(text, {}).writes == []
    assert the_write(facts(text, {}, {"h[0]": seen("__setitem__")})).tensor.sure


def test_an_augmented_item_assignment_that_was_seen_to_write_writes_to_a_tensor() -> None:
    text = "def f(box):\n    h = box.a\n    h[0] += 1\n    return h\n"
    assert facts(text, {}).writes == []
    assert the_write(facts(text, {}, {"h[0]": seen("__setitem__")})).tensor.sure


def test_an_object_whose_method_writes_to_tensors_is_none_itself() -> None:
    text = "def f(box):\n    box.optimizer.step()\n    box.optimizer += 1\n    return box\n"
    assert facts(text, {}, {"box.optimizer.step()": seen("_foreach_add_")}).writes == []


def test_a_call_of_something_unknown_is_the_torch_function_that_was_seen() -> None:
    text = "def f(table, x: torch.Tensor):\n    y = table['act'](x)\n    y += 1\n    return y\n"
    assert conflicts(facts(text, {})) == set()
    assert conflicts(facts(text, {"table['act'](x)": seen("relu")})) == {(3, 4, True)}
    assert conflicts(facts(text, {"table['act'](x)": seen("relu", "gelu")})) == set()


def test_a_possible_gradient_is_decided() -> None:
    text = "def f(x):\n    y = torch.exp(x)\n    y.add_(1)\n    return y\n"
    assert conflicts(facts(text, {})) == {(3, 4, False)}
    assert conflicts(facts(text, {"torch.exp(x)": seen("exp")})) == {(3, 4, True)}


def test_a_gradient_seen_in_some_runs_only_stays_possible() -> None:
    text = "def f(x):\n    y = torch.exp(x)\n    y.add_(1)\n    return y\n"
    assert conflicts(facts(text, {"torch.exp(x)": seen("exp", requires=None)})) == {(3, 4, False)}


def test_the_one_operand_that_may_require_grad_is_the_one_that_does() -> None:
    text = "def f(x):\n    m = torch.ones(3)\n    y = x * m\n    m.zero_()\n    return y\n"
    assert conflicts(facts(text, {})) == {(4, 5, False)}
    assert conflicts(facts(text, {"x * m": seen("mul")})) == {(4, 5, True)}


def test_of_two_operands_that_may_require_grad_neither_is_taken_for_the_one() -> None:
    text = "def f(x, m):\n    torch.relu(x), torch.relu(m)\n    y = x * m\n    m.zero_()\n    return y\n"
    assert conflicts(facts(text, {"x * m": seen("mul")})) == {(4, 5, False)}


def test_a_layout_that_was_seen_decides_between_a_view_and_a_copy() -> None:
    text = (
        "def f(x: torch.Tensor):\n    y = torch.sin(x)\n    z = y.reshape(3)\n    z.add_(1)\n    return torch.cos(y)\n"
    )

    def maybe(view: bool | None) -> tuple[bool, bool]:
        tensor = the_write(facts(text, {"y.reshape(3)": seen("reshape", view=view)})).tensor
        return bool(tensor.maybe), tensor.view != ""

    assert maybe(None) == (True, True)
    assert maybe(True) == (False, True)
    assert maybe(False) == (False, False)


def test_a_grad_mode_that_is_not_known_is_the_one_that_was_seen() -> None:
    text = "def f(x: torch.Tensor, on):\n    with torch.set_grad_enabled(on):\n        x.add_(1)\n    return x\n"
    assert the_write(facts(text, {}, {"x.add_(1)": seen("add_")})).grad is True


def test_what_the_source_says_is_not_overridden() -> None:
    text = "x = torch.ones(3, dtype=torch.float64)\nx.add_(1)\n"
    write = the_write(facts(text, {}, {"x.add_(1)": seen("add_")}))
    assert (write.tensor.dtype, write.requires) == ("float64", Tri.NO)


def test_without_a_run_the_analysis_is_what_it_was() -> None:
    text = program("def f(x):\n    y = torch.exp(x)\n    y.add_(1)\n    return y\n")
    project = Project({PATH: text}.__getitem__)
    unit = project.add(PATH)
    plain = analyse(project, unit, load())
    assert conflicts(plain) == {(3, 4, False)}
    assert conflicts(analyse(project.as_seen(Seen({}, {})), unit, load())) == conflicts(plain)


def test_values_worked_out_with_types_of_a_run_stay_apart_from_those_of_the_source() -> None:
    other = Path("helper.py")
    texts = {PATH: program("from helper import h\nh.add_(1)\n"), other: "import torch\nh = torch.load('h')\n"}
    project = Project(texts.__getitem__)
    project.know(texts)
    unit = project.add(PATH)
    analyse(project.as_seen(Seen({}, {unit.place(unit.tree.body[2].value): seen("add_")})), unit, load())  # type: ignore[attr-defined]
    (write,) = analyse(project, unit, load()).writes
    assert write.requires is not Tri.YES
