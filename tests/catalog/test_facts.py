"""What is known of plain operations must be in the catalog: each case is a small program whose outcome was seen."""

from __future__ import annotations

import pytest

from inplace_fix.catalog import Op, Result, load

TENSOR = True
NUMBER = False


def kept(op: Op) -> set[str]:
    return {save.what for save in op.saves}


def op(name: str) -> Op:
    found = load().ops.get(name)
    assert found is not None, f"{name} is not in the catalog"
    return found


def chosen(name: str, *positional: bool) -> Op:
    return load().choose(op(name), positional, {})


NOTHING = """
    Tensor.add Tensor.sub Tensor.neg Tensor.sum Tensor.mean Tensor.cumsum Tensor.view Tensor.clone Tensor.tril Tensor.to
    Tensor.float cat stack nn.functional.dropout nn.functional.l1_loss nn.functional.interpolate
"""

RESULT = """
    Tensor.relu Tensor.sigmoid Tensor.tanh Tensor.exp Tensor.expm1 Tensor.sqrt Tensor.rsqrt Tensor.reciprocal
    Tensor.softmax Tensor.log_softmax Tensor.prod Tensor.cumprod Tensor.logsumexp Tensor.norm Tensor.std Tensor.tan
    Tensor.amax cdist nn.functional.softmax nn.functional.relu
"""

INPUT_ONLY = """
    Tensor.log Tensor.abs Tensor.sin Tensor.square Tensor.clamp nn.functional.gelu nn.functional.silu nn.functional.elu
    nn.functional.leaky_relu nn.functional.softplus nn.functional.hardtanh nn.functional.hardswish
    nn.functional.avg_pool2d nn.functional.layer_norm nn.functional.batch_norm nn.functional.conv2d
"""


@pytest.mark.parametrize("name", NOTHING.split())
def test_neither_input_nor_result_is_saved(name: str) -> None:
    assert kept(op("torch." + name)) == set()


@pytest.mark.parametrize("name", RESULT.split())
def test_the_result_is_always_saved(name: str) -> None:
    assert any(save.what == "result" and save.always for save in op("torch." + name).saves)


@pytest.mark.parametrize("name", INPUT_ONLY.split())
def test_the_input_is_saved_and_the_result_is_not(name: str) -> None:
    found = op("torch." + name)
    assert any(save.what == found.params[0] and save.always for save in found.saves)
    assert not any(what.startswith("result") for what in kept(found))


@pytest.mark.parametrize("name", ["torch.Tensor.max", "torch.max", "torch.Tensor.median", "torch.min"])
def test_a_reduction_along_a_dimension_saves_indices_only(name: str) -> None:
    assert kept(op(name + ".dim")) == {"result[1]"}


def test_full_max_saves_input_and_result() -> None:
    assert kept(chosen("torch.Tensor.max", TENSOR)) == {"self", "result"}


@pytest.mark.parametrize("name", ["torch.sort", "torch.topk", "torch.Tensor.sort", "torch.Tensor.topk"])
def test_sorting_saves_the_indices_not_the_values(name: str) -> None:
    assert kept(op(name)) == {"result[1]"}


@pytest.mark.parametrize("name", ["torch.Tensor.mul", "torch.mul", "torch.Tensor.__mul__"])
def test_a_product_saves_each_side_for_the_other(name: str) -> None:
    found = op(name)
    first, other = found.params[:2]
    assert {(save.what, save.needs) for save in found.saves} == {(first, (other,)), (other, (first,))}


def test_a_quotient_saves_the_divisor_even_if_it_needs_no_grad() -> None:
    saves = {save.what: save.needs for save in op("torch.Tensor.div").saves}
    assert saves == {"self": ("other",), "other": ()}


def test_a_power_by_a_number_saves_its_base_only() -> None:
    assert kept(chosen("torch.Tensor.pow", TENSOR, NUMBER)) == {"self"}
    assert kept(chosen("torch.Tensor.pow", TENSOR, TENSOR)) == {"self", "exponent", "result"}


