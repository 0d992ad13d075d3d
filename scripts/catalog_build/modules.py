"""What modules of ``torch.nn`` save, write and return, in training and in evaluation."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.testing._internal.common_modules import module_db

from inplace_fix.catalog.model import ModuleFacts, Op, Save
from scripts.catalog_build import calls, facts, measure, module_samples, recipes
from scripts.catalog_build.measure import Seen
from scripts.catalog_build.signatures import Param, Signature

INPLACE = "inplace"
MAX_SAMPLES = 16

# Above this many parameters they are made to require grad together: what matters then is the module as a whole.
MAX_PARAMETERS = 8
TOGETHER = "parameters"

# Modules that refuse to run without an accelerator, and one that calls the same function.
_LIKE: dict[type[torch.nn.Module], type[torch.nn.Module]] = {torch.nn.SyncBatchNorm: torch.nn.BatchNorm2d}
_CONTAINERS = (
    torch.nn.Container,
    torch.nn.DataParallel,
    torch.nn.ModuleDict,
    torch.nn.ModuleList,
    torch.nn.ParameterDict,
    torch.nn.ParameterList,
    torch.nn.Sequential,
    torch.nn.RNNBase,
    torch.nn.RNNCellBase,
)


@dataclass(frozen=True)
class Sample:
    """How to construct a module and what to give it."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    inputs: tuple[Any, ...]
    named: Mapping[str, Any]
    ordinary: bool = False


def build() -> dict[str, ModuleFacts]:
    """All module classes by qualified name."""
    found: dict[str, ModuleFacts] = {}
    for name, cls in all_classes():
        found[name] = measured(name, cls)
    return found


def measured(name: str, cls: type[torch.nn.Module]) -> ModuleFacts:
    """The facts of one class, from its samples; of a lazy class, those of the class that it becomes."""
    like = getattr(cls, "cls_to_become", None) or _LIKE.get(cls)
    if like is not None:
        facts_of_like = measured(f"torch.nn.{like.__name__}", like)
        return replace(facts_of_like, name=name, init=_init_names(cls), inplace=None)
    return _facts(name, cls, {mode: list(_samples(name, cls, mode))[:MAX_SAMPLES] for mode in (True, False)})


def all_classes() -> Iterator[tuple[str, type[torch.nn.Module]]]:
    """The module classes with a forward of their own, by name; containers are none."""
    for leaf in dir(torch.nn):
        cls = getattr(torch.nn, leaf)
        if inspect.isclass(cls) and issubclass(cls, torch.nn.Module) and cls not in (torch.nn.Module, *_CONTAINERS):
            yield f"torch.nn.{leaf}", cls


def _init_names(cls: type[torch.nn.Module]) -> tuple[str, ...]:
    params = list(inspect.signature(cls.__init__).parameters.values())[1:]
    named = [param for param in params if param.kind not in (param.VAR_POSITIONAL, param.VAR_KEYWORD)]
    if len(named) < len(params):
        documented = inspect.signature(cls.__mro__[1].__init__).parameters  # type: ignore[misc]
        named += [
            param
            for key, param in list(documented.items())[1:]
            if key not in ("self", "mode", *(one.name for one in named))
            and param.kind not in (param.VAR_POSITIONAL, param.VAR_KEYWORD)
        ]
    return tuple(param.name for param in named)


def _samples(name: str, cls: type[torch.nn.Module], training: bool) -> Iterator[Sample]:
    measure.seed()
    for construct, inputs in module_samples.SAMPLES.get(name.rpartition(".")[2], ()):
        scope = {**calls.scope(), "nn": torch.nn}
        args, kwargs = eval(f"(lambda *a, **k: (a, k))({construct})", scope)
        given, named = eval(f"(lambda *a, **k: (a, k))({inputs})", scope)
        yield Sample(args, kwargs, given, named, ordinary=True)
    for info in module_db:
        if info.module_cls is cls:
            for one in info.module_inputs_func(info, "cpu", torch.float32, True, training):
                if one.forward_input is not None:
                    maker, given_input = one.constructor_input, one.forward_input
                    yield Sample(maker.args, maker.kwargs, given_input.args, given_input.kwargs)


def _facts(name: str, cls: type[torch.nn.Module], samples: Mapping[bool, Sequence[Sample]]) -> ModuleFacts:
    init = _init_names(cls)
    own = _own(cls, [*samples[True], *samples[False]])
    train = _op(name, cls, samples[True] or samples[False], True, own[0])
    evaluate = _op(name, cls, samples[False] or samples[True], False, own[0])
    inplace = init.index(INPLACE) if INPLACE in init and (train.flag or evaluate.flag) else None
    return ModuleFacts(name, init, own[0], own[1], train, evaluate, inplace)


