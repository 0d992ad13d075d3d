"""IPF018: an in-place flag overwrites a value that is still read elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, related, text_of

CODE, NAME = "IPF018", "kept-value-overwritten"


def check(facts: Facts) -> Iterator[Fault]:
    """In-place activations on a value that somebody else goes on reading, and scaled aliases of optimizer state."""
    for observation in observed(facts, "kept-overwritten"):
        site = observation.site
        message = f"`{text_of(site)}` overwrites a value that is read again through another name"
        more = [related(text, place) for text, place in observation.related]
        why = "no error is raised: the other reader silently gets the changed value"
        writes = (observation.write,) if observation.write is not None else ()
        yield Fault(
            finding(CODE, NAME, site, message, False, more=more, why=why), site, writes, observation=observation
        )


RULE = Rule(
    CODE,
    NAME,
    "an in-place flag overwrites a value that is still read elsewhere",
    """# IPF018: kept-value-overwritten

## What it does
Finds `inplace=True` activations whose input is read again later through another name (a skip connection, a kept
feature).

## Why it is wrong
The reader gets the activated value instead of the one it was given. No error is raised, since autograd does not need
the value.

## Example
```python
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Linear(2, 2))

    def forward(self, x):
        return x + self.branch(x)
```

## Use instead
```python
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2))

    def forward(self, x):
        return x + self.branch(x)
```

## When the fix is safe
Offered as unsafe: the program runs today, and its results change.
""",
    check,
    (
        Example(
            """\
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Linear(2, 2))

    def forward(self, x):
        return x + self.branch(x)
""",
            """\
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2))

    def forward(self, x):
        return x + self.branch(x)
""",
        ),
    ),
)
