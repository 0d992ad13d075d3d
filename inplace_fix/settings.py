"""Settings from ``[tool.inplace-fix]`` in the nearest ``pyproject.toml``, or from ``inplace-fix.toml``."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inplace_fix.engine import POLICIES
from inplace_fix.nouns import Severity
from inplace_fix.refusal import RefusalError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OWN_FILE, SHARED_FILE, TABLE = "inplace-fix.toml", "pyproject.toml", "tool.inplace-fix"
KEYS = ("select", "ignore", "per-file-ignores", "exclude", "policy", "severity", "torch-version", "writes")


class SettingsError(RefusalError):
    """Settings that cannot be used; the message names the file, the key and what to write instead."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project asks for; the command line overrides it.

    ``exclude`` and the keys of ``per_file_ignores`` are patterns in gitignore's language, relative to ``folder``.
    ``severity`` maps prefixes of rule codes to the severity to report. ``writes`` names functions that write to an
    argument in place, with the argument's position from 0. ``torch_version`` is the version the project runs with.
    """

    folder: Path = field(default_factory=Path.cwd)
    file: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    policy: str = "unsafe"
    severity: Mapping[str, Severity] = field(default_factory=dict)
    torch_version: str = ""
    writes: Mapping[str, int] = field(default_factory=dict)


def find(paths: Sequence[Path]) -> Settings:
    """The settings nearest above what all ``paths`` have in common; defaults where no file holds any.

    Raises SettingsError.
    """
    start = _common_folder(paths)
    for folder in (start, *start.parents):
        if (folder / OWN_FILE).is_file():
            return load(folder / OWN_FILE)
        if (folder / SHARED_FILE).is_file():
            found = _table_of(folder / SHARED_FILE)
            if found is not None:
                return parse(found, folder / SHARED_FILE)
    return Settings(folder=start)


def load(file: Path) -> Settings:
    """The settings in one file that must hold some. Raises SettingsError."""
    table = _table_of(file)
    if table is None:
        raise SettingsError(f"{file}: holds no [{TABLE}] table")
    return parse(table, file)


def parse(table: Mapping[str, object], file: Path) -> Settings:
    """Check a table key by key. Raises SettingsError for an unknown key or a value of the wrong kind."""
    reader = _Reader(file)
    for key in table:
        if key not in KEYS:
            raise reader.unknown(key, KEYS)
    return Settings(
        folder=file.parent,
        file=file,
        select=reader.codes("select", table.get("select", [])),
        ignore=reader.codes("ignore", table.get("ignore", [])),
        per_file_ignores={
            pattern: reader.codes(f"per-file-ignores.{pattern!r}", codes)
            for pattern, codes in reader.table("per-file-ignores", table.get("per-file-ignores", {})).items()
        },
        exclude=reader.words("exclude", table.get("exclude", [])),
        policy=reader.choice("policy", table.get("policy", "unsafe"), POLICIES),
        severity={
            code: Severity(reader.choice(f"severity.{code}", level, [level.value for level in Severity]))
            for code, level in reader.table("severity", table.get("severity", {})).items()
        },
        torch_version=reader.word("torch-version", table.get("torch-version", "")),
        writes={
            name: reader.position(f"writes.{name!r}", position)
            for name, position in reader.table("writes", table.get("writes", {})).items()
        },
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes values of known kinds and says which file and key held something else."""

    file: Path

    def unknown(self, key: str, known: Iterable[str]) -> SettingsError:
        """The complaint about a key that does not exist, with the one that was probably meant."""
        near = difflib.get_close_matches(key.replace("_", "-"), list(known), n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"
        return SettingsError(f"{self.file}: unknown key `{key}` in [{self._table()}]; {hint}")

    def wrong(self, key: str, wanted: str, value: object) -> SettingsError:
        """The complaint about a value of the wrong kind."""
        return SettingsError(f"{self.file}: `{key}` in [{self._table()}] must be {wanted}, not {value!r}")

    def word(self, key: str, value: object) -> str:
        """A string."""
        if not isinstance(value, str):
            raise self.wrong(key, "a string", value)
        return value

    def words(self, key: str, value: object) -> tuple[str, ...]:
        """A list of strings."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of strings", value)
        return tuple(value)

    def codes(self, key: str, value: object) -> tuple[str, ...]:
        """A list of rule codes or prefixes of them."""
        return tuple(code.strip().upper() for code in self.words(key, value))

    def choice(self, key: str, value: object, choices: Sequence[str]) -> str:
        """One of a few words."""
        if not isinstance(value, str) or value not in choices:
            near = difflib.get_close_matches(str(value), choices, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise self.wrong(key, f"one of {', '.join(map(repr, choices))}{hint}", value)
        return value

    def table(self, key: str, value: object) -> Mapping[str, object]:
        """A table."""
        if not isinstance(value, dict):
            raise self.wrong(key, "a table", value)
        return value

    def position(self, key: str, value: object) -> int:
        """The position of an argument."""
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(key, "the position of an argument (0, 1, ...)", value)
        return value

    def _table(self) -> str:
        return TABLE if self.file.name == SHARED_FILE else self.file.name


def _table_of(file: Path) -> Mapping[str, object] | None:
    """The table of a file: all of ``inplace-fix.toml``, or ``[tool.inplace-fix]``; None where there is none."""
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8"))
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: is no valid TOML: {error}") from None
    if file.name != SHARED_FILE:
        return document
    tool = document.get("tool", {})
    table = tool.get("inplace-fix") if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return table
    raise SettingsError(f"{file}: `{TABLE}` must be a table, not {table!r}")


def _common_folder(paths: Sequence[Path]) -> Path:
    folders = [os.path.abspath(path if path.is_dir() else path.parent) for path in paths] or [os.getcwd()]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # two drives have nothing in common
        return Path(folders[0])
