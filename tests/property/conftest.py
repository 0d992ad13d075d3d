"""Shows the seed of the property tests and what they counted."""

from __future__ import annotations

from collections import Counter

import profiles
import pytest

profiles.load()

_TALLIES: dict[str, Counter[str]] = {}


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Counter[str]:
    """Counts that a property wants shown at the end of the session."""
    return _TALLIES.setdefault(request.node.name, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seed and what was counted."""
    terminalreporter.write_line(f"property tests: profile {profiles.PROFILE}, INPLACE_FIX_SEED={profiles.SEED}")
    for name, counts in _TALLIES.items():
        told = ", ".join(f"{what} {count}" for what, count in counts.most_common())
        terminalreporter.write_line(f"  {name}: {told}")
