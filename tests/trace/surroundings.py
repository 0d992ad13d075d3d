"""Programs in which a tracer could be in the way; each gives a value that a traced run must give as well."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
import torch.nn.functional as functional
import torch.utils.checkpoint
from torch import nn


class Numbers(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        x = torch.zeros(3)
        x.add_(index)
        return x


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (y,) = ctx.saved_tensors
        result = grad.clone()
        result.mul_(y)
        return result


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2


class Chain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * 2
        x.add_(1)
        x += 2
        return functional.relu(x, inplace=True)


class Writes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y.add_(1)
        return y


def data_loader_workers() -> object:
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2)
    return [batch.tolist() for batch in loader]


def threads() -> object:
    results: list[torch.Tensor] = []

    def work() -> None:
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        y.add_(1)
        results.append(y)

    running = [threading.Thread(target=work) for _ in range(3)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    return [one.tolist() for one in results], _raises(lambda: results[0].sum().backward())


def compiled(backend: str) -> Callable[[], object]:
    def program() -> object:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()

        @torch.compile(backend=backend)
        def step(x: torch.Tensor) -> torch.Tensor:
            y = x * 2
            y.add_(1)
            z = y.sin()
            z += 1
            torch.relu_(z)
            return z.sum()

        x = torch.linspace(0, 1, 4).requires_grad_()
        step(x).backward()
        step(x).backward()
        assert x.grad is not None
        return x.grad.tolist(), sum(torch._dynamo.utils.counters["graph_break"].values())

    return program


def function_transforms() -> object:
    gradient = torch.func.grad(lambda x: x.clone().mul_(2).sin().sum())(torch.ones(3))
    mapped = torch.func.vmap(lambda x: x.clone().add_(1))(torch.zeros(2, 3))
    return gradient.tolist(), mapped.tolist()


def jacobian() -> object:
    return torch.func.jacrev(lambda x: x.clone().add_(1).sin())(torch.ones(3)).tolist()


def checkpoint(reentrant: bool) -> Callable[[], object]:
    def program() -> object:
        calls = []

        def block(a: torch.Tensor) -> torch.Tensor:
            calls.append(1)
            b = a * 2
            b.add_(1)
            return b.sin()

        x = torch.ones(3, requires_grad=True)
        torch.utils.checkpoint.checkpoint(block, x, use_reentrant=reentrant).sum().backward()
        assert x.grad is not None
        return len(calls), x.grad.tolist()

    return program


def optimizers() -> object:
    torch.manual_seed(0)
    model = nn.Linear(3, 3)
    for optimizer in (
        torch.optim.Adam(model.parameters(), foreach=True),
        torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        torch.optim.Adam(model.parameters(), fused=True),
        torch.optim.LBFGS(model.parameters()),
    ):

        def closure(optimizer: torch.optim.Optimizer = optimizer) -> torch.Tensor:
            optimizer.zero_grad()
            loss: torch.Tensor = model(torch.ones(2, 3)).pow(2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
    return model.weight.tolist()


def custom_functions() -> object:
    x = torch.ones(3, requires_grad=True)
    (Exp.apply(x) + Double.apply(x * 1)).sum().backward()
    assert x.grad is not None
    return x.grad.tolist()


def autocast() -> object:
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.rand(2, 4)).relu_().float().sum()
    loss.backward()
    assert model.weight.grad is not None
    return model.weight.grad.tolist()


def saving_and_copying() -> object:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
    x = torch.ones(1, 2)
    x.add_(1)
    model(x)
    buffer = io.BytesIO()
    torch.save({"x": x, "model": model.state_dict()}, buffer)
    again = torch.load(io.BytesIO(buffer.getvalue()))
    pickled = pickle.dumps((x, model))
    twin = copy.deepcopy(model)
    return (
        again["x"].tolist(),
        len(buffer.getvalue()),
        len(pickled),
        pickle.loads(pickled)[0].tolist(),
        sorted(vars(twin)),
        twin(x).tolist(),
    )


def symbolic_trace() -> object:
    module = torch.fx.symbolic_trace(Chain())
    return module.code, module(torch.ones(2)).tolist()


def script() -> object:
    @torch.jit.script
    def doubled(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y.add_(1)
        y += 1
        torch.relu_(y)
        return y

    return doubled(torch.ones(2)).tolist()


def fake_tensors() -> object:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        x = torch.rand(3)
        x.add_(1)
        x[0] = 2
        return list(x.shape)


def subclass() -> object:
    class Named(torch.Tensor):
        pass

    x = torch.ones(3).as_subclass(Named)
    x.add_(1)
    x[0] = 2
    x += 1
    return type(x).__name__, x.tolist()


def inference() -> object:
    with torch.inference_mode():
        x = torch.ones(3)
        x.add_(1)
        x[0] = 3
    return x.tolist()


def sparse() -> object:
    x = torch.eye(3).to_sparse()
    x.mul_(2)
    return x.to_dense().tolist()


def export() -> object:
    program = torch.export.export(Writes(), (torch.ones(2),))
    return [node.name for node in program.graph.nodes if node.op == "call_function"]


def make_fx() -> object:
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda x: (x * 2).add_(1))(torch.ones(2)).graph
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


def save_on_cpu() -> object:
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        loss = x.exp().sum()
    loss.backward()
    assert x.grad is not None
    return x.grad.tolist()


def double_backward() -> object:
    x = torch.ones(3, requires_grad=True)
    y = x.exp() * 2
    y.add_(1)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    first.sum().backward()
    assert x.grad is not None
    return x.grad.tolist()


def random_numbers() -> object:
    torch.manual_seed(5)
    x = torch.empty(4).normal_().dropout(0.5, train=True) if hasattr(torch.Tensor, "dropout") else torch.rand(4)
    functional.dropout(x, 0.5, inplace=True)
    return x.tolist(), torch.rand(2).tolist(), torch.get_rng_state().sum().item()


def _raises(act: Callable[[], object]) -> str:
    try:
        act()
    except RuntimeError as error:
        return str(error)
    return ""


SURROUNDINGS: dict[str, Callable[[], object]] = {
    "DataLoader workers": data_loader_workers,
    "threads": threads,
    "torch.compile eager": compiled("eager"),
    "torch.compile aot_eager": compiled("aot_eager"),
    "torch.compile inductor": compiled("inductor"),
    "func.grad and vmap": function_transforms,
    "func.jacrev": jacobian,
    "checkpoint": checkpoint(False),
    "reentrant checkpoint": checkpoint(True),
    "optimizers": optimizers,
    "custom Functions": custom_functions,
    "autocast": autocast,
    "saving and copying": saving_and_copying,
    "fx.symbolic_trace": symbolic_trace,
    "jit.script": script,
    "fake tensors": fake_tensors,
    "subclass": subclass,
    "inference mode": inference,
    "sparse": sparse,
    "export": export,
    "make_fx": make_fx,
    "save_on_cpu": save_on_cpu,
    "double backward": double_backward,
    "random numbers": random_numbers,
}
