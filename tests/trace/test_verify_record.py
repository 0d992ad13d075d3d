"""What a program computes, recorded without changing it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from inplace_fix.trace.verify_record import Recorder, digest  # noqa: E402


def test_losses_and_gradients_are_kept_with_the_names_of_the_modules_parameters() -> None:
    model = nn.Linear(2, 1)
    with Recorder() as recorder:
        loss = model(torch.ones(3, 2)).sum()
        loss.backward()
    (call,) = recorder.record()["calls"]
    assert call["kind"] == "backward"
    assert torch.equal(call["roots"][0]["data"], loss.detach())
    gradients = {leaf["name"]: leaf["grad"]["data"] for leaf in call["leaves"]}
    assert torch.equal(gradients["Linear.weight"], model.weight.grad)
    assert torch.equal(gradients["Linear.bias"], model.bias.grad)


def test_the_results_of_autograd_grad_are_kept_and_unused_inputs_give_none() -> None:
    x, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with Recorder() as recorder:
        torch.autograd.grad((x * 3).sum(), [x, unused], allow_unused=True)
    (call,) = recorder.record()["calls"]
    assert call["results"][0]["data"].tolist() == [3.0, 3.0]
    assert call["results"][1] is None


def test_a_backward_inside_a_backward_is_not_a_call_of_its_own() -> None:
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(2, requires_grad=True)
    with Recorder() as recorder:
        checkpoint(torch.sin, x, use_reentrant=True).sum().backward()
    assert len(recorder.calls) == 1


def test_a_refused_backward_is_kept_with_its_error_and_still_raises() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    y.add_(1)
    with Recorder() as recorder, pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert "modified by an inplace operation" in recorder.calls[0]["error"]


def test_parameters_of_a_model_that_is_gone_are_kept_as_the_optimizer_left_them() -> None:
    def train() -> list[torch.Tensor]:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        for _ in range(2):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        return [parameter.detach().clone() for parameter in model.parameters()]

    with Recorder() as recorder:
        trained = train()
    final = {entry["name"]: entry["value"]["data"] for entry in recorder.record()["final"]}
    assert torch.equal(final["SGD#1[0]"], trained[0])
    assert torch.equal(final["SGD#1[1]"], trained[1])


def test_buffers_of_a_living_model_are_kept() -> None:
    model = nn.BatchNorm1d(2)
    with Recorder() as recorder:
        model(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    final = {entry["name"]: entry["value"]["data"] for entry in recorder.record()["final"]}
    assert torch.equal(final["BatchNorm1d.running_mean"], model.running_mean)


def test_two_models_of_one_class_have_two_names() -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    with Recorder() as recorder:
        second(first(torch.ones(1, 2))).sum().backward()
    names = {leaf["name"] for leaf in recorder.calls[0]["leaves"]}
    assert {"Linear.weight", "Linear#2.weight"} <= names


def test_recording_draws_no_random_number() -> None:
    def program() -> torch.Tensor:
        torch.manual_seed(5)
        x = torch.randn(3, requires_grad=True)
        torch.dropout(x, 0.5, True).sum().backward()
        return torch.rand(4)

    plain = program()
    with Recorder():
        recorded = program()
    assert torch.equal(plain, recorded)


def test_beyond_the_room_only_digests_are_kept() -> None:
    x = torch.ones(100, requires_grad=True)
    with Recorder(kept_bytes=8) as recorder:
        (x * 2).sum().backward()
    call = recorder.calls[0]
    assert "data" in call["roots"][0] or "data" not in call["leaves"][0]["value"]
    assert "data" not in call["leaves"][0]["grad"]
    assert call["leaves"][0]["grad"]["digest"]


def test_nothing_of_the_program_is_kept_alive() -> None:
    import weakref

    with Recorder() as recorder:
        model = nn.Linear(2, 2)
        model(torch.ones(1, 2)).sum().backward()
        gone = weakref.ref(model)
        del model
        assert gone() is None
    assert recorder.calls


def test_leaving_the_recorder_gives_the_functions_back() -> None:
    before = (torch.autograd.backward, torch.autograd.grad)
    with Recorder():
        assert torch.autograd.backward is not before[0]
    assert (torch.autograd.backward, torch.autograd.grad) == before


def test_gradients_inside_a_functional_transform_are_recorded() -> None:
    with Recorder() as recorder:
        torch.func.grad(lambda x: x.sin().sum())(torch.zeros(3))
    assert recorder.calls[0]["results"][0]["data"].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.complex64])
def test_the_two_zeros_have_one_digest(dtype: torch.dtype) -> None:
    zero = torch.zeros(3, dtype=dtype)
    assert digest(zero) == digest(-zero)


def test_digests_tell_values_sizes_and_dtypes_apart() -> None:
    values = [
        torch.ones(4),
        torch.ones(2, 2),
        torch.ones(4).double(),
        torch.tensor([1.0, 1, 1, 2]),
        torch.ones(4).int(),
    ]
    assert len({digest(value) for value in values}) == len(values)
