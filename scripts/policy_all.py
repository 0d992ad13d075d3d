"""Rewrites a copy of a package with a policy and counts the sites rewritten and left, with the reasons.

    python scripts/policy_all.py path/to/package [--into FOLDER] [--policy all] [--safe-only] [--reasons 20]

The package itself is only read. Counts come from the JSON of ``inplace-fix check`` before and after.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOOL = (sys.executable, "-m", "inplace_fix")
IGNORED = shutil.ignore_patterns("__pycache__", ".git")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a rewrite did: counts of sites before and after, and of the reasons for what is left."""

    before: int
    after: int
    files: int
    reasons: Counter[str]
    notes: str

    @property
    def rewritten(self) -> int:
        """How many sites are gone."""
        return self.before - self.after


def rewrite(folder: Path, policy: str, *, unsafe: bool = True, tool: Sequence[str] = TOOL) -> Rewrite:
    """Rewrite the Python files below ``folder`` where they stand.

    Raises ``RuntimeError`` with the tool's own words where it failed.
    """
    before = _findings(folder, policy, tool)
    texts = {path: path.read_bytes() for path in folder.rglob("*.py")}
    done = _call([*tool, "fix", "--policy", policy, *(["--unsafe-fixes"] if unsafe else []), str(folder)])
    changed = sum(path.read_bytes() != text for path, text in texts.items())
    after = _findings(folder, policy, tool)
    return Rewrite(len(before), len(after), changed, Counter(_reason(finding) for finding in after), done.stderr)


def _findings(folder: Path, policy: str, tool: Sequence[str]) -> list[Mapping[str, Any]]:
    done = _call([*tool, "check", "--policy", policy, "--output-format", "json", str(folder)])
    sites: dict[tuple[str, int, int], Mapping[str, Any]] = {}
    for finding in json.loads(done.stdout):  # several rules may speak of one site
        place = finding["location"]
        sites.setdefault((finding["filename"], place["row"], place["column"]), finding)
    return list(sites.values())


def _call(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done


def _reason(finding: Mapping[str, Any]) -> str:
    """Why a site is left: the tool's reason where it gives one, else what kind of fix nobody applied."""
    fix = finding.get("fix")
    words = finding["no_fix"] or (f"{fix['applicability']}, not applied: {fix['message']}" if fix else "")
    return words or str(finding["message"])


def report(result: Rewrite, most: int) -> str:
    """The counts in lines of text, the ``most`` frequent reasons first."""
    lines = [f"{result.before} sites, {result.rewritten} rewritten in {result.files} files, {result.after} left"]
    lines += [f"{count:6}  {reason}" for reason, count in result.reasons.most_common(most)]
    return "\n".join(lines)


def main() -> int:
    """Copy, rewrite, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, help="the package's folder")
    parser.add_argument("--into", type=Path, help="where the rewritten copy goes and stays (default: thrown away)")
    parser.add_argument("--policy", default="all")
    parser.add_argument("--safe-only", action="store_true", help="leave out fixes that rest on an assumption")
    parser.add_argument("--reasons", type=int, default=20, help="how many reasons to print")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.into or Path(scratch)) / options.package.resolve().name
        shutil.copytree(options.package, folder, ignore=IGNORED, symlinks=True)
        print(report(rewrite(folder, options.policy, unsafe=not options.safe_only), options.reasons))
    return 0


if __name__ == "__main__":
    sys.exit(main())
