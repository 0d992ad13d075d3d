"""The standard streams a command talks to, as one value, so that tests can hand in their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Streams:
    """Standard input, output and error."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
