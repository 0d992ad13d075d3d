"""Templates filled with nodes."""

from __future__ import annotations

import libcst as cst
import pytest

from codemods.syntax import parse
from codemods.templates import fill, placeholders, renamed_function, renamed_method

code = cst.Module([]).code_for_node


def args(text: str) -> list[cst.Arg]:
    call = parse(f"f({text})")
    assert isinstance(call, cst.Call)
    return list(call.args)


@pytest.mark.parametrize(
    ("template", "x", "arguments", "expected"),
    [
        ("{x}.add({args})", "x", "y, alpha=2", "x.add(y, alpha=2)"),
        ("{x}.add({args})", "a + b", "y", "(a + b).add(y)"),
        ("torch.zeros_like({x})", "x", "", "torch.zeros_like(x)"),
        ("torch.f({x}, {args})", "x", "", "torch.f(x)"),
        ("torch.f({x}, {args})", "x", "a, *b, c=1", "torch.f(x, a, *b, c=1)"),
        ("torch.f({args}, {x})", "x", "a", "torch.f(a, x)"),
        ("{x} + {args}", "x", "a if b else c", "x + (a if b else c)"),
        ("{x} * {args}", "a + b", "c", "(a + b) * c"),
        ("-{x}", "a + b", "", "-(a + b)"),
        ("{x}.f({args}).g({x})", "x", "y", "x.f(y).g(x)"),
        ("{args}", "x", "y", "y"),
        ("{x}.f({args})", "x", "a,  # c\n b", "x.f(a,  # c\n b)"),
    ],
)
def test_a_template_is_filled(template: str, x: str, arguments: str, expected: str) -> None:
    assert code(fill(template, {"x": parse(x)}, args(arguments))) == expected


@pytest.mark.parametrize("arguments", ["", "a, b", "a=1", "*a"])
def test_an_operator_takes_exactly_one_argument(arguments: str) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        fill("{x} + {args}", {"x": parse("x")}, args(arguments))


@pytest.mark.parametrize("template", ["{x", "{y}", "{}", "{x} +", "{x}.{args}"])
def test_a_malformed_template_is_an_error(template: str) -> None:
    with pytest.raises(ValueError, match=r"template|one positional"):
        fill(template, {"x": parse("x")}, args(""))


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{x}.add({args})", "add"),
        ("{x}.add({args}).b({args})", None),
        ("torch.add({x}, {args})", None),
        ("{x}.add()", None),
    ],
)
def test_a_method_under_another_name_is_recognised(template: str, name: str | None) -> None:
    assert renamed_method(template) == name


@pytest.mark.parametrize(
    ("template", "others", "name"),
    [
        ("torch.relu({x})", 0, "torch.relu"),
        ("torch.relu({x})", 1, None),
        ("F.elu({x}, {args})", 2, "F.elu"),
        ("F.elu({x}, {args}, 1)", 2, None),
        ("f({x})({x})", 0, None),
        ("{x}.add({args})", 0, None),
    ],
)
def test_a_function_under_another_name_is_recognised(template: str, others: int, name: str | None) -> None:
    function = renamed_function(template, others)
    assert (None if function is None else code(function)) == name


def test_placeholders_come_in_the_order_of_evaluation() -> None:
    assert placeholders("torch.where({index}, {value}, {x})") == ["index", "value", "x"]
