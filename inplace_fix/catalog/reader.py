"""Reads the shipped data file; entries become objects when they are first asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from inplace_fix.catalog.model import Catalog, Kind, ModuleFacts, Op, Result, Save

DATA = Path(__file__).with_name("data.json")

Entry = TypeVar("Entry")


class _Lazy(Mapping[str, Entry], Generic[Entry]):
    """A mapping that decodes an entry on first use, so that loading costs no more than reading the JSON."""

    def __init__(self, raw: Mapping[str, Any], decode: Callable[[str, Any], Entry]) -> None:
        self._raw = raw
        self._decode = decode
        self._ready: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        entry = self._ready.get(name)
        if entry is None:
            entry = self._ready[name] = self._decode(name, self._raw[name])
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, name: object) -> bool:
        return name in self._raw


@lru_cache(maxsize=1)
def load() -> Catalog:
    """The shipped catalog; read once a process. Imports no torch."""
    return parse(DATA.read_text(encoding="utf-8"))


def parse(text: str) -> Catalog:
    """A catalog from the text of a data file."""
    raw = json.loads(text)
    return Catalog(
        torch_version=raw["torch"],
        ops=_Lazy(raw["ops"], _op),
        modules=_Lazy(raw["modules"], _module),
        attributes={name: Result(value) for name, value in raw["attributes"].items()},
        operators=raw["operators"],
    )


def _op(name: str, raw: Mapping[str, Any]) -> Op:
    fields: dict[str, Any] = dict(raw)
    for key in ("params", "differentiable", "writes", "overloads", "given", "may_be_given", "required"):
        if key in fields:
            fields[key] = tuple(fields[key])
    for key in ("saves", "inplace_saves"):
        if key in fields:
            fields[key] = tuple(_save(*entry) for entry in fields[key])
    if "result" in fields:
        fields["result"] = Result(fields["result"])
    if "kind" in fields:
        fields["kind"] = Kind(fields["kind"])
    return Op(name=name, **fields)


def _save(what: str, needs: list[str] | tuple[()] = (), always: bool = True) -> Save:
    return Save(what, tuple(needs), always)


def _module(name: str, raw: Mapping[str, Any]) -> ModuleFacts:
    return ModuleFacts(
        name=name,
        init=tuple(raw["init"]),
        parameters=tuple(raw["parameters"]),
        buffers=tuple(raw["buffers"]),
        train=_op(name, raw["train"]),
        evaluate=_op(name, raw["evaluate"]),
        inplace=raw.get("inplace"),
    )
