"""The server's tests need pygls, which comes with the extras ``server`` and ``dev``."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("pygls") else ["test_*.py"]
