"""What the two policy rules share: every in-place write that is no fault, as a note."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Form, Write
from inplace_fix.analysis.values import Tri
from inplace_fix.catalog.model import Kind
from inplace_fix.nouns import Severity
from inplace_fix.rules.base import Fault, finding, grouped, target_of, text_of

LEFT = (Form.OPTIMIZER, Form.IMPLICIT, Form.DATA, Form.ARRAY)


def tensor_writes(facts: Facts) -> Iterator[Write]:
    """The writes in the source to what is surely a tensor."""
    for write in facts.writes:
        if write.form not in LEFT and write.tensor.sure and write.op is not None and write.op.kind is not Kind.FLAG:
            yield write


def needs_grad(write: Write) -> bool:
    """Whether the receiver is part of a graph and no leaf."""
    return write.grad is not False and write.requires is not Tri.NO and not write.leaf


def noted(code: str, name: str, writes: Iterator[Write], message: str) -> Iterator[Fault]:
    """One note a construct."""
    for same in grouped(writes):
        site = target_of(same[0])
        text = message.format(text=text_of(site))
        yield Fault(finding(code, name, site, text, False, severity=Severity.NOTE), site, tuple(same))
