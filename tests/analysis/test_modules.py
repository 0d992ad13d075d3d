"""Modules: what they hold, how they run, and which of them write to what they are given."""

from __future__ import annotations

import pytest

from analysis.analysed import conflicts, facts, writes


def net(init: str, forward: str, head: str = "") -> str:
    """A module class; ``__init__`` begins on line 5 of the program and forward's body on line 7."""
    return (
        f"from torch import nn; import torch.nn.functional as F{head}\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, size):\n"
        f"        super().__init__(); {init}\n"
        "    def forward(self, x):\n"
        f"        {forward}\n"
    )


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.act = nn.ReLU(inplace=True)", "return self.act(torch.tanh(x))"),
        ("self.act = nn.ReLU(True)", "return self.act(torch.tanh(x))"),
        ("self.body = nn.Sequential(nn.Tanh(), nn.ReLU(inplace=True))", "return self.body(x)"),
        ("self.body = nn.Sequential(nn.Sequential(nn.Tanh()), nn.ReLU(True))", "return self.body(x)"),
        ("self.body = nn.ModuleList([nn.Tanh(), nn.ReLU(True)])", "return self.body[1](self.body[0](x))"),
        ("self.body = nn.ModuleDict({'a': nn.ReLU(True)})", "return self.body['a'](x.tanh())"),
        (
            "layers = [nn.Tanh()]; layers.append(nn.ReLU(True)); self.body = nn.Sequential(*layers)",
            "return self.body(x)",
        ),
        ("self.act = getattr(nn, 'ReLU')(inplace=True)", "return self.act(torch.tanh(x))"),
        ("self.act = dict(relu=nn.ReLU)['relu'](inplace=True)", "return self.act(torch.tanh(x))"),
        ("self.drop = nn.Dropout(0.5, inplace=True)", "return self.drop(x.softmax(-1))"),
    ],
)
def test_a_module_that_writes_after_one_that_saved_is_a_conflict(init: str, forward: str) -> None:
    assert conflicts(net(init, forward))


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.act = nn.ReLU()", "return self.act(torch.tanh(x))"),
        ("self.act = nn.ReLU(inplace=False)", "return self.act(torch.tanh(x))"),
        ("self.body = nn.Sequential(nn.Linear(size, size), nn.ReLU(inplace=True))", "return self.body(x)"),
        ("self.body = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.ReLU(True))", "return self.body(x)"),
        ("self.body = nn.Sequential(nn.ReLU(True), nn.Linear(size, size))", "return self.body(x + 1)"),
        ("self.act = nn.ReLU(inplace=True)", "return self.act(x + 1)"),
        ("self.body = nn.ModuleList([nn.Tanh(), nn.ReLU(True)])", "return self.body[1](x + 1)"),
    ],
)
def test_a_module_that_writes_to_what_nobody_needs_is_none(init: str, forward: str) -> None:
    assert conflicts(net(init, forward)) == set()


def test_the_constructor_is_known_to_be_the_place_of_the_flag() -> None:
    text = net("self.act = nn.ReLU(inplace=True)", "return self.act(torch.tanh(x))")
    (write,) = facts(text).writes
    assert write.made is not None
    assert (write.made.line, write.site.line) == (5, 7)


def test_a_buffer_that_is_written_after_it_was_used_is_a_conflict() -> None:
    text = net(
        "self.register_buffer('scale', torch.ones(size)); self.w = nn.Parameter(torch.ones(size))",
        "y = self.w * self.scale; self.scale.mul_(0.9); return y",
    )
    assert conflicts(text) == {(7, 7)}


@pytest.mark.xfail(reason="a class is not run through the forward that it inherits", strict=True)
def test_an_inherited_forward_uses_what_the_subclass_made() -> None:
    text = """
    class Base(torch.nn.Module):
        def forward(self, x):
            return self.act(torch.tanh(x))
    class Net(Base):
        def __init__(self):
            super().__init__()
            self.act = torch.nn.ReLU(inplace=True)
    """
    assert conflicts(text) == {(4, 4)}


def test_a_module_called_on_its_own_attribute_writes_there() -> None:
    text = net("self.h = torch.zeros(3)", "self.h = torch.tanh(x + self.h); self.h += 1; return self.h")
    assert conflicts(text) == {(7, 7)}


@pytest.mark.parametrize("loop", ["self.parameters()", "[p for p in self.parameters()]", "self.state_dict().values()"])
def test_initialising_the_parameters_of_a_module_is_seen_as_writes(loop: str) -> None:
    text = net("self.layer = nn.Linear(size, size)", f"[p.zero_() for p in {loop}]; return x")
    assert writes(text) == [(7, "method")]
