"""The files under analysis as one project: modules found by name, so that calls are followed across files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from inplace_fix.analysis.conditions import Cell
from inplace_fix.analysis.reach import Names, Outline, outline
from inplace_fix.analysis.seen import Seen
from inplace_fix.analysis.units import Unit, parse

if TYPE_CHECKING:
    from inplace_fix.analysis.machine import Machine


def module_name(path: Path) -> tuple[str, bool]:
    """The dotted name a file is imported by, going up while folders are packages, and whether it is a package."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists() and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.parent.name, path.stem == "__init__"


class Project:
    """Units by path and by module name; a module beside the analysed ones is read on demand.

    ``read`` gives the text of a path (raising OSError or UnicodeError); ``known`` maps module names of files that may
    be followed to their paths.
    """

    def __init__(self, read: Callable[[Path], str]) -> None:
        self._read = read
        self._paths: dict[str, Path] = {}
        self._units: dict[Path, Unit] = {}
        self._packages: set[Path] = set()
        self._known: set[Path] = set()
        self.scopes: dict[Path, dict[str, Cell]] = {}  # globals of imported modules, worked out once
        self.definer: Machine | None = None  # runs what does not depend on who asks
        self._outlines: dict[Path, Outline] = {}
        self.seen: Seen | None = None  # what runs showed, where it may be used
        self.reaching: dict[Path, Names] = {}  # of each file that others import from, what of it may write
        self.harmless: dict[tuple[Path, str], bool] = {}  # functions tried on their own

    def know(self, paths: Iterable[Path]) -> None:
        """Let imports of these files be followed."""
        for path in paths:
            name, package = module_name(path)
            self._paths.setdefault(name, path)
            self._known.add(path)
            if package:
                self._packages.add(path)

    def as_seen(self, seen: Seen) -> Project:
        """The same files in the light of runs; shares what was parsed, and no value that was worked out."""
        other = Project(self._read)
        other._paths, other._units, other._packages = self._paths, self._units, self._packages
        other._known, other._outlines, other.seen = self._known, self._outlines, seen
        return other

    def add(self, path: Path, text: str | None = None) -> Unit:
        """Parse a file (raises SyntaxError, ValueError, OSError) and keep it."""
        unit = self._units.get(path)
        if unit is None:
            name, package = module_name(path)
            unit = parse(path, self._read(path) if text is None else text, name, package)
            self._units[path] = unit
            self._paths.setdefault(name, path)
        return unit

    def outline(self, unit: Unit) -> Outline:
        """The outline of a unit, made once."""
        found = self._outlines.get(unit.path)
        if found is None:
            found = self._outlines[unit.path] = outline(unit)
        return found

    def forget(self, path: Path) -> None:
        """Drop a unit, so that memory does not grow with the number of files."""
        self._units.pop(path, None)

    def find(self, module: str, importer: Unit) -> Unit | None:
        """The unit of a module as imported from ``importer``, None where it is not the project's or does not parse."""
        path = self._paths.get(module)
        if path is None and "." not in module:
            # a sibling script is imported by its bare name
            sibling = importer.path.with_name(module + ".py")
            path = sibling if sibling in self._known else None
        if path is None:
            return None
        try:
            return self.add(path)
        except (SyntaxError, ValueError, OSError):
            return None

    @staticmethod
    def absolute(name: str | None, level: int, importer: Unit) -> str:
        """The absolute module name behind ``from <level dots><name> import``."""
        if not level:
            return name or ""
        parts = importer.module.split(".")
        drop = level - 1 if importer.is_package else level
        base = parts[: len(parts) - drop] if drop else parts
        return ".".join([*base, *([name] if name else [])])
