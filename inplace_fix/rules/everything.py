"""IPF102: an in-place write to a tensor (policy all)."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule
from inplace_fix.rules.policy import noted, tensor_writes

CODE, NAME = "IPF102", "inplace-write"


def check(facts: Facts) -> Iterator[Fault]:
    """Every in-place write to a tensor."""
    yield from noted(CODE, NAME, tensor_writes(facts), "`{text}` writes to a tensor in place")


RULE = Rule(
    CODE,
    NAME,
    "an in-place write to a tensor (policy all)",
    """# IPF102: inplace-write

## What it does
Notes every in-place write to a tensor, for code that has to run under `torch.func`, `vmap` or export.

## Why it is wrong
It is not wrong. Function transforms and exporters want code without in-place writes.

## Example
```python
def scale(x: torch.Tensor):
    y = x.clone()
    y.mul_(2)
    return y
```

## Use instead
```python
def scale(x: torch.Tensor):
    y = x.clone()
    y = y.mul(2)
    return y
```

## When the fix is safe
Out of place, where nobody reads the old memory through another name. What has no counterpart is left and listed.
""",
    check,
    (
        Example(
            "import torch\n\ndef scale(x: torch.Tensor):\n    y = x.clone()\n    y.mul_(2)\n    return y\n",
            "import torch\n\ndef scale(x: torch.Tensor):\n    y = x.clone()\n    y = y.mul(2)\n    return y\n",
        ),
    ),
    policy="all",
)
