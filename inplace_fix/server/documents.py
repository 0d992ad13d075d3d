"""What the editor has open, as values: a file, or a notebook with its cells joined into one text."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import Workspace

from inplace_fix.notebook import Notebook, read_notebook
from inplace_fix.notebook.magics import mask

Stamp = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One text document of the editor: a file, or one cell of a notebook."""

    uri: str
    version: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """An open file or notebook at one moment; ``parts`` are its text documents, by number of the cell or under None.

    ``text`` is what is analysed. ``broken`` are cells that do not parse and are left out of it.
    """

    key: str
    path: Path
    text: str
    parts: Mapping[int | None, Part]
    notebook: Notebook | None = None
    broken: frozenset[int] = frozenset()

    @property
    def stamp(self) -> Stamp:
        """What changes whenever the text does."""
        return tuple((part.uri, part.version) for part in self.parts.values())


def open_file(workspace: Workspace, uri: str, root: Path) -> Document | None:
    """An open file, None where it is not open."""
    found = workspace.text_documents.get(unquote(uri))
    if found is None:
        return None
    part = Part(found.uri, found.version, found.source)
    return Document(found.uri, path_of(found.uri, root), found.source, {None: part})


def open_notebook(workspace: Workspace, uri: str, root: Path, before: Document | None) -> Document | None:
    """An open notebook, None where it is not open; ``before`` is given back where its cells are still the same.

    Raises NotebookError where the cells cannot be joined.
    """
    found = workspace.get_notebook_document(notebook_uri=uri)
    if found is None:
        return None
    parts: dict[int | None, Part] = {}
    cells: list[Mapping[str, object]] = []
    for number, cell in enumerate(found.cells, 1):
        text = workspace.text_documents.get(unquote(cell.document))
        code = cell.kind == types.NotebookCellKind.Code and text is not None
        source = text.source if text is not None and code else ""
        cells.append({"cell_type": "code" if code else "markdown", "source": source})
        if text is not None and code:
            parts[number] = Part(cell.document, text.version, source)
    if before is not None and list(before.parts.items()) == list(parts.items()):
        return before
    path = path_of(uri, root)
    notebook = read_notebook(json.dumps({"cells": cells}).encode(), path)
    broken = frozenset(number for number, source in notebook.cell_texts().items() if not _parses(source))
    return Document(found.uri, path, notebook.text, parts, notebook, broken)


def path_of(uri: str, root: Path) -> Path:
    """The path of a document; one that was never saved gets a path in the folder of the work."""
    path = to_fs_path(uri)
    if path is not None:
        return Path(path)
    name = uri.rpartition("/")[2].rpartition(":")[2] or "untitled"
    return root / (name if name.endswith((".py", ".ipynb")) else f"{name}.py")


def root_of(workspace: Workspace, folders: Sequence[types.WorkspaceFolder]) -> Path:
    """The folder that the editor works in: the first that it named, else the current one."""
    paths = [to_fs_path(folder.uri) for folder in folders]
    first = next((path for path in (*paths, workspace.root_path) if path), None)
    return Path(first) if first else Path.cwd()


def _parses(source: str) -> bool:
    try:
        ast.parse(mask(source, "hidden").text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
