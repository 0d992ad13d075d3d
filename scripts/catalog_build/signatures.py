"""Parameter names of torch's callables, overload by overload, from stub files and docstrings of the installed wheel.

C functions of torch have no ``inspect.signature``. The wheel's stubs (generated from native_functions.yaml) give every
overload as Python sees it; docstrings fill in for ``linalg``, ``special`` and ``fft``, which have no stub.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import torch
import torchgen  # type: ignore[import-untyped]
import yaml  # type: ignore[import-untyped]

from scripts.catalog_build.surface import ADVANCED

_TORCH = Path(torch.__file__).parent
_DEPRECATED = Path(torchgen.__file__).parent / "packaged" / "autograd" / "deprecated.yaml"
# Callables whose parameters neither a stub nor a signature nor a docstring gives.
_WRAPPED = {
    "torch.get_device": "input",
    "torch.conv_tbc": "input, weight, bias, pad=0",
    "torch.nn.functional.conv_tbc": "input, weight, bias, pad=0",
    "torch.lu": "A, pivot=True, get_infos=False, *, out=None",
    "torch.unique_consecutive": "input, return_inverse=False, return_counts=False, dim=None",
}
_CALL = re.compile(r"^[\w.]*?(\w+)\((.*?)\)(?:\s*->.*)?$")


@dataclass(frozen=True)
class Param:
    """One parameter; ``nullable`` ones take None.

    ``kind`` is ``tensor``, ``tensors``, ``either`` (a tensor or a number), ``dtype``, ``other`` (neither tensor nor
    dtype), or ``unknown`` where no annotation tells.
    """

    name: str
    kind: str = "unknown"
    keyword_only: bool = False
    variadic: bool = False
    optional: bool = False
    nullable: bool = False


@dataclass(frozen=True)
class Signature:
    """One overload. ``scalar_first`` marks the deprecated forms that take a number before the tensors."""

    params: tuple[Param, ...]
    returns: str = ""
    scalar_first: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter names in order, without ``out``."""
        return tuple(param.name for param in self.params if param.name != "out")

    @property
    def out(self) -> bool:
        """Whether ``out=`` is accepted."""
        return any(param.name == "out" for param in self.params)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The values by parameter name, or None where the call does not fit this overload."""
        bound: dict[str, Any] = {}
        rest = list(args)
        for param in self.params:
            if param.variadic:
                bound[param.name], rest = tuple(rest), []
            elif rest and not param.keyword_only:
                bound[param.name] = rest.pop(0)
            elif param.name in kwargs:
                bound[param.name] = kwargs[param.name]
            elif not param.optional:
                return None
            if param.name in bound and not _fits(bound[param.name], param):
                return None
        return None if rest or set(kwargs) - set(bound) else bound


def _fits(value: Any, param: Param) -> bool:
    is_list = isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], torch.Tensor)
    if param.variadic or param.kind == "unknown":
        return True
    if value is None:
        return param.nullable or param.optional
    if param.kind == "tensor":
        return isinstance(value, torch.Tensor)
    if param.kind == "tensors":
        return isinstance(value, (list, tuple))
    if param.kind == "either":
        return not is_list
    return (
        isinstance(value, torch.dtype) == (param.kind == "dtype")
        and not isinstance(value, torch.Tensor)
        and not is_list
    )


def of(name: str, function: Callable[..., Any]) -> tuple[Signature, ...]:
    """All overloads of a callable, current ones first; empty where nothing tells its parameters."""
    name = name.removesuffix(ADVANCED)
    if name in _WRAPPED:
        node = ast.parse(f"def wrapped({_WRAPPED[name]}): ...").body[0]
        return (_from_node("wrapped", node),) if isinstance(node, ast.FunctionDef) else ()
    if name.startswith("torch.nn.init.") and not name.endswith("_"):
        return of(name + "_", getattr(torch.nn.init, name.rpartition(".")[2] + "_"))
    found = [*_from_stubs(name)] or [*_from_inspection(name, function)] or [*_from_docstring(name, function)]
    return tuple(sorted(dict.fromkeys(found), key=lambda signature: signature.scalar_first))


def _from_stubs(name: str) -> Iterator[Signature]:
    namespace, _, leaf = name.rpartition(".")
    if namespace == "torch.Tensor":
        sources: tuple[tuple[str, str], ...] = (("_C/__init__.pyi", "TensorBase"),)
    elif namespace == "torch":
        sources = (("_C/_VariableFunctions.pyi", ""),)
    elif namespace == "torch.nn.functional":
        sources = (("nn/functional.pyi", ""), ("_C/_nn.pyi", ""))
    else:
        return
    for path, owner in sources:
        nodes = _stub(path, owner).get(leaf, ())
        for node in nodes:
            yield _from_node(leaf, node)
        if nodes:
            return


@cache
def _stub(path: str, owner: str) -> dict[str, list[ast.FunctionDef]]:
    body = ast.parse((_TORCH / path).read_text(encoding="utf-8")).body
    if owner:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    return functions


def _from_node(leaf: str, node: ast.FunctionDef) -> Signature:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    params = [
        Param(
            argument.arg,
            _kind(argument.annotation),
            optional=index >= first_default,
            nullable=_takes_none(argument.annotation),
        )
        for index, argument in enumerate(positional)
    ]
    if arguments.vararg:
        params.append(Param(arguments.vararg.arg, _kind(arguments.vararg.annotation), variadic=True, optional=True))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        params.append(Param(argument.arg, _kind(argument.annotation), keyword_only=True, optional=default is not None))
    if params and params[0].name == "self" and params[0].kind == "unknown":
        params[0] = Param("self", "tensor")
    names = tuple(param.name for param in params if not param.keyword_only)
    returns = ast.unparse(node.returns) if node.returns else ""
    return Signature(tuple(params), returns, scalar_first=(leaf, names) in _scalar_first_forms())


def _takes_none(annotation: ast.expr | None) -> bool:
    return annotation is not None and "None" in ast.unparse(annotation)


def _kind(annotation: ast.expr | None) -> str:
    if annotation is None:
        return "unknown"
    text = ast.unparse(annotation)
    plain = {part.strip() for part in text.split("|")} - {"None"}
    if plain == {"_dtype"}:
        return "dtype"
    if "Tensor" not in text:
        return "unknown" if "Any" in text or "dtype" in text or text == "_symint" else "other"
    if "[Tensor" in text:
        return "tensors"
    return "tensor" if plain == {"Tensor"} else "either"


@lru_cache(maxsize=1)
def _scalar_first_forms() -> frozenset[tuple[str, tuple[str, ...]]]:
    """The deprecated overloads by name and positional parameters, as deprecated.yaml lists them."""
    forms = set()
    for entry in yaml.safe_load(_DEPRECATED.read_text(encoding="utf-8")):
        name, _, rest = entry["name"].partition("(")
        parts = rest.partition(") ->")[0].partition(", *")[0].split(", ")
        forms.add((name, tuple(part.split()[-1] for part in parts)))
    return frozenset(forms)


def default_of(function: Callable[..., Any], param: str) -> Any:
    """A Python function's default for a parameter, None where there is none or it cannot be told."""
    try:
        default = inspect.signature(function).parameters[param].default
    except (TypeError, ValueError, KeyError):
        return None
    return None if default is inspect.Parameter.empty else default


