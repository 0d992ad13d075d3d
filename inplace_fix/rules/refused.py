"""IPF020: an in-place operation that PyTorch refuses for the state or the kind of the tensor."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts
from inplace_fix.analysis.values import Tri
from inplace_fix.catalog.model import Kind
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, target_of, text_of

CODE, NAME = "IPF020", "refused-in-place"


def check(facts: Facts) -> Iterator[Fault]:
    """Python functions applied to the elements of what surely requires grad; a traced run shows the other kinds."""
    applied = (w for w in facts.writes if w.op is not None and w.op.kind is Kind.CALLBACK)
    for writes in grouped(w for w in applied if w.grad is True and w.requires is Tri.YES):
        site = target_of(writes[0])
        message = f"`{text_of(site)}` calls a Python function on each element of a tensor that requires grad"
        why = "no graph can record what the function does, so PyTorch refuses"
        yield Fault(finding(CODE, NAME, site, message, True, why=why), site, tuple(writes))


RULE = Rule(
    CODE,
    NAME,
    "an in-place operation that PyTorch refuses for this tensor",
    """# IPF020: refused-in-place

## What it does
Finds `apply_` and `map_` on a tensor that requires grad. With a traced run it also speaks of whatever else PyTorch
refused: resizing a tensor that requires grad, swapping one that somebody holds, in-place operations that do not exist
for a sparse tensor, a view made under `no_grad` and written outside of it, a saved value that was detached in place,
a graph run backward twice.

## Why it is wrong
PyTorch raises. `apply_` and `map_` call Python for each element, which no graph can record.

## Example
```python
w = torch.ones(3, requires_grad=True)
y = w * 2
y.apply_(lambda v: v + 1)
```

## Use instead
```python
w = torch.ones(3, requires_grad=True)
y = w * 2
y = y + 1
```

## When the fix is safe
There is none: what is meant instead is for you to say. The reason and the remedy are told with the finding.
""",
    check,
    (
        Example(
            "import torch\n\nw = torch.ones(3, requires_grad=True)\ny = w * 2\ny.apply_(lambda v: v + 1)\n",
            "import torch\n\nw = torch.ones(3, requires_grad=True)\ny = w * 2\ny = y + 1\n",
        ),
    ),
)
