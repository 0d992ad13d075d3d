"""IPF010: a custom Function changes a tensor after passing it to save_for_backward."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, text_of

CODE, NAME = "IPF010", "edited-after-save"


def check(facts: Facts) -> Iterator[Fault]:
    """Writes between ``save_for_backward`` and the return of forward."""
    for observation in observed(facts, "edit-after-save"):
        site = observation.site
        message = (
            f"`{text_of(site)}` changes a tensor after save_for_backward took it: backward reads the changed value"
        )
        why = "the tensors are packed, with their version, when forward returns; an edit before that is not noticed"
        writes = (observation.write,) if observation.write is not None else ()
        yield Fault(finding(CODE, NAME, site, message, True, why=why), site, writes, observation=observation)


RULE = Rule(
    CODE,
    NAME,
    "a custom Function changes a tensor after passing it to save_for_backward",
    """# IPF010: edited-after-save

## What it does
Finds writes to a tensor between `ctx.save_for_backward` and the return of `forward`.

## Why it is wrong
`save_for_backward` only notes the tensors. They are packed when forward returns, so the edit is never noticed and the
backward computes from the changed value.

## Example
```python
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        e.add_(1.0)
        return e.log()

    @staticmethod
    def backward(ctx, grad):
        (e,) = ctx.saved_tensors
        return grad * e


Twice.apply(torch.ones(2, requires_grad=True))
```

## Use instead
```python
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        e = e.add(1.0)
        return e.log()

    @staticmethod
    def backward(ctx, grad):
        (e,) = ctx.saved_tensors
        return grad * e


Twice.apply(torch.ones(2, requires_grad=True))
```

## When the fix is safe
Out of place: the saved tensor keeps the value it was saved with.
""",
    check,
    (
        Example(
            """\
import torch

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        e.add_(1.0)
        return e.log()

    @staticmethod
    def backward(ctx, grad):
        (e,) = ctx.saved_tensors
        return grad * e


Twice.apply(torch.ones(2, requires_grad=True))
""",
            """\
import torch

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        e = e.add(1.0)
        return e.log()

    @staticmethod
    def backward(ctx, grad):
        (e,) = ctx.saved_tensors
        return grad * e


Twice.apply(torch.ones(2, requires_grad=True))
""",
        ),
    ),
)
