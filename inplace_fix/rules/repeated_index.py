"""IPF016: an indexed += may lose contributions to repeated indices."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, text_of

CODE, NAME = "IPF016", "repeated-index-lost"


def check(facts: Facts) -> Iterator[Fault]:
    """``x[index] += v`` with indices that may repeat."""
    for observation in observed(facts, "repeated-index"):
        site = observation.site
        message = (
            f"`{text_of(site)}` keeps one contribution where an index is there twice; use index_add_ or "
            "index_put_(accumulate=True)"
        )
        why = "the values are gathered, added to and put back: the last put wins, in value and in gradient"
        yield Fault(finding(CODE, NAME, site, message, False, why=why), site, observation=observation)


RULE = Rule(
    CODE,
    NAME,
    "an indexed += may lose contributions to repeated indices",
    """# IPF016: repeated-index-lost

## What it does
Finds accumulation into a fresh tensor by `x[index] += v` with a tensor of indices that may hold a place twice.

## Why it is wrong
The operation gathers, adds and puts back. With repeated indices one put wins and the other contributions are lost, in
value and in gradient.

## Example
```python
def degree(source, weight, nodes: int):
    total = torch.zeros(nodes)
    total[source] += weight.sigmoid()
    return total
```

## Use instead
```python
def degree(source, weight, nodes: int):
    total = torch.zeros(nodes)
    total.index_add_(0, source, weight.sigmoid())
    return total
```

## When the fix is safe
Never applied unasked: indices that never repeat are right as they are.
""",
    check,
    (
        Example(
            """\
import torch

def degree(source, weight, nodes: int):
    total = torch.zeros(nodes)
    total[source] += weight.sigmoid()
    return total
""",
            """\
import torch

def degree(source, weight, nodes: int):
    total = torch.zeros(nodes)
    total.index_add_(0, source, weight.sigmoid())
    return total
""",
        ),
    ),
)
