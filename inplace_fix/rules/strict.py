"""IPF101: an in-place write to a value that is part of a graph (policy strict)."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule
from inplace_fix.rules.policy import needs_grad, noted, tensor_writes

CODE, NAME = "IPF101", "inplace-on-graph"


def check(facts: Facts) -> Iterator[Fault]:
    """Every write to a tensor that needs grad and is no leaf, right or not."""
    writes = (write for write in tensor_writes(facts) if needs_grad(write))
    yield from noted(CODE, NAME, writes, "`{text}` changes a value in place that is part of a graph")


RULE = Rule(
    CODE,
    NAME,
    "an in-place write to a value that is part of a graph (policy strict)",
    """# IPF101: inplace-on-graph

## What it does
Notes every in-place write to a tensor that requires grad and is not a leaf, also where it is right.

## Why it is wrong
It need not be wrong: this is the cautious rule of many guides. `y = x * 2.0; y.add_(5.0)` works, since the product by
a number saves nothing.

## Example
```python
x = torch.ones(2, requires_grad=True)
y = x * 2.0
y.add_(5.0)
```

## Use instead
```python
x = torch.ones(2, requires_grad=True)
y = x * 2.0
y = y.add(5.0)
```

## When the fix is safe
Out of place, where nobody reads the old memory through another name.
""",
    check,
    (
        Example(
            "import torch\n\nx = torch.ones(2, requires_grad=True)\ny = x * 2.0\ny.add_(5.0)\n",
            "import torch\n\nx = torch.ones(2, requires_grad=True)\ny = x * 2.0\ny = y.add(5.0)\n",
        ),
    ),
    policy="strict",
)
