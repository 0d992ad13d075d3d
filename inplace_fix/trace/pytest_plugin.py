"""``pytest --inplace-trace=FILE``: the tests run traced, and the faults they show are reported at the end.

Loaded by pytest in every project where the package is installed; without the option it does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from inplace_fix.trace.observations import Evidence
    from inplace_fix.trace.process import Traced


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("inplace-fix", "in-place operations that break or corrupt gradients")
    group.addoption("--inplace-trace", metavar="FILE", help="trace the tests and leave evidence in FILE")
    group.addoption(
        "--inplace-trace-level", choices=("writes", "full"), default="writes", help="how closely to look (writes)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin the trace; the workers of pytest-xdist are traced as child processes of this one."""
    output = config.getoption("--inplace-trace")
    if output and not hasattr(config, "workerinput"):
        config.pluginmanager.register(
            _Tracing(Path(output), config.getoption("--inplace-trace-level")), "inplace-trace"
        )


class _Tracing:
    """The hooks of a traced session."""

    def __init__(self, output: Path, level: str) -> None:
        from inplace_fix.trace.keeper import Keeper
        from inplace_fix.trace.process import Traced
        from inplace_fix.trace.runner import refusal

        root = Path.cwd()
        reason = refusal(output, root)
        if reason:
            import pytest

            raise pytest.UsageError(f"--inplace-trace: {reason}")
        self._output = output
        self._root = root
        self._seen: Evidence | None = None
        self._trouble = ""
        self._traced: Traced = Traced(Keeper(output, root, os.getpid()), level)
        self._traced.begin()

    def pytest_exception_interact(self, call: Any) -> None:
        """A test failed: its error was not handled by the test."""
        if call.excinfo is not None:
            self._traced.ended_by(call.excinfo.value)

    def pytest_sessionfinish(self) -> None:
        """Write the evidence."""
        self._traced.end()
        try:
            self._seen = self._traced.keeper.finish()
        except OSError as error:
            self._trouble = f"cannot write {self._output}: {error.strerror or error}"

    def pytest_terminal_summary(self, terminalreporter: Any) -> Iterator[None] | None:
        """Say what was seen."""
        from inplace_fix.trace.report import report

        if self._trouble:
            terminalreporter.section("inplace-fix")
            terminalreporter.write_line(self._trouble)
        if self._seen is not None:
            text = report(self._seen, self._root, self._output)
            if text:
                terminalreporter.section("inplace-fix")
                terminalreporter.write(text)
        return None
