"""What the editor's own settings ask for, beside those of the project's file."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inplace_fix.engine import POLICIES

SECTION = "inplace-fix"
KEYS = ("policy", "select", "ignore", "evidence", "config", "debounce")
EVIDENCE = "evidence.json"  # where `inplace-fix trace` puts it unless told otherwise


@dataclass(frozen=True, slots=True)
class Preferences:
    """Settings of the editor; they win over the project's, as options on the command line do.

    ``evidence`` are files of traced runs, relative to the folder of the work; None takes ``evidence.json`` there if it
    exists. ``debounce`` is how many seconds of rest follow a key stroke before the text is analysed.
    """

    policy: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    evidence: tuple[str, ...] | None = None
    config: str | None = None
    debounce: float = 0.2

    def evidence_files(self, root: Path) -> tuple[Path, ...]:
        """The evidence files to read; those that the editor names must exist, the usual one may."""
        if self.evidence is not None:
            return tuple(root / name for name in self.evidence)
        return (root / EVIDENCE,) if (root / EVIDENCE).is_file() else ()


def parse(value: object) -> tuple[Preferences, list[str]]:
    """The editor's settings and what is wrong with them, in words; what is wrong is left at its default."""
    if isinstance(value, Mapping) and isinstance(value.get(SECTION), Mapping):
        value = value[SECTION]  # some editors send the section, some what is in it
    if value is None:
        return Preferences(), []
    if not isinstance(value, Mapping):
        return Preferences(), [f"the editor's settings for {SECTION} must be a table, not {value!r}"]
    found: dict[str, object] = {}
    wrong: list[str] = []
    for key, content in value.items():
        try:
            found[str(key)] = _read(str(key), content)
        except ValueError as error:
            wrong.append(f"the editor's setting `{SECTION}.{key}` {error}")
    return Preferences(**found), wrong  # type: ignore[arg-type]


def _read(key: str, content: object) -> object:
    if key not in KEYS:
        near = difflib.get_close_matches(key, KEYS, n=1)
        raise ValueError(f"is unknown; {f'did you mean `{near[0]}`?' if near else 'known are ' + ', '.join(KEYS)}")
    if key == "debounce":
        if isinstance(content, bool) or not isinstance(content, int | float) or not 0 <= content <= 10_000:
            raise ValueError(f"must be milliseconds from 0 to 10000, not {content!r}")
        return content / 1000
    if key in ("policy", "config"):
        if not isinstance(content, str) or (key == "policy" and content not in POLICIES):
            wanted = f"one of {', '.join(POLICIES)}" if key == "policy" else "a file's name"
            raise ValueError(f"must be {wanted}, not {content!r}")
        return content
    if not isinstance(content, list) or not all(isinstance(item, str) for item in content):
        raise ValueError(f"must be a list of strings, not {content!r}")
    return tuple(content) if key == "evidence" else tuple(code.strip().upper() for code in content)
