"""The project's files that a file imports, found from its import statements so that no folder need be walked."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from inplace_fix.source import SourceError, read_source

# parsing a whole file for its imports would cost as much as all the rest of reading it
IMPORT = re.compile(
    r"^[ \t]*(?:import[ \t][^\n;#]+|from[ \t]+[.\w]+[ \t]+import[ \t]*(?:\([^)]*\)|[^\n;#(]+))", re.MULTILINE
)
MOST_FILES = 200  # what is imported through more than this many files seldom matters, and each costs a parse


def imported(path: Path, text: str, root: Path, texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """The files below ``root`` that a file imports, directly or through others, nearest first.

    ``texts`` are the texts of files that are open in the editor.
    """
    found: dict[Path, None] = {}
    queue = [(path, text)]
    while queue and len(found) < MOST_FILES:
        importer, source = queue.pop(0)
        for module in modules(source):
            for file in files_of(module, importer, root):
                if file != path and file not in found:
                    found[file] = None
                    queue.append((file, texts[file] if file in texts else _saved(file)))
    return tuple(found)


@lru_cache(maxsize=512)
def modules(text: str) -> tuple[str, ...]:
    """The modules that a text imports, relative ones with their dots, also where the rest does not parse.

    An import that stands in a string is taken for one: a file too many is harmless here.
    """
    names: dict[str, None] = {}
    for match in IMPORT.finditer(text):
        with contextlib.suppress(SyntaxError, ValueError):
            for node in ast.parse(match.group().strip()).body:
                names.update(dict.fromkeys(_named(node)))
    return tuple(names)


def _named(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = "." * node.level + (node.module or "")
        joint = "" if base.endswith(".") else "."
        yield base
        yield from (f"{base}{joint}{alias.name}" for alias in node.names)


def files_of(module: str, importer: Path, root: Path) -> Iterator[Path]:
    """The file of a module, and of the packages above it, as seen from an importing file."""
    bare = module.lstrip(".")
    level = len(module) - len(bare)
    if level:
        folders = [importer.parents[level - 1]] if level <= len(importer.parents) else []
    else:
        above = [folder for folder in importer.parents if folder == root or root in folder.parents]
        folders = [*(above or [importer.parent]), root / "src"]
    parts = [part for part in bare.split(".") if part]
    for folder in folders:
        hits = list(_below(folder, parts))
        if hits:
            yield from hits
            return


def _below(folder: Path, parts: list[str]) -> Iterator[Path]:
    for count in range(1 if parts else 0, len(parts) + 1):
        place = folder.joinpath(*parts[:count])
        file = place.with_name(f"{place.name}.py") if count else place / "__init__.py"
        for candidate in (file, place / "__init__.py"):
            if candidate.is_file():
                yield candidate
                break


def _saved(path: Path) -> str:
    try:
        return read_source(path).text
    except SourceError:
        return ""
