"""The catalog as text: JSON with one entry a line, fields that hold their default left out."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from inplace_fix.catalog.model import Catalog, ModuleFacts, Op, Save


def text_of(catalog: Catalog) -> str:
    """The data file's text; sorted, so that the same catalog gives the same bytes."""
    sections = [
        _section("ops", {name: op_fields(op) for name, op in catalog.ops.items()}),
        _section("modules", {name: _module_fields(facts) for name, facts in catalog.modules.items()}),
        _section("attributes", {name: result.value for name, result in catalog.attributes.items()}),
        _section("operators", dict(catalog.operators)),
    ]
    return f'{{"torch":{json.dumps(catalog.torch_version)},\n' + ",\n".join(sections) + "}\n"


def _section(title: str, entries: dict[str, Any]) -> str:
    lines = ",\n".join(f"{_compact(name)}:{_compact(entry)}" for name, entry in sorted(entries.items()))
    return f"{_compact(title)}:{{\n{lines}\n}}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def op_fields(op: Op) -> dict[str, Any]:
    """The fields of an entry that differ from their default, without the name."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(op):
        value = getattr(op, field.name)
        if field.name == "name" or value == field.default:
            continue
        found[field.name] = _plain(value)
    return found


def _module_fields(facts: ModuleFacts) -> dict[str, Any]:
    return {
        "init": list(facts.init),
        "parameters": list(facts.parameters),
        "buffers": list(facts.buffers),
        "train": op_fields(facts.train),
        "evaluate": op_fields(facts.evaluate),
        **({} if facts.inplace is None else {"inplace": facts.inplace}),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Save):
        fields: list[Any] = [value.what]
        if value.needs or not value.always:
            fields.append(list(value.needs))
        return fields if value.always else [*fields, False]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return getattr(value, "value", value)
