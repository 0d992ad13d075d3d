"""Rewrites of PyTorch source, one module per form: pure syntax, every other byte of the file kept.

``codemods.apply(source, steps)`` carries out a plan; each module can also be run through LibCST's own command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codemods.steps import CannotRewrite, Span, Step

if TYPE_CHECKING:
    from codemods.rewriting import Rewriter

__all__ = ["CannotRewrite", "Span", "Step", "apply", "prepare"]


def apply(source: str, steps: Sequence[Step]) -> str:
    """The source with all steps carried out; raises ``CannotRewrite`` with place and reason, and then none is.

    ``source`` is the decoded text without a byte order mark, with its own line ends. Everything outside the
    constructs that the steps name stays as it is, to the byte. Imports LibCST.
    """
    return prepare(source).apply(steps) if steps else source


def prepare(source: str) -> Rewriter:
    """The source parsed once, for many calls of ``.apply(steps)`` from the same text; raises ``CannotRewrite``."""
    from codemods.rewriting import Rewriter

    return Rewriter(source)
