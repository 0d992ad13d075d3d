"""IPF015: rows of a tensor are swapped by a tuple assignment."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, text_of

CODE, NAME = "IPF015", "rows-swapped-through-views"


def check(facts: Facts) -> Iterator[Fault]:
    """``x[i], x[j] = x[j], x[i]``."""
    for observation in observed(facts, "row-swap"):
        site = observation.site
        message = (
            f"`{text_of(site)}` does not swap: the right-hand sides are views, and the first store changes the second"
        )
        why = "both rows end up equal, without an error"
        yield Fault(finding(CODE, NAME, site, message, False, why=why), site, observation=observation)


RULE = Rule(
    CODE,
    NAME,
    "rows of a tensor are swapped by a tuple assignment",
    """# IPF015: rows-swapped-through-views

## What it does
Finds `x[i], x[j] = x[j], x[i]` on a tensor.

## Why it is wrong
Basic indexing gives views. The first store overwrites what the second one reads; one row is lost without an error.

## Example
```python
x = torch.arange(6.0).view(3, 2)
x[0], x[1] = x[1], x[0]
```

## Use instead
```python
x = torch.arange(6.0).view(3, 2)
x[[0, 1]] = x[[1, 0]]
```

## When the fix is safe
Offered as unsafe: the program ran, and its results change.
""",
    check,
    (
        Example(
            "import torch\n\nx = torch.arange(6.0).view(3, 2)\nx[0], x[1] = x[1], x[0]\n",
            "import torch\n\nx = torch.arange(6.0).view(3, 2)\nx[[0, 1]] = x[[1, 0]]\n",
        ),
    ),
)
