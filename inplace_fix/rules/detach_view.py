"""IPF012: detach_ is called on a view."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, text_of

CODE, NAME = "IPF012", "view-detached-in-place"


def check(facts: Facts) -> Iterator[Fault]:
    """``detach_`` on views."""
    for observation in observed(facts, "detach-view"):
        site = observation.site
        message = f"`{text_of(site)}` detaches a view in place: PyTorch refuses"
        why = "it would have to change the history of the base"
        yield Fault(finding(CODE, NAME, site, message, True, why=why), site, observation=observation)


RULE = Rule(
    CODE,
    NAME,
    "detach_ is called on a view",
    """# IPF012: view-detached-in-place

## What it does
Finds `detach_()` on a view.

## Why it is wrong
"Can't detach views in-place. Use detach() instead."

## Example
```python
state = torch.zeros(2, 3)
h, c = state.unbind(0)
h.detach_()
```

## Use instead
```python
state = torch.zeros(2, 3)
h, c = state.unbind(0)
h = h.detach()
```

## When the fix is safe
The name is bound to the detached tensor.
""",
    check,
    (
        Example(
            "import torch\n\nstate = torch.zeros(2, 3)\nh, c = state.unbind(0)\nh.detach_()\n",
            "import torch\n\nstate = torch.zeros(2, 3)\nh, c = state.unbind(0)\nh = h.detach()\n",
        ),
    ),
)
