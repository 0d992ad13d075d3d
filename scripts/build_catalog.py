"""Build the data file of the catalog from the installed torch: ``python scripts/build_catalog.py [--check]``.

The same torch gives the same bytes. ``--check`` builds without writing and fails where the shipped file differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from inplace_fix.catalog import reader
from scripts.catalog_build import encode, everything


def main(argv: list[str]) -> int:
    """Build, then write or compare; prints the seconds that it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the shipped file and write nothing")
    options = parser.parse_args(argv)
    started = time.perf_counter()
    warnings.simplefilter("ignore")
    text = encode.text_of(everything.build())
    print(f"built {text.count(chr(10))} lines in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if not options.check:
        reader.DATA.write_text(text, encoding="utf-8")
        return 0
    if reader.DATA.read_text(encoding="utf-8") == text:
        return 0
    print(f"{reader.DATA.name} differs from what this torch gives: run scripts/build_catalog.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
