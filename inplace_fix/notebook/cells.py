"""The cells of a notebook file, and new source put into them without touching any other byte of the JSON."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from pathlib import Path

SPACE = re.compile(r"[ \t\r\n]*")
SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null|NaN|-?Infinity")


class NotebookError(Exception):
    """A notebook that cannot be read or written back; ``message`` says why and what to do."""

    def __init__(self, path: Path, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value with its extent: a dict, a list, a string, or None for a number or literal that nobody asks for."""

    value: dict[str, Node] | list[Node] | str | None
    start: int
    end: int

    def get(self, *keys: str) -> Node | None:
        """The member below a path of keys, None where there is none."""
        node: Node | None = self
        for key in keys:
            node = node.value.get(key) if node is not None and isinstance(node.value, dict) else None
        return node

    def text(self, *keys: str) -> str:
        """The string below a path of keys, "" where there is none."""
        node = self.get(*keys)
        return node.value if node is not None and isinstance(node.value, str) else ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell: its number among all cells, from 1, its source, and where that stands in the file."""

    number: int
    source: str
    node: Node


@dataclass(frozen=True, slots=True)
class Cells:
    """The code cells of a notebook and the JSON text that they stand in; none where the language is not Python."""

    path: Path
    json: str
    cells: tuple[Cell, ...]

    def with_sources(self, sources: Mapping[int, str]) -> str:
        """The JSON text with new source for some cells, by number; all else stays to the byte."""
        text = self.json
        for cell in sorted(self.cells, key=lambda cell: cell.node.start, reverse=True):
            new = sources.get(cell.number, cell.source)
            if new != cell.source:
                text = text[: cell.node.start] + self._encoded(cell.node, new) + text[cell.node.end :]
        return text

    def _encoded(self, node: Node, new: str) -> str:
        """A source as JSON in the layout of the old one; lines that did not change keep their very spelling."""
        lines = re.findall(r"[^\n]*\n|[^\n]+", new)
        if not isinstance(node.value, list):
            return self._string(new)
        if not node.value:
            return f"[{', '.join(map(self._string, lines))}]"
        old = [item.value if isinstance(item.value, str) else "" for item in node.value]
        first, last = node.value[0], node.value[-1]
        opening, closing = self.json[node.start : first.start], self.json[last.end : node.end]
        comma = self.json[first.end : node.value[1].start] if len(node.value) > 1 else "," + opening[1:]
        items: list[str] = []
        for tag, a, b, c, d in difflib.SequenceMatcher(None, old, lines, autojunk=False).get_opcodes():
            if tag == "equal":
                items += [self.json[item.start : item.end] for item in node.value[a:b]]
            else:
                items += map(self._string, lines[c:d])
        return opening + comma.join(items) + closing

    def _string(self, value: str) -> str:
        """A string as the rest of the file would spell it: escaped only where everything else is."""
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:  # half of a surrogate pair can only stand as an escape
            return json.dumps(value)
        return json.dumps(value, ensure_ascii=self.json.isascii())


def read_cells(text: str, path: Path) -> Cells:
    """The code cells of a notebook's JSON text. Raises NotebookError."""
    try:
        root = _whole(text)
    except JSONDecodeError as error:
        raise NotebookError(path, f"is no valid notebook: {error.msg}", error.lineno) from None
    except RecursionError:
        raise NotebookError(path, "is no valid notebook: it is nested too deeply") from None
    listed = root.get("cells")
    if listed is None and root.get("worksheets") is not None:
        raise NotebookError(
            path, "is in notebook format 3; convert it first, with `jupyter nbconvert --to notebook --inplace`"
        )
    if listed is None or not isinstance(listed.value, list):
        raise NotebookError(path, "is no notebook: it has no list of cells")
    language = root.text("metadata", "language_info", "name") or root.text("metadata", "kernelspec", "language")
    if language.lower() not in ("", "python", "ipython", "python3"):
        return Cells(path, text, ())
    return Cells(path, text, tuple(_code_cells(listed.value)))


def _code_cells(nodes: list[Node]) -> list[Cell]:
    cells = []
    for number, node in enumerate(nodes, 1):
        source = node.get("source")
        if node.text("cell_type") != "code" or source is None:
            continue
        if isinstance(source.value, str):
            cells.append(Cell(number, source.value, source))
        elif isinstance(source.value, list) and all(isinstance(item.value, str) for item in source.value):
            cells.append(
                Cell(number, "".join(item.value for item in source.value if isinstance(item.value, str)), source)
            )
    return cells


def _whole(text: str) -> Node:
    node = _value(text, _skip(text, 0))
    end = _skip(text, node.end)
    if end != len(text):
        raise JSONDecodeError("something follows the end of the JSON", text, end)
    return node


def _skip(text: str, index: int) -> int:
    found = SPACE.match(text, index)
    return found.end() if found else index


def _value(text: str, start: int) -> Node:
    opening = text[start : start + 1]
    if opening == '"':
        value, end = scanstring(text, start + 1, True)
        return Node(value, start, end)
    if opening == "{":
        return _object(text, start)
    if opening == "[":
        return _array(text, start)
    scalar = SCALAR.match(text, start)
    if scalar is None:
        raise JSONDecodeError("a value is missing", text, start)
    return Node(None, start, scalar.end())


def _object(text: str, start: int) -> Node:
    members: dict[str, Node] = {}
    index = _skip(text, start + 1)
    if text[index : index + 1] == "}":
        return Node(members, start, index + 1)
    while True:
        if text[index : index + 1] != '"':
            raise JSONDecodeError("a key is missing", text, index)
        key, index = scanstring(text, index + 1, True)
        index = _skip(text, index)
        if text[index : index + 1] != ":":
            raise JSONDecodeError("a colon is missing", text, index)
        member = members[key] = _value(text, _skip(text, index + 1))
        index = _skip(text, member.end)
        if text[index : index + 1] == "}":
            return Node(members, start, index + 1)
        if text[index : index + 1] != ",":
            raise JSONDecodeError("a comma is missing", text, index)
        index = _skip(text, index + 1)


def _array(text: str, start: int) -> Node:
    items: list[Node] = []
    index = _skip(text, start + 1)
    if text[index : index + 1] == "]":
        return Node(items, start, index + 1)
    while True:
        items.append(_value(text, index))
        index = _skip(text, items[-1].end)
        if text[index : index + 1] == "]":
            return Node(items, start, index + 1)
        if text[index : index + 1] != ",":
            raise JSONDecodeError("a comma is missing", text, index)
        index = _skip(text, index + 1)
