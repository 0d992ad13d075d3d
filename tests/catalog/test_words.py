"""What ``explain`` prints of an operation."""

from __future__ import annotations

import pytest

from inplace_fix.catalog import load
from inplace_fix.catalog.words import describe, suggest


def said(name: str) -> str:
    text = describe(name)
    assert text is not None, name
    return text


def test_an_in_place_method_says_what_it_writes_and_how_it_is_written_out_of_place() -> None:
    text = said("add_")
    for part in (
        "torch.Tensor.add_(self, other, alpha)",
        "Writes `self` in place",
        "x.add(...)",
        ".to(x.dtype)",
        "alpha=",
    ):
        assert part in text


def test_an_operator_means_its_method() -> None:
    assert said("+=") == said("torch.Tensor.add_")


def test_a_short_name_finds_the_method_the_function_and_the_functional() -> None:
    text = said("relu")
    for name in ("torch.Tensor.relu(", "torch.relu(", "torch.nn.functional.relu("):
        assert name in text
    assert text.count("Saves its result for backward.") == 3


def test_a_module_says_what_differs_between_its_modes() -> None:
    text = said("nn.Dropout")
    training, evaluation = text.split("In evaluation:")
    assert "Returns a new tensor" in training
    assert "Returns `input` itself" in evaluation


def test_a_module_that_ignores_its_flag_says_so() -> None:
    assert "ignores it" in said("nn.AlphaDropout")


def test_a_condition_on_requires_grad_is_said() -> None:
    assert "Saves `self` for backward where `other` requires grad." in said("torch.Tensor.mul")


def test_a_silent_write_is_told_from_a_seen_one() -> None:
    assert "without moving the version counter" in said("nn.BatchNorm2d")
    assert "without moving the version counter" not in said("nn.InstanceNorm2d")


def test_overloads_are_told_apart() -> None:
    text = said("torch.max")
    assert "As (input, dim, keepdim):" in text
    assert "With a tensor as `input` and `other`:" in text


def test_a_missing_derivative_is_said() -> None:
    assert "backward through it always raises" in said("acosh_")


def test_every_text_names_the_source_and_the_version_of_torch() -> None:
    for name in ("add_", "nn.Linear", "torch.cudnn_convolution"):
        assert "Source: " in said(name)
        assert load().torch_version in said(name)


@pytest.mark.parametrize("prefix", ["", "F.", "torch.nn.functional."])
def test_a_name_may_be_short_or_qualified(prefix: str) -> None:
    assert "torch.nn.functional.embedding(" in said(prefix + "embedding")


def test_every_entry_can_be_put_into_words() -> None:
    catalog = load()
    for name in (*catalog.ops, *catalog.modules):
        assert f"{name}(" in said(name)


def test_an_unknown_name_has_no_text_but_near_misses() -> None:
    assert describe("reluu") is None
    assert "relu" in suggest("reluu")
    assert "Dropout" in suggest("nn.Droput") or "dropout" in suggest("nn.Droput")
    assert suggest("qqqqqqqq") == []