@pytest.mark.parametrize("name", ["torch.nn.functional.linear", "torch.matmul", "torch.mm", "torch.bmm"])
def test_a_matrix_product_saves_each_operand_for_the_other(name: str) -> None:
    found = op(name)
    first, other = found.params[:2]
    assert {(save.what, save.needs) for save in found.saves} == {(first, (other,)), (other, (first,))}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("torch.where", "condition"),
        ("torch.Tensor.where", "condition"),
        ("torch.Tensor.masked_fill", "mask"),
        ("torch.Tensor.masked_fill_", "mask"),
        ("torch.Tensor.masked_scatter", "mask"),
        ("torch.Tensor.masked_select", "mask"),
        ("torch.gather", "index"),
        ("torch.index_select", "index"),
        ("torch.Tensor.index_add_", "index"),
        ("torch.Tensor.scatter_", "index"),
        ("torch.Tensor.scatter_add", "index"),
        ("torch.Tensor.index_put_", "indices"),
        ("torch.Tensor.__getitem__.advanced", "indices"),
        ("torch.Tensor.__setitem__.advanced", "indices"),
        ("torch.nn.functional.embedding", "input"),
        ("torch.nn.functional.cross_entropy", "target"),
        ("torch.nn.functional.nll_loss", "target"),
        ("torch.nn.functional.binary_cross_entropy", "target"),
        ("torch.nn.functional.mse_loss", "target"),
        ("torch.nn.functional.batch_norm", "running_mean"),
        ("torch.nn.functional.batch_norm", "running_var"),
    ],
)
def test_masks_indices_targets_and_buffers_are_saved_though_they_need_no_grad(name: str, what: str) -> None:
    saves = {save.what: save for save in op(name).saves}
    assert what in saves
    assert saves[what].always


def test_fill_and_choice_save_no_data() -> None:
    for name in ("torch.Tensor.masked_fill", "torch.where"):
        assert len(kept(op(name))) == 1


KEEP_A_COPY = "mul_ div_ log_ sin_ abs_ clamp_ addcmul_ lerp_ square_ cos_"
SAVE_THEIR_RESULT = "relu_ sigmoid_ tanh_ exp_ sqrt_ rsqrt_ reciprocal_ expm1_"


@pytest.mark.parametrize("name", KEEP_A_COPY.split())
def test_an_in_place_operation_that_needs_the_old_value_keeps_a_copy_of_it(name: str) -> None:
    assert not kept(op("torch.Tensor." + name)) & {"self", "result"}


def test_an_in_place_power_by_a_number_keeps_a_copy() -> None:
    assert kept(chosen("torch.Tensor.pow_", TENSOR, NUMBER)) == set()


@pytest.mark.parametrize("name", SAVE_THEIR_RESULT.split())
def test_an_in_place_operation_can_save_its_own_result(name: str) -> None:
    assert kept(op("torch.Tensor." + name)) == {"result"}


@pytest.mark.parametrize("name", ["relu", "elu", "leaky_relu", "selu", "celu"])
def test_an_activation_with_the_flag_saves_what_it_wrote(name: str) -> None:
    found = op("torch.nn.functional." + name)
    assert (found.flag, found.writes) == ("inplace", ("input",))
    assert [save.what for save in found.inplace_saves] == ["result"]


@pytest.mark.parametrize("name", ["silu", "mish", "hardswish", "hardtanh", "dropout"])
def test_an_activation_with_the_flag_can_keep_a_copy(name: str) -> None:
    found = op("torch.nn.functional." + name)
    assert (found.flag, found.inplace_saves) == ("inplace", ())


def test_einsum_saves_its_operands_in_some_layouts() -> None:
    assert [(save.what, save.always) for save in op("torch.einsum").saves] == [("operands", False)]


@pytest.mark.parametrize("name", ["acosh_", "asinh_", "atanh_", "arccosh_", "arcsinh_", "arctanh_"])
def test_operations_without_an_in_place_derivative_are_marked(name: str) -> None:
    assert op("torch.Tensor." + name).broken


