"""What is known of ``torch.nn`` modules must be in the catalog, in training and in evaluation."""

from __future__ import annotations

import pytest

from inplace_fix.catalog import ModuleFacts, Op, Result, load


def module(name: str) -> ModuleFacts:
    found = load().module("torch.nn." + name)
    assert found is not None, f"{name} is not in the catalog"
    return found


def kept(op: Op) -> set[str]:
    return {save.what for save in op.saves}


def test_dropout_gives_new_memory_in_training_and_the_same_object_in_evaluation() -> None:
    facts = module("Dropout")
    assert (facts.train.result, facts.train.saves, facts.train.random) == (Result.FRESH, (), True)
    assert (facts.evaluate.result, facts.evaluate.writes) == (Result.SAME, ())
    assert (facts.train.flag, facts.inplace) == ("inplace", facts.init.index("inplace"))


@pytest.mark.parametrize("name", ["AlphaDropout", "FeatureAlphaDropout"])
def test_modules_that_ignore_the_flag_have_no_position_for_it(name: str) -> None:
    assert "inplace" in module(name).init
    assert module(name).inplace is None


@pytest.mark.parametrize("name", ["ReLU", "LeakyReLU", "ELU", "SELU", "CELU"])
def test_an_activation_module_with_the_flag_writes_its_input_and_saves_its_result(name: str) -> None:
    train = module(name).train
    assert (train.flag, train.writes) == ("inplace", ("input",))
    assert "result" in {save.what for save in train.inplace_saves}


@pytest.mark.parametrize("name", ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"])
def test_batch_norm_writes_its_statistics_unseen_and_saves_them_in_both_modes(name: str) -> None:
    facts = module(name)
    assert (facts.train.writes, facts.train.silent) == (("running_mean", "running_var"), True)
    assert facts.evaluate.writes == ()
    for op in (facts.train, facts.evaluate):
        assert {"running_mean", "running_var", "input", "weight"} <= kept(op)
    assert {"running_mean", "running_var"} <= set(facts.buffers)


def test_instance_norm_writes_its_statistics_in_the_open() -> None:
    train = module("InstanceNorm2d").train
    assert train.writes == ("running_mean", "running_var")
    assert not train.silent


def test_linear_saves_each_side_for_the_other() -> None:
    assert {(save.what, save.needs) for save in module("Linear").train.saves} == {
        ("input", ("weight",)),
        ("weight", ("input",)),
    }


@pytest.mark.parametrize(("name", "saved"), [("LSTM", True), ("GRU", False), ("RNN", False)])
def test_of_the_recurrent_layers_only_lstm_saves_its_output(name: str, saved: bool) -> None:
    train = module(name).train
    assert any(save.what == "result[0]" and save.always for save in train.saves) == saved
    assert train.results == 2


def test_a_recurrent_cell_saves_its_input_and_state() -> None:
    assert {"input", "hx", "result"} <= kept(module("RNNCell").train)
    assert {"input", "hx"} <= kept(module("GRUCell").train)
    assert "result" not in kept(module("GRUCell").train)


def test_embedding_writes_its_weight_only_with_max_norm() -> None:
    train = module("Embedding").train
    assert (train.flag, train.writes, kept(train)) == ("max_norm", ("weight",), {"input"})


@pytest.mark.parametrize(
    ("name", "what"), [("CrossEntropyLoss", "target"), ("MSELoss", "input"), ("NLLLoss", "target")]
)
def test_a_loss_saves_what_it_compares(name: str, what: str) -> None:
    assert what in kept(module(name).train)


def test_identity_returns_its_argument_and_flatten_may_return_a_view() -> None:
    assert module("Identity").train.result is Result.SAME
    assert module("Flatten").train.result is Result.VIEW_OR_FRESH


@pytest.mark.parametrize("name", ["Sequential", "ModuleList", "ModuleDict", "Module"])
def test_containers_are_no_operations(name: str) -> None:
    assert load().module("torch.nn." + name) is None


def test_a_lazy_module_has_the_facts_of_the_one_that_it_becomes() -> None:
    assert module("LazyLinear").train.saves == module("Linear").train.saves
    assert module("LazyLinear").parameters == module("Linear").parameters
    assert "in_features" not in module("LazyLinear").init


@pytest.mark.parametrize("name", ["MultiheadAttention", "TransformerEncoderLayer", "Transformer"])
def test_attention_modules_are_measured_as_a_whole(name: str) -> None:
    facts = module(name)
    assert facts.train.differentiable
    assert {save.what for save in facts.train.saves} & set(facts.parameters)
