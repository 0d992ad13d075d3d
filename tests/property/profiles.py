"""How many examples the property tests draw, and the seed that repeats them.

    INPLACE_FIX_PROFILE=deep INPLACE_FIX_SEED=7 pytest tests/property

``ci`` (the default) draws the same few examples each time, so that it fails when the behaviour breaks and only then;
``deep`` draws thousands (``INPLACE_FIX_EXAMPLES``), from a new seed unless one is given.
"""

from __future__ import annotations

import os
import secrets

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("INPLACE_FIX_PROFILE", "ci")
SEED = int(os.environ.get("INPLACE_FIX_SEED", "20" if PROFILE == "ci" else str(secrets.randbelow(2**32))))
EXAMPLES = {"ci": 150, "deep": int(os.environ.get("INPLACE_FIX_EXAMPLES", "3000"))}


def load() -> None:
    """Make the profile that the environment asks for the current one."""
    for name, examples in EXAMPLES.items():
        settings.register_profile(
            name, max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
    settings.load_profile(PROFILE)
