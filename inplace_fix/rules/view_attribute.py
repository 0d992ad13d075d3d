"""IPF013: an augmented assignment to an attribute that is a view."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, text_of

CODE, NAME = "IPF013", "view-attribute-assigned"


def check(facts: Facts) -> Iterator[Fault]:
    """``x.T += v``."""
    for observation in observed(facts, "view-attribute"):
        site = observation.site
        message = f"`{text_of(site)}` writes in place and then fails, since the attribute cannot be assigned"
        why = "Python stores the result of += back into the attribute, and a tensor does not let it"
        yield Fault(finding(CODE, NAME, site, message, True, why=why), site, observation=observation)


RULE = Rule(
    CODE,
    NAME,
    "an augmented assignment to an attribute that is a view",
    """# IPF013: view-attribute-assigned

## What it does
Finds augmented assignments to `.T`, `.mT`, `.real` and the like.

## Why it is wrong
The write is done first, then AttributeError is raised: the statement has both worked and failed.

## Example
```python
x = torch.zeros(2, 3)
x.T += 1.0
```

## Use instead
```python
x = torch.zeros(2, 3)
x.T.add_(1.0)
```

## When the fix is safe
The in-place method does the same write and assigns nothing.
""",
    check,
    (
        Example(
            "import torch\n\nx = torch.zeros(2, 3)\nx.T += 1.0\n",
            "import torch\n\nx = torch.zeros(2, 3)\nx.T.add_(1.0)\n",
        ),
    ),
)
