"""``python -m inplace_fix.trace``: the traced run without the rest of the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the options, run the program, give its exit status."""
    parser = argparse.ArgumentParser(prog="inplace-fix trace", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("inplace-fix-trace.json"), help="the evidence file")
    parser.add_argument("--level", choices=("writes", "full"), default="writes")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m does")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the script or module and its arguments")
    options = parser.parse_args(arguments)

    from inplace_fix.trace.runner import run

    return run(options.command, module=options.module, level=options.level, output=options.output)


if __name__ == "__main__":
    sys.exit(main())
