"""The options that several commands share, as typer's annotated types."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from inplace_fix.report.formats import Format


class Policy(str, enum.Enum):
    """What counts as a finding."""

    UNSAFE = "unsafe"
    STRICT = "strict"
    ALL = "all"


class Level(str, enum.Enum):
    """How much a traced run records."""

    WRITES = "writes"
    FULL = "full"


Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="Files and folders (default: the current folder); `-` is standard input.", show_default=False),
]
StdinFilename = Annotated[
    Path | None,
    typer.Option("--stdin-filename", metavar="NAME", help="The name that standard input is reported under."),
]
Trace = Annotated[
    list[Path] | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Evidence of a traced run (`inplace-fix trace`); may be repeated.",
        show_default=False,
    ),
]
PolicyOption = Annotated[
    Policy | None,
    typer.Option(
        "--policy",
        help="What to look for: what is wrong (`unsafe`, the default), also every write to a non-leaf that requires "
        "grad (`strict`), every in-place write that has a counterpart (`all`).",
        show_default=False,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="CODES", help="Only these rules (codes or prefixes, with commas).", show_default=False
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="CODES", help="Not these rules.", show_default=False)
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude", metavar="PATTERN", help="Leave out files that match, in gitignore's language.", show_default=False
    ),
]
ForceExclude = Annotated[
    bool, typer.Option("--force-exclude", help="Leave out excluded files even where they are named (for pre-commit).")
]
Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Read settings from this file.", show_default=False)
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Read no settings file.")]
BaselineOption = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help="Leave out the findings that this baseline holds.", show_default=False
    ),
]
DiffFrom = Annotated[
    str | None,
    typer.Option(
        "--diff-from",
        metavar="REV",
        help="Only findings on lines that changed since a git revision.",
        show_default=False,
    ),
]
FormatOption = Annotated[Format, typer.Option("--output-format", help="How findings are written.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="End with status 0 although something was found.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also name the places that were not followed to the end.")
]
