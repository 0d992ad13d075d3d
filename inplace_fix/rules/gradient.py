"""IPF009: a hook or a custom backward writes to the gradient it is handed."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, target_of, text_of

CODE, NAME = "IPF009", "gradient-written"


def check(facts: Facts) -> Iterator[Fault]:
    """Writes to gradients in flight."""
    for writes in grouped(w for w in facts.writes if w.tensor.role == "incoming"):
        site = target_of(writes[0])
        message = (
            f"`{text_of(site)}` writes to a gradient that other branches of the graph may share: wrong gradients "
            "without an error"
        )
        why = "an addition hands one gradient tensor to both of its inputs, and gradients have no version check"
        yield Fault(finding(CODE, NAME, site, message, True, why=why), site, tuple(writes))


RULE = Rule(
    CODE,
    NAME,
    "a hook or a custom backward writes to the gradient it is handed",
    """# IPF009: gradient-written

## What it does
Finds in-place writes to the gradient that a tensor hook or the backward of a custom Function is given.

## Why it is wrong
Autograd may hand the same gradient tensor to several nodes. Writing to it changes the gradient of a sibling,
depending on the order in which the nodes run, and nothing checks it.

## Example
```python
x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda grad: grad.clamp_(-1, 1))
```

## Use instead
```python
x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda grad: grad.clamp(-1, 1))
```

## When the fix is safe
Out of place: a hook returns the new gradient.
""",
    check,
    (
        Example(
            """\
import torch

x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda grad: grad.clamp_(-1, 1))
""",
            """\
import torch

x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda grad: grad.clamp(-1, 1))
""",
        ),
    ),
)