def _own(cls: type[torch.nn.Module], samples: Sequence[Sample]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    parameters: dict[str, None] = {}
    buffers: dict[str, None] = {}
    for sample in samples:
        module = _made(cls, sample)
        parameters.update(dict.fromkeys(name for name, _ in module.named_parameters()))
        buffers.update(dict.fromkeys(name for name, _ in module.named_buffers()))
    return tuple(parameters), tuple(buffers)


def _made(cls: type[torch.nn.Module], sample: Sample, **more: Any) -> torch.nn.Module:
    measure.seed()
    return cls(*sample.args, **{**sample.kwargs, **more})


def _op(name: str, cls: type[torch.nn.Module], samples: Sequence[Sample], training: bool, own: tuple[str, ...]) -> Op:
    signature = _forward(cls)
    together = len(own) > MAX_PARAMETERS
    combined = facts.combine(_seen(cls, samples, training, together, {}), signature.names)
    ordinary = [sample for sample in samples if sample.ordinary]
    usual = facts.combine(_seen(cls, ordinary, training, together, {}), signature.names).saves
    op = Op(
        name=name,
        params=signature.names,
        result=combined.result,
        results=combined.results,
        saves=_shortened(tuple(_usual(save, usual) for save in combined.saves)),
        differentiable=_spelt(combined.differentiable, own),
        writes=tuple(name for name in combined.writes if name != "num_batches_tracked"),
        silent=combined.silent,
        random=combined.random,
        variadic=next((param.name for param in signature.params if param.variadic), ""),
        source="module_db" if any(info.module_cls is cls for info in module_db) else "written",
    )
    for flag, (on, _, _) in recipes.WRITE_FLAGS.items():
        if flag in _init_names(cls):
            inside = facts.combine(_seen(cls, samples, training, together, {flag: on}), signature.names)
            if inside.writes and not combined.writes:
                return replace(op, flag=flag, writes=inside.writes, inplace_saves=_shortened(inside.saves))
    return op


def _spelt(names: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for name in names for part in (own if name == TOGETHER else (name,)))


def _usual(save: Save, usual: tuple[Save, ...]) -> Save:
    """The save with what ordinary samples say of "always", where there are such samples."""
    found = next((one for one in usual if one.what == save.what), None)
    return save if found is None else replace(save, always=found.always)


def _shortened(saves: tuple[Save, ...]) -> tuple[Save, ...]:
    """Saves that hang on any of many parameters hang on the module as a whole."""
    return tuple(replace(save, needs=()) if TOGETHER in save.needs else save for save in saves)


def _forward(cls: type[torch.nn.Module]) -> Signature:
    params = list(inspect.signature(cls.forward).parameters.values())[1:]
    return Signature(
        tuple(
            Param(
                param.name,
                keyword_only=param.kind is param.KEYWORD_ONLY,
                variadic=param.kind is param.VAR_POSITIONAL,
                optional=param.default is not param.empty,
            )
            for param in params
            if param.kind is not param.VAR_KEYWORD
        )
    )


def _seen(
    cls: type[torch.nn.Module], samples: Sequence[Sample], training: bool, together: bool, more: dict[str, Any]
) -> list[Seen]:
    seen: list[Seen] = []
    signature = _forward(cls)
    for sample in samples:
        try:
            module = _made(cls, sample, **more).train(training)
        except measure.MISFITS:
            continue
        bound = signature.bind(sample.inputs, sample.named)
        if bound is not None:
            seen += _runs(module, signature, bound, together)
    return seen


def _runs(module: torch.nn.Module, signature: Signature, bound: dict[str, Any], together: bool) -> Iterator[Seen]:
    """Runs over the masks; the module's parameters and buffers are given like arguments, by ``functional_call``."""
    own: dict[str, Any] = {**dict(module.named_parameters()), **dict(module.named_buffers())}

    def arguments(values: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        tensors = {name: values[name] for name in own}
        args, kwargs = facts.unbind(signature, {name: value for name, value in values.items() if name not in own})
        return (tensors, args, kwargs), {}

    def function(tensors: dict[str, torch.Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return torch.func.functional_call(module, tensors, args, kwargs)

    given = {name: value for name, value in bound.items() if name not in own}
    parameters = frozenset(name for name, _ in module.named_parameters())
    units = {name: frozenset([name]) for name, value in given.items() if measure.can_require_grad(value)}
    if together:
        units[TOGETHER] = parameters
    else:
        units.update({name: frozenset([name]) for name in own if name in parameters})
    plans = [(mask, None) for mask in (*measure.masks(list(units)), frozenset[str]())]
    for mask, layout in [*plans, (frozenset(units), measure.transposed), (frozenset(units), measure.strided)]:
        measure.seed()
        try:
            members = frozenset(name for unit in mask for name in units[unit])
            yield replace(measure.run(function, {**given, **own}, arguments, members, layout), mask=mask)
        except measure.MISFITS:
            continue
