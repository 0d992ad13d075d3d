"""IPF014: an in-place operation that has no derivative."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.analysis.values import Tri
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, target_of, text_of

CODE, NAME = "IPF014", "no-inplace-derivative"


def check(facts: Facts) -> Iterator[Fault]:
    """In-place operations whose backward is not implemented."""
    for writes in grouped(
        w for w in facts.writes if w.op is not None and w.op.broken and w.requires is not Tri.NO and w.grad is True
    ):
        write = writes[0]
        site = target_of(write)
        message = f"`{text_of(site)}` has no derivative in its in-place form: backward raises"
        why = "the out-of-place form has one"
        yield Fault(finding(CODE, NAME, site, message, write.requires is Tri.YES, why=why), site, tuple(writes))


RULE = Rule(
    CODE,
    NAME,
    "an in-place operation that has no derivative",
    """# IPF014: no-inplace-derivative

## What it does
Finds `acosh_`, `asinh_`, `atanh_` and other in-place operations without a derivative where a gradient is needed.

## Why it is wrong
"the derivative for 'inplace version of acosh' is not implemented."

## Example
```python
x = torch.full((2,), 2.0, requires_grad=True) * 1
x.acosh_()
```

## Use instead
```python
x = torch.full((2,), 2.0, requires_grad=True) * 1
x = x.acosh()
```

## When the fix is safe
Out of place, where nobody reads the old memory through another name.
""",
    check,
    (
        Example(
            "import torch\n\nx = torch.full((2,), 2.0, requires_grad=True) * 1\nx.acosh_()\n",
            "import torch\n\nx = torch.full((2,), 2.0, requires_grad=True) * 1\nx = x.acosh()\n",
        ),
    ),
)
