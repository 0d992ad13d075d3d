"""Facts and evidence to findings, one module per fault family."""

from __future__ import annotations


def pages(code: str) -> str | None:
    """The page of a rule by its code or name, None where there is no such rule."""
    from inplace_fix.rules.base import rules

    wanted = code.lower()
    return next((rule.page for rule in rules() if wanted in (rule.code.lower(), rule.name)), None)
