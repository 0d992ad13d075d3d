"""IPF017: two tensors come to share memory that one of them is later written through."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, related, text_of

CODE, NAME = "IPF017", "memory-shared-by-assignment"


def check(facts: Facts) -> Iterator[Fault]:
    """``p.data = q.data`` and ``vector_to_parameters`` without a copy."""
    for observation in observed(facts, "shared-data", "shared-vector"):
        site = observation.site
        message = f"`{text_of(site)}` makes two tensors share one memory, which is written later: both change"
        more = [related(text, place) for text, place in observation.related]
        why = "assigning .data does not copy; use copy_ under no_grad, or a clone"
        yield Fault(finding(CODE, NAME, site, message, False, more=more, why=why), site, observation=observation)


RULE = Rule(
    CODE,
    NAME,
    "two tensors come to share memory that one of them is later written through",
    """# IPF017: memory-shared-by-assignment

## What it does
Finds `p.data = q.data` and `vector_to_parameters(v, ...)` where the shared memory is written later.

## Why it is wrong
Neither copies. An optimizer step on one then moves the other, and nothing reports it.

## Example
```python
a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(a.parameters(), lr=0.1)
b.weight.data = a.weight.data
a(torch.ones(1, 2)).sum().backward()
optimizer.step()
```

## Use instead
```python
a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(a.parameters(), lr=0.1)
b.weight.data.copy_(a.weight.data)
a(torch.ones(1, 2)).sum().backward()
optimizer.step()
```

## When the fix is safe
Never applied unasked: weights may be tied on purpose.
""",
    check,
    (
        Example(
            """\
import torch

a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(a.parameters(), lr=0.1)
b.weight.data = a.weight.data
a(torch.ones(1, 2)).sum().backward()
optimizer.step()
""",
            """\
import torch

a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(a.parameters(), lr=0.1)
b.weight.data.copy_(a.weight.data)
a(torch.ones(1, 2)).sum().backward()
optimizer.step()
""",
        ),
    ),
)