def scalar_first_keyword(name: str) -> str:
    """The keyword that the number of the deprecated scalar-first form belongs to (``alpha`` of ``add_``), or ""."""
    leaf = name.rpartition(".")[2]
    for form, params in sorted(_scalar_first_forms()):
        if form == leaf:
            return next(param for param in params if param != "self")
    return ""


def _from_inspection(name: str, function: Callable[..., Any]) -> Iterator[Signature]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    kinds = inspect.Parameter
    found = list(signature.parameters.values())
    if found and all(param.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD) for param in found):
        documented = [*_from_docstring(name, function)]
        if documented:
            yield from documented
            return
    params = tuple(
        Param(
            param.name,
            keyword_only=param.kind is kinds.KEYWORD_ONLY,
            variadic=param.kind is kinds.VAR_POSITIONAL,
            optional=param.default is not kinds.empty or param.kind is kinds.VAR_POSITIONAL,
        )
        for param in found
        if param.kind is not kinds.VAR_KEYWORD
    )
    yield Signature(params)


def _from_docstring(name: str, function: Callable[..., Any]) -> Iterator[Signature]:
    leaf = name.rpartition(".")[2]
    is_method = name.startswith("torch.Tensor.")
    for line in (getattr(function, "__doc__", None) or "").strip().splitlines():
        match = _CALL.match(line.strip())
        if match is None or match[1] != leaf:
            continue
        text = re.sub(r"\b(?:bool|int|float|Tensor|str|Number)\s+(\w+\s*=)", r"\1", match[2])
        try:
            tree = ast.parse(f"def {leaf}({text}): ...").body[0]
        except SyntaxError:
            continue
        if isinstance(tree, ast.FunctionDef):
            found = _from_node(leaf, tree)
            yield Signature((Param("self", "tensor"), *found.params), found.returns) if is_method else found
