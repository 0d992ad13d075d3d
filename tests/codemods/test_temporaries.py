"""Names for what must not be evaluated twice."""

from __future__ import annotations

import libcst as cst
import pytest

from codemods.places import Tree
from codemods.plan import Plan
from codemods.syntax import parse
from codemods.temporaries import settled


@pytest.mark.parametrize(
    ("target", "statements", "left"),
    [
        ("x", [], "x"),
        ("self.h[i + 1]", [], "self.h[i + 1]"),
        ("f().h", ["owner = f()"], "owner.h"),
        ("x[f()]", ["index = f()"], "x[index]"),
        ("x[f(), :g()]", ["index = f()", "upper = g()"], "x[index, :upper]"),
        ("self.x[f()]", ["owner = self.x", "index = f()"], "owner[index]"),
        ("f()[0].h", ["owner = f()[0]"], "owner.h"),
        ("f()", ["value = f()"], "value"),
    ],
)
def test_parts_with_effects_get_names_in_order(target: str, statements: list[str], left: str) -> None:
    plan = Plan(Tree(cst.parse_module("")))
    made, rest = settled(plan, parse(target))
    assert [plan.tree.code(statement) for statement in made] == statements
    assert plan.tree.code(rest) == left


def test_a_name_that_the_file_uses_is_not_taken() -> None:
    plan = Plan(Tree(cst.parse_module("index = 1  # index_2\n")))
    assert plan.tree.code(settled(plan, parse("x[f()]"))[1]) == "x[index_3]"
    assert plan.tree.code(settled(plan, parse("x[f()]"))[1]) == "x[index_4]"
