"""The catalog in plain words: what ``inplace-fix explain add_`` prints of an operation, a module or an operator."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from inplace_fix.catalog.model import Catalog, Kind, ModuleFacts, Op, Result, Save
from inplace_fix.catalog.reader import load

_RESULTS = {
    Result.FRESH: "Returns a new tensor.",
    Result.VIEW: "Returns a view: it shares the memory of `{first}`.",
    Result.VIEWS: (
        "Returns several views made by one operation; autograd forbids in-place writes to them, and to views of them."
    ),
    Result.SINGLE_VIEWS: "Returns several views of `{first}`; each may be written to.",
    Result.SAME: "Returns `{first}` itself, the same object.",
    Result.VIEW_OR_FRESH: "Returns a view of `{first}` where the layout allows, else a new tensor.",
    Result.SAME_OR_FRESH: "Returns `{first}` itself where nothing changes, else a new tensor.",
    Result.EXPANDED: "Returns a view in which several elements can share one address; most writes to it are refused.",
    Result.OVERLAPPING: "Returns a view whose elements can overlap; a write to one can change others.",
    Result.DETACHED: "Returns a tensor that shares memory and version counter with `{first}` and has no gradient.",
    Result.UNVERSIONED: "Returns a tensor that shares the memory of `{first}` but not its version counter.",
    Result.ARRAY: "Shares memory with an array or a buffer: writes through that go unseen by autograd.",
    Result.NONE: "Returns no tensor.",
    Result.VALUE: "Returns a Python value, no tensor.",
}

_KINDS = {
    Kind.PARTIAL: "Writes some elements and keeps the rest.",
    Kind.OVERWRITE: "The old contents do not matter.",
    Kind.RANDOM: "Overwrites with random numbers; the old contents do not matter.",
    Kind.VIEW_META: "Changes shape and strides, not the data; the version counter moves all the same.",
    Kind.STORAGE_META: "Changes the storage itself.",
    Kind.FLAG: "Changes what autograd knows of the tensor, not its data.",
    Kind.CALLBACK: "Calls Python for every element; refuses tensors that require grad.",
}

_SOURCES = {
    "op_db": "run on torch's own samples (op_db)",
    "module_db": "run on torch's own samples (module_db)",
    "written": "run on samples of ours",
    "declared": "read from torch's declarations (native_functions.yaml, derivatives.yaml); not run",
}

_PREFIXES = (
    "",
    "torch.Tensor.",
    "torch.",
    "torch.nn.functional.",
    "torch.nn.",
    "torch.linalg.",
    "torch.special.",
    "torch.fft.",
    "torch.nn.init.",
    "torch.nn.utils.",
)
_SHORT = {"F.": "torch.nn.functional.", "nn.": "torch.nn.", "Tensor.": "torch.Tensor.", "init.": "torch.nn.init."}


def describe(name: str) -> str | None:
    """Everything that the catalog holds under a name, in words; None where it holds nothing.

    A name may be short (``add_``, ``relu``, ``nn.Dropout``, ``F.relu``), qualified, or an operator (``+=``).
    """
    catalog = load()
    blocks: dict[str, list[str]] = {}
    for op in _ops(catalog, name):
        blocks.setdefault(_of_op(catalog, op), []).append(f"{op.name}({_params(op)})")
    for facts in _modules(catalog, name):
        blocks.setdefault(_of_module(facts), []).append(f"{facts.name}({', '.join(facts.init)})")
    if not blocks:
        return None
    parts = ["\n".join(titles) + "\n" + body for body, titles in blocks.items()]
    return "\n\n".join([*parts, f"Measured with torch {catalog.torch_version}."])


def suggest(name: str) -> list[str]:
    """Names in the catalog that look like a name it does not hold, nearest first."""
    catalog = load()
    wanted = name.rpartition(".")[2].lower()
    leaves: dict[str, str] = {}
    for full in (*catalog.ops, *catalog.modules):
        leaf = full.rpartition(".")[2]
        if full.rpartition(".")[0] not in catalog.ops:
            leaves.setdefault(leaf.lower(), leaf)
    return [leaves[found] for found in difflib.get_close_matches(wanted, leaves, n=5, cutoff=0.7)]


def _full_names(name: str) -> Iterator[str]:
    for short, full in _SHORT.items():
        if name.startswith(short):
            yield full + name.removeprefix(short)
            return
    for prefix in _PREFIXES:
        yield prefix + name


def _ops(catalog: Catalog, name: str) -> Iterator[Op]:
    behind = catalog.operators.get(name)
    for full in [behind] if behind else _full_names(name):
        if full in catalog.ops:
            yield catalog.ops[full]


def _modules(catalog: Catalog, name: str) -> Iterator[ModuleFacts]:
    for full in _full_names(name):
        if full in catalog.modules:
            yield catalog.modules[full]


def _params(op: Op) -> str:
    return ", ".join(f"*{param}" if param == op.variadic else param for param in op.params)


def _of_op(catalog: Catalog, op: Op) -> str:
    lines = [f"    {line}" for line in _lines(op)]
    for name in op.overloads:
        overload = catalog.ops[name]
        lines.append(f"    {_overload(op, overload)}:")
        lines += [f"        {line}" for line in (_result(overload), *_saves(overload.saves, ""))]
    lines.append(f"    Source: {_SOURCES[op.source]}.")
    return "\n".join(lines)


def _overload(op: Op, overload: Op) -> str:
    if overload.params != op.params:
        return f"As ({', '.join(overload.params)})"
    numbers = [param for param in (*op.differentiable, *(save.what for save in op.saves)) if param in op.params]
    absent = [param for param in dict.fromkeys(numbers) if param not in (*overload.given, *overload.may_be_given)]
    tensors = _listed(overload.given, "and")
    return f"With a tensor as {tensors}" + (f" and none as {_listed(absent, 'or')}" if absent else "")


def _lines(op: Op) -> Iterator[str]:
    if op.flag:
        yield f"With `{op.flag}` off{' (the default)' if not op.flag_default else ''}:"
        yield from (f"    {line}" for line in (_result(op), *_saves(op.saves, "")))
        yield f"With `{op.flag}` on:"
        yield f"    {_writes(op)}"
        yield from (f"    {line}" for line in _saves(op.inplace_saves, ""))
    else:
        if op.writes:
            yield _writes(op)
        if not op.overloads:
            yield _result(op)
            yield from _saves(op.saves, "of its own" if op.in_place else "")
    if op.kind in _KINDS:
        yield _KINDS[op.kind]
    if op.broken:
        yield "Has no derivative in place: backward through it always raises."
    if op.out_of_place:
        args = "..." if len(op.params) > 1 else ""
        yield "Out of place: " + op.out_of_place.format(x="x", args=args).replace(", )", ")")
        if op.can_change_dtype:
            yield "That can give another dtype than `x` has: add .to(x.dtype) where the operands' dtypes can differ."
    if op.scalar_first:
        yield f"Takes a number first in a deprecated form; write it as {op.scalar_first}=."
    if op.out:
        yield "Takes out=, which writes to the tensor given there and refuses tensors that require grad."
    if op.random:
        yield "Draws random numbers."


def _writes(op: Op) -> str:
    unseen = " without moving the version counter, so that autograd does not see it" if op.silent else " in place"
    return f"Writes {_listed(op.writes, 'and')}{unseen}."


def _result(op: Op) -> str:
    text = _RESULTS[op.result].format(first=op.params[0] if op.params else "the argument")
    return f"Returns {op.results} new tensors." if op.result is Result.FRESH and op.results > 1 else text


def _saves(saves: Sequence[Save], copies: str) -> Iterator[str]:
    if not saves:
        yield "Saves nothing for backward that code can reach" + (
            " (old values it needs are copied)." if copies else "."
        )
    groups: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for save in saves:
        groups.setdefault((save.needs, save.always), []).append(save.what)
    for (needs, always), names in groups.items():
        what = _listed([name for name in names if name != "result"], "and") if names != ["result"] else ""
        if "result" in names:
            what = f"{what} and its result" if what else "its result"
        when = f" where {_listed(needs, 'or')} requires grad" if needs else ""
        often = "" if always else ", in some cases (layout, shape or arguments)"
        yield f"Saves {what} for backward{when}{often}."


def _of_module(facts: ModuleFacts) -> str:
    train, evaluate = list(_lines(facts.train)), list(_lines(facts.evaluate))
    if train == evaluate:
        lines = [f"    {line}" for line in train]
    else:
        lines = ["    In training:", *(f"        {line}" for line in train)]
        lines += ["    In evaluation:", *(f"        {line}" for line in evaluate)]
    if "inplace" in facts.init and facts.inplace is None:
        lines.append("    Takes inplace= but ignores it.")
    return "\n".join([*lines, f"    Source: {_SOURCES[facts.train.source]}."])


def _listed(names: Sequence[str], word: str) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {word} {quoted[-1]}" if quoted else "nothing"
