"""Records what a program computes: losses, gradients and parameters of every backward, without changing a bit of it.

Only outermost calls of ``backward()`` and ``autograd.grad`` count (reentrant checkpointing runs inner ones). Nothing
draws a random number, and nothing of the program is kept alive beyond its own life but copies of values.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.weak import WeakTensorKeyDictionary

KEPT_BYTES = 1 << 30

Value = dict[str, Any]


class Recorder:
    """A context that records; ``record()`` gives plain dicts, lists and tensors that ``torch.save`` can write.

    ``calls`` holds one entry per backward: its ``kind``, the ``roots`` (losses), the ``leaves`` reached (name where the
    module is known, value at that time, gradient afterwards), the ``results`` of ``autograd.grad``, and ``error``.
    ``final`` holds the parameters: those of each optimizer after its last step, and the state of modules still alive.
    Values are whole up to ``kept_bytes`` in all, beyond that only their digests.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self.calls: list[dict[str, Any]] = []
        self._room = kept_bytes
        self._depth = 0
        self._names = WeakTensorKeyDictionary()
        self._modules: list[tuple[str, weakref.ref[torch.nn.Module]]] = []
        self._known: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._optimizers: dict[str, list[torch.Tensor]] = {}
        self._optimizer_names: weakref.WeakKeyDictionary[torch.optim.Optimizer, str] = weakref.WeakKeyDictionary()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Recorder:
        with contextlib.ExitStack() as stack:
            for handle in (
                register_module_forward_pre_hook(self._module_called),
                register_optimizer_step_post_hook(self._optimizer_stepped),
            ):
                stack.callback(handle.remove)
            for name, observe in (("backward", self._backward), ("grad", self._grad)):
                original = getattr(torch.autograd, name)
                setattr(torch.autograd, name, self._outermost(original, observe))
                stack.callback(setattr, torch.autograd, name, original)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def record(self) -> dict[str, Any]:
        """Everything seen so far, with the parameters as they are now."""
        final = [
            {"name": f"{owner}[{index}]", "value": self._keep(value)}
            for owner, values in self._optimizers.items()
            for index, value in enumerate(values)
        ]
        for name, reference in self._modules:
            module = reference()
            state = module.state_dict() if module is not None else {}
            final += [
                {"name": f"{name}.{key}", "value": self._keep(value)}
                for key, value in state.items()
                if isinstance(value, torch.Tensor)
            ]
        return {"calls": self.calls, "final": final}

    def _outermost(self, original: Callable[..., Any], observe: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return original(*args, **kwargs)
            self._depth += 1
            try:
                return observe(original, *args, **kwargs)
            finally:
                self._depth -= 1

        return wrapped

    def _backward(self, original: Callable[..., Any], tensors: Any, *args: Any, **kwargs: Any) -> Any:
        call, leaves = self._begin("backward", tensors)
        try:
            return original(tensors, *args, **kwargs)
        except BaseException as error:
            call["error"] = _brief(error)
            raise
        finally:
            for entry, leaf in leaves:
                gradient = _gradient(leaf)
                entry["grad"] = None if gradient is None else self._keep(gradient)

    def _grad(self, original: Callable[..., Any], outputs: Any, *args: Any, **kwargs: Any) -> Any:
        call, _ = self._begin("grad", outputs)
        try:
            results = original(outputs, *args, **kwargs)
        except BaseException as error:
            call["error"] = _brief(error)
            raise
        call["results"] = [None if value is None else self._keep(value) for value in results]
        return results

    def _begin(self, kind: str, roots: Any) -> tuple[dict[str, Any], list[tuple[dict[str, Any], torch.Tensor]]]:
        tensors = [root for root in _sequence(roots) if isinstance(root, torch.Tensor)]
        leaves: list[tuple[dict[str, Any], torch.Tensor]] = []
        for leaf in _leaves(tensors):
            shown = getattr(leaf, "stands_for", leaf)
            leaves.append(({"name": self._name(shown), "value": self._keep(leaf), "grad": None}, leaf))
        call = {
            "kind": kind,
            "roots": [self._keep(tensor) for tensor in tensors],
            "leaves": [entry for entry, _ in leaves],
            "results": [],
            "error": "",
        }
        self.calls.append(call)
        return call, leaves

    def _keep(self, tensor: torch.Tensor) -> Value:
        with torch._C._DisableFuncTorch(), torch.no_grad():
            return self._kept(_plain(tensor))

    def _kept(self, value: torch.Tensor) -> Value:
        kept: Value = {"shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}
        kept["digest"] = digest(value)
        size = value.numel() * value.element_size()
        if size <= self._room:
            self._room -= size
            kept["data"] = value
        return kept

    def _name(self, leaf: torch.Tensor) -> str:
        found: str = self._names.get(leaf, "")
        return found

    def _module_called(self, module: torch.nn.Module, args: Any) -> None:
        if module in self._known:
            return
        kind = type(module).__name__
        count = sum(name.partition("#")[0] == kind for name, _ in self._modules)
        name = kind if not count else f"{kind}#{count + 1}"
        self._modules.append((name, weakref.ref(module)))
        self._known.update(module.modules())
        for key, parameter in (*module.named_parameters(), *module.named_buffers()):
            if parameter not in self._names:
                self._names[parameter] = f"{name}.{key}"

    def _optimizer_stepped(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Mapping[str, Any]) -> None:
        name = self._optimizer_names.get(optimizer)
        if name is None:
            name = f"{type(optimizer).__name__}#{len(self._optimizers) + 1}"
            self._optimizer_names[optimizer] = name
        self._optimizers[name] = [
            parameter.detach().clone() for group in optimizer.param_groups for parameter in group["params"]
        ]


def digest(value: torch.Tensor) -> str:
    """A digest of sizes, dtype and bits; the two zeros count as one."""
    content = hashlib.sha256(f"{value.dtype}{tuple(value.shape)}".encode())
    if value.numel():
        flat = value.contiguous()
        if flat.is_floating_point() and flat.element_size() > 1:  # no arithmetic on 8-bit floats
            flat = flat + 0.0
        elif flat.is_complex():
            flat = torch.view_as_real(flat) + 0.0
        content.update(ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size()))
    return content.hexdigest()[:32]


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU: dense, free of functorch's wrappers, of Python subclasses and of the graph."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    value = tensor.detach()
    if value.layout != torch.strided:
        value = value.to_dense()
    if value.is_quantized:
        value = value.dequantize()
    return value.cpu().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


def _leaves(roots: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """The leaves below some roots, depth first in the order of each node's inputs."""
    yield from (root for root in roots if root.requires_grad and root.grad_fn is None)
    waiting = [root.grad_fn for root in reversed(roots) if root.grad_fn is not None]
    seen = set()
    while waiting:
        node: Any = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            yield variable
        waiting.extend(following for following, _ in reversed(node.next_functions) if following is not None)


def _gradient(leaf: torch.Tensor) -> torch.Tensor | None:
    """``.grad`` of a leaf, or of the tensor that it stands for under the oracle (no leaf then, hence the warning)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown: torch.Tensor = getattr(leaf, "stands_for", leaf)
        return shown.grad


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
