"""Rewrites of PyTorch source, one module per form: pure syntax, every other byte of the file kept.

``codemods.apply(source, steps)`` carries out a plan; each module can also be run through LibCST's own command line.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemods.steps import CannotRewrite, Span, Step

__all__ = ["CannotRewrite", "Span", "Step", "apply"]


def apply(source: str, steps: Sequence[Step]) -> str:
    """The source with all steps carried out; raises ``CannotRewrite`` with place and reason, and then none is.

    ``source`` is the decoded text without a byte order mark, with its own line ends. Everything outside the
    constructs that the steps name stays as it is, to the byte. Imports LibCST.
    """
    from codemods.rewriting import rewrite

    return rewrite(source, steps)
