"""Chores: ``nox -s checks`` runs every check in the current environment, ``nox -s tests`` other Pythons, no torch."""

from __future__ import annotations

import sys
from pathlib import Path

import nox

nox.options.sessions = ["checks"]
nox.options.error_on_missing_interpreters = False

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
ENVIRONMENT = {"OMP_NUM_THREADS": "1"}  # the tests' tensors are tiny; more threads only get in each other's way


@nox.session(venv_backend="none")
def checks(session: nox.Session) -> None:
    """Style, types, import directions, and every test; needs the ``dev`` extra and torch."""
    python = sys.executable
    session.run(python, "-m", "ruff", "check", ".")
    session.run(python, "-m", "ruff", "format", "--check", ".")
    session.run(python, "-m", "mypy")
    session.run(str(Path(python).with_name("lint-imports")))
    session.run(python, "-m", "pytest", *session.posargs, env=ENVIRONMENT)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The tests that need no torch; those that do are skipped."""
    session.install(".[server]", "pytest", "pytest-timeout", "hypothesis", "jsonschema", "numpy")
    session.run("pytest", *session.posargs, env=ENVIRONMENT)
