"""IPF019: the result of an in-place operation does not fit its receiver."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.rules.base import Example, Fault, Rule, finding, observed, text_of

CODE, NAME = "IPF019", "result-does-not-fit"


def check(facts: Facts) -> Iterator[Fault]:
    """True division of integers in place, vectors added into a scalar, writes to a copy that reshape made."""
    for observation in observed(facts, *MESSAGES):
        site = observation.site
        message = MESSAGES[observation.kind].format(text=text_of(site))
        yield Fault(
            finding(CODE, NAME, site, message, observation.certain, why=WHY[observation.kind]),
            site,
            observation=observation,
        )


MESSAGES = {
    "integer-division": "`{text}` divides an integer tensor in place: the result is floating and PyTorch refuses",
    "scalar-grows": "`{text}` adds a tensor with more dimensions into a 0-dim tensor in place: PyTorch refuses",
    "lost-write": "`{text}` writes to the result of reshape, which is a copy for some layouts: the write may be lost",
}
WHY = {
    "integer-division": (
        "use //= or div(rounding_mode=...) for integers, or a floating tensor: which is meant is for you to say"
    ),
    "scalar-grows": "an in-place operation cannot change the shape of its receiver; reduce the operand first",
    "lost-write": (
        "reshape gives a view where the layout allows and a copy otherwise, without a warning; use view, or "
        "write to the tensor itself"
    ),
}


RULE = Rule(
    CODE,
    NAME,
    "the result of an in-place operation does not fit its receiver",
    """# IPF019: result-does-not-fit

## What it does
Finds in-place true division of integer tensors, in-place sums of a vector into a 0-dim tensor, and writes through
`reshape` that may go to a copy.

## Why it is wrong
The first two raise at once. The last loses the write without a word where the tensor is not contiguous.

## Example
```python
count = torch.arange(4)
count /= 2
```

## Use instead
```python
count = torch.arange(4)
count //= 2
```

## When the fix is safe
Never applied unasked: rounding, reducing or copying is a choice about meaning.
""",
    check,
    (
        Example(
            "import torch\n\ncount = torch.arange(4)\ncount /= 2\n",
            "import torch\n\ncount = torch.arange(4)\ncount //= 2\n",
        ),
    ),
)
