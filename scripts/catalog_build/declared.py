"""What the wheel declares of an operator that could not be run here: views, writes and saved values.

Used only for what has no sample on this machine (other hardware's kernels, quantised types): such entries say
``declared`` as their source.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import torchgen  # type: ignore[import-untyped]
from torchgen.api.autograd import DifferentiabilityInfo  # type: ignore[import-untyped]
from torchgen.api.types import (  # type: ignore[import-untyped]
    BaseCType,
    OptionalCType,
    tensorListT,
    tensorT,
)
from torchgen.packaged.autograd.load_derivatives import (  # type: ignore[import-untyped]
    load_derivatives,
)

from inplace_fix.catalog.model import Op, Result, Save
from scripts.catalog_build.signatures import Signature

_PACKAGED = Path(torchgen.__file__).parent / "packaged"
_TENSORS = (BaseCType(tensorT), OptionalCType(BaseCType(tensorT)), BaseCType(tensorListT))


def entry(name: str, base: Signature, returns: set[str]) -> Op:
    """The entry as declared; fresh memory and no gradient where nothing at all is known."""
    leaf = name.rpartition(".")[2]
    schemas = [
        schema
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{leaf}")
        if not any(argument.is_out for argument in schema.arguments)
    ]
    info = _derivatives().get(leaf)
    names = {"self": base.names[0]} if base.names else {}
    op = Op(name=name, params=base.names, result=_result(schemas, returns), source="declared")
    if not schemas and info is None:
        return op
    written = [argument.name for argument in schemas[0].arguments if _writes(argument)] if schemas else []
    differentiable = [names.get(arg.name, arg.name) for arg in info.args_with_derivatives] if info else []
    return Op(
        name=name,
        params=base.names,
        result=op.result,
        saves=tuple(save for save in _saves(info, names) if _known(save.what, base)),
        differentiable=tuple(one for one in differentiable if one in base.names),
        writes=tuple(one for one in (names.get(one, one) for one in written) if one in base.names),
        source="declared",
    )


def _known(what: str, base: Signature) -> bool:
    return what.startswith("result") or what in base.names


def _writes(argument: Any) -> bool:
    return argument.alias_info is not None and bool(argument.alias_info.is_write)


def _result(schemas: list[Any], returns: set[str]) -> Result:
    if schemas:
        types = [str(one.type) for one in schemas[0].returns]
        if not types:
            return Result.NONE
        if not any("Tensor" in text for text in types):
            return Result.VALUE
        alias = schemas[0].returns[0].alias_info
        return Result.FRESH if alias is None else Result.SAME if alias.is_write else Result.VIEW
    if returns and not any("Tensor" in text or "return_types" in text for text in returns):
        return Result.NONE if returns == {"None"} else Result.VALUE
    return Result.FRESH


def _saves(info: DifferentiabilityInfo | None, names: dict[str, str]) -> Iterator[Save]:
    if info is None:
        return
    for saved in info.all_saved_inputs:
        if saved.nctype.type in _TENSORS:
            yield Save(names.get(_name(saved), _name(saved)))
    outputs = [one.name or f"result{index}" for index, one in enumerate(info.func.func.returns)]
    for saved in info.all_saved_outputs:
        name = _name(saved)
        if saved.nctype.type in _TENSORS:
            position = outputs.index(name) if name in outputs else 0
            yield Save("result" if len(outputs) == 1 else f"result[{position}]")


def _name(saved: Any) -> str:
    name = saved.nctype.name
    return name if isinstance(name, str) else str(name.name)


@lru_cache(maxsize=1)
def _derivatives() -> dict[str, DifferentiabilityInfo]:
    """The first formula of every operator by bare name."""
    native = _PACKAGED / "ATen" / "native"
    infos, _ = load_derivatives(
        str(_PACKAGED / "autograd" / "derivatives.yaml"),
        str(native / "native_functions.yaml"),
        str(native / "tags.yaml"),
    )
    found: dict[str, DifferentiabilityInfo] = {}
    for by_key in infos.values():
        for info in by_key.values():
            found.setdefault(str(info.func.func.name.name), info)
    return found
