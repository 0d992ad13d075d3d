"""Methods of Python's lists and dicts, as far as values flow through them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from inplace_fix.analysis import indexing, iteration
from inplace_fix.analysis.conditions import Cell, Condition
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.names import read_cell
from inplace_fix.analysis.values import NONE, Const, DictValue, ListValue, Unknown, Value, choice

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments


def list_method(m: Machine, owner: ListValue, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """``owner.name(...)`` of a list, a tuple, a set or a deque."""
    if name in ("append", "add", "appendleft"):
        for value in arguments.values():
            if len(owner.cells) < 32:
                cell = Cell("item", "[...]")
                cell.write(m.condition, value, m.now())
                owner.cells.append(cell)
                m.keep(cell, value)
        return NONE
    if name == "extend":
        indexing.extend(m, owner, arguments.first(), node)
    elif name == "insert":
        inserted = arguments.get(1, "object")
        if inserted is not None:
            owner.cells.insert(0, iteration.kept(m, inserted))
    elif name in ("pop", "popleft"):
        if owner.cells:
            return read_cell(m, owner.cells[0 if name == "popleft" else -1], node)
        return Unknown()
    elif name == "clear":
        if not m.condition:
            owner.cells.clear()
    elif name == "copy":
        return ListValue(list(owner.cells), owner.kind, owner.exact)
    elif name == "reverse":
        owner.cells.reverse()
    else:
        return Unknown()
    return NONE


def dict_method(m: Machine, owner: DictValue, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """``owner.name(...)`` of a dict."""
    cells = [*owner.cells.items(), *([(None, owner.rest)] if owner.rest.bound else [])]
    if name == "items":
        pairs: list[Value] = []
        for key, cell in cells[:16]:
            pairs.append(ListValue([iteration.slot(m, Const(key) if key is not None else Unknown()), cell], "tuple"))
        return iteration.listed(m, pairs, exact=not owner.rest.bound)
    if name == "values":
        return ListValue([cell for _, cell in cells[:16]], "list", not owner.rest.bound)
    if name == "keys":
        return iteration.listed(m, [Const(key) if key is not None else Unknown() for key, _ in cells[:16]])
    if name in ("get", "pop", "setdefault"):
        key = indexing.hashable(arguments.first())
        if key is not None and key in owner.cells:
            return read_cell(m, owner.cells[key], node)
        default = arguments.get(1, "default")
        if name == "setdefault" and default is not None:
            indexing.set_item(m, owner, arguments.first(), default)
            return default
        if owner.rest.bound:
            return read_cell(m, owner.rest, node)
        if key is None and owner.cells:
            branch = m.branch()
            found: list[tuple[Condition, Value]] = [({branch: 99}, default or NONE)]
            slots = list(owner.cells.values())[:5]
            found[:0] = [({branch: i}, read_cell(m, cell, node)) for i, cell in enumerate(slots)]
            return choice(found)
        return default or NONE
    if name == "update":
        for value in arguments.values():
            indexing.update(m, owner, value)
        return NONE
    if name == "copy":
        return DictValue(dict(owner.cells), owner.rest)
    if name == "clear":
        owner.cells.clear()
        return NONE
    return Unknown()
