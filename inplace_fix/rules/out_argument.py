"""IPF005: out= is given while an argument requires grad."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Form, Write
from inplace_fix.analysis.operands import requires_of
from inplace_fix.analysis.values import Tensor, Tri
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, target_of, text_of

CODE, NAME = "IPF005", "out-with-grad"


def check(facts: Facts) -> Iterator[Fault]:
    """Calls with out= that autograd refuses."""
    for writes in grouped(w for w in facts.writes if refused(w)):
        write = writes[0]
        site = target_of(write)
        message = (
            f"`{text_of(site)}` writes through out= while an argument requires grad: out= has no derivative, "
            "PyTorch refuses"
        )
        certain = max([write.requires, *(t.requires for t in write.operands)]) is Tri.YES
        why = "an operation with out= is not recorded"
        yield Fault(finding(CODE, NAME, site, message, certain, why=why), site, tuple(writes))


def refused(write: Write) -> bool:
    """Whether a gradient would have to flow through the out= call."""
    if write.form is not Form.OUT or write.grad is not True:
        return False
    return max([write.requires, *(effective(t) for t in write.operands)], default=Tri.NO) is Tri.YES


def effective(tensor: Tensor) -> Tri:
    """Whether an operand needs grad, also through a recorded write to its memory."""
    return requires_of(tensor)


RULE = Rule(
    CODE,
    NAME,
    "out= is given while an argument requires grad",
    """# IPF005: out-with-grad

## What it does
Finds `out=` calls with an argument that requires grad while grad mode is on.

## Why it is wrong
"functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad".

## Example
```python
x = torch.ones(2, requires_grad=True)
buffer = torch.empty(2)
torch.mul(x, 3.0, out=buffer)
```

## Use instead
```python
x = torch.ones(2, requires_grad=True)
buffer = torch.mul(x, 3.0)
```

## When the fix is safe
The result is bound to the name that out= named; where that is a view of a buffer which is read later, the result is
copied into it.
""",
    check,
    (
        Example(
            """\
import torch

x = torch.ones(2, requires_grad=True)
buffer = torch.empty(2)
torch.mul(x, 3.0, out=buffer)
""",
            "import torch\n\nx = torch.ones(2, requires_grad=True)\nbuffer = torch.mul(x, 3.0)\n",
        ),
    ),
)
