"""The data file is read without torch, lazily, and holds only entries that make sense."""

from __future__ import annotations

import subprocess
import sys

import pytest

from inplace_fix.catalog import Kind, Op, Result, Save, load
from inplace_fix.catalog.reader import parse

SMALL = """{"torch":"1.2.3",
"ops":{
"torch.good":{"params":["a","b"],"result":"view","saves":[["a",["b"]],["result",[],false]],"kind":"partial"},
"torch.bad":{"result":"no such relation"}
},
"modules":{
"torch.nn.Good":{"init":["p"],"parameters":["weight"],"buffers":[],"train":{"params":["input"]},"evaluate":{},"inplace":0}
},
"attributes":{"T":"view"},
"operators":{"+":"torch.good"}}
"""


def test_an_entry_has_its_fields_and_the_defaults_of_the_others() -> None:
    assert parse(SMALL).ops["torch.good"] == Op(
        name="torch.good",
        params=("a", "b"),
        result=Result.VIEW,
        saves=(Save("a", ("b",)), Save("result", (), False)),
        kind=Kind.PARTIAL,
    )


def test_a_module_has_an_operation_for_each_mode() -> None:
    facts = parse(SMALL).modules["torch.nn.Good"]
    assert (facts.train.params, facts.evaluate.params, facts.inplace) == (("input",), (), 0)


def test_an_entry_is_decoded_only_when_it_is_asked_for() -> None:
    catalog = parse(SMALL)
    assert "torch.bad" in catalog.ops
    with pytest.raises(ValueError, match="no such relation"):
        catalog.ops["torch.bad"]


def test_what_is_not_known_is_none() -> None:
    catalog = parse(SMALL)
    assert catalog.function("torch.other") is None
    assert catalog.method("other") is None
    assert catalog.module("torch.nn.Other") is None
    assert catalog.operator("?") is None
    assert catalog.operator("+") is catalog.function("torch.good")


def test_the_catalog_is_read_once() -> None:
    assert load() is load()


def test_loading_needs_no_torch() -> None:
    code = "import sys; from inplace_fix.catalog import load; load().ops['torch.add']; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_save_and_write_names_a_parameter_or_a_result() -> None:
    catalog = load()
    for op in catalog.ops.values():
        for save in (*op.saves, *op.inplace_saves):
            assert save.what in op.params or save.what.startswith("result"), (op.name, save)
            assert set(save.needs) <= set(op.params), (op.name, save)
        assert {name.partition(".")[0] for name in op.writes} <= set(op.params), op.name
        assert set(op.differentiable) <= set(op.params), op.name


def test_every_save_and_write_of_a_module_names_an_argument_or_its_own_tensor() -> None:
    for facts in load().modules.values():
        own = {*facts.parameters, *facts.buffers}
        for op in (facts.train, facts.evaluate):
            known = {*op.params, *own}
            assert all(save.what in known or save.what.startswith("result") for save in op.saves), facts.name
            assert {*op.writes, *op.differentiable} <= known, facts.name


def test_every_overload_has_an_entry_and_every_operator_leads_to_one() -> None:
    catalog = load()
    assert {name for op in catalog.ops.values() for name in op.overloads} <= catalog.ops.keys()
    assert set(catalog.operators.values()) <= catalog.ops.keys()


@pytest.mark.parametrize(
    "name",
    [
        *("torch.concat", "torch.cat", "torch.special.expit", "torch.sigmoid", "torch.Tensor.absolute_", "torch.clip"),
        *("torch.linalg.inv", "torch.fft.rfft", "torch.nn.functional.gelu", "torch.nn.init.zeros_", "torch.from_numpy"),
        *("torch._foreach_add_", "torch.zeros", "torch.Tensor.__iadd__", "torch.Tensor.backward", "torch.where"),
    ],
)
def test_every_public_name_answers(name: str) -> None:
    assert load().function(name) is not None