RELATIONS = {
    Result.FRESH: "clone add mul sum cat:torch.cat repeat roll flip where __getitem__.advanced index_select",
    Result.VIEW: "view t transpose permute squeeze unsqueeze narrow select __getitem__ movedim diagonal view_as",
    Result.VIEWS: "chunk split unbind __iter__ split_with_sizes",
    Result.SINGLE_VIEWS: "tensor_split hsplit vsplit dsplit",
    Result.SAME: "add_ relu_ zero_ detach_ requires_grad_ t_ positive",
    Result.VIEW_OR_FRESH: "reshape flatten ravel reshape_as",
    Result.SAME_OR_FRESH: "contiguous to float double cpu type_as type as_tensor:torch.as_tensor",
    Result.EXPANDED: "expand expand_as broadcast_to meshgrid:torch.meshgrid broadcast_tensors:torch.broadcast_tensors",
    Result.OVERLAPPING: "unfold as_strided",
    Result.DETACHED: "detach",
    Result.ARRAY: "numpy from_numpy:torch.from_numpy __array__",
    Result.NONE: "backward __setitem__",
    Result.VALUE: "item size dim tolist numel data_ptr register_hook",
}


@pytest.mark.parametrize(
    ("name", "relation"), [(name, relation) for relation, names in RELATIONS.items() for name in names.split()]
)
def test_a_result_is_related_to_its_argument_as_seen(name: str, relation: Result) -> None:
    qualified = name.partition(":")[2] or f"torch.Tensor.{name}"
    assert op(qualified).result is relation


def test_attributes_are_views_except_data() -> None:
    attributes = dict(load().attributes)
    assert attributes.pop("data") is Result.UNVERSIONED
    assert attributes.keys() == {"T", "H", "mT", "mH", "real", "imag"}
    assert set(attributes.values()) == {Result.VIEW}


@pytest.mark.parametrize(
    ("symbol", "writes"), [("+", ()), ("+=", ("self",)), ("*=", ("self",)), ("//=", ("self",)), ("<<=", ("self",))]
)
def test_an_operator_leads_to_its_method(symbol: str, writes: tuple[str, ...]) -> None:
    found = load().operator(symbol)
    assert found is not None
    assert found.writes == writes


def test_matrix_multiplication_has_no_in_place_operator() -> None:
    assert load().operator("@") is not None
    assert load().operator("@=") is None


@pytest.mark.parametrize(
    "name", ["torch._fused_sgd_", "torch._fused_adam_", "torch._fused_adamw_", "torch._fused_adagrad_"]
)
def test_fused_optimizer_steps_write_without_moving_the_version(name: str) -> None:
    found = op(name)
    assert "self" in found.writes
    assert found.silent


@pytest.mark.parametrize("name", ["zeros_", "ones_", "normal_", "kaiming_uniform_", "orthogonal_"])
def test_an_initialiser_writes_its_tensor_outside_the_graph(name: str) -> None:
    found = op("torch.nn.init." + name)
    assert (found.writes, found.differentiable) == (("tensor",), ())


def test_gradient_clipping_writes_gradients_not_parameters() -> None:
    assert op("torch.nn.utils.clip_grad_norm_").writes == ("parameters.grad",)


@pytest.mark.parametrize(
    "name", ["_foreach_add_", "_foreach_mul_", "_foreach_zero_", "_foreach_exp_", "_foreach_copy_"]
)
def test_foreach_operations_write_every_tensor_of_their_list(name: str) -> None:
    found = op("torch." + name)
    assert found.writes == ("self",)
    assert not found.silent


@pytest.mark.parametrize(
    ("name", "keyword"),
    [("add_", "alpha"), ("sub_", "alpha"), ("addcmul_", "value"), ("addcdiv_", "value"), ("mul_", "")],
)
def test_the_scalar_first_form_names_its_keyword(name: str, keyword: str) -> None:
    assert op("torch.Tensor." + name).scalar_first == keyword
