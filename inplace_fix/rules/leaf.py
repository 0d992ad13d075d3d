"""IPF002: a leaf that requires grad is written while autograd records."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Form, Write
from inplace_fix.analysis.values import Tri
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, related, target_of, text_of

CODE, NAME = "IPF002", "leaf-written"


def check(facts: Facts) -> Iterator[Fault]:
    """One fault for each construct that writes to such a leaf, or to a view of one."""
    for writes in grouped(w for w in facts.writes if refused(w)):
        write = writes[0]
        site = target_of(write)
        base = write.tensor.base
        whose = "a view of a leaf" if base is not None else "a parameter" if write.tensor.parameter else "a leaf"
        message = (
            f"`{text_of(site)}` writes in place to {whose} that requires grad while autograd records: PyTorch refuses"
        )
        asked = not any(isinstance(key, tuple) and key[0] == "flag" for key in write.condition)
        certain = asked and write.requires is Tri.YES and write.grad is True
        made = (base or write.tensor).made
        more = [related("the leaf is made here", made)] if made is not None else []
        why = "autograd would lose the value that the gradient belongs to"
        yield Fault(finding(CODE, NAME, site, message, certain, more=more, why=why), site, tuple(writes))


def refused(write: Write) -> bool:
    """Whether PyTorch refuses the write for the leaf behind it."""
    if write.grad is not True or write.silent or write.requires is Tri.NO or write.form in (Form.OPTIMIZER, Form.DATA):
        return False
    if write.tensor.role == "transformed" or write.tensor.maybe or not write.tensor.shares_graph:
        return False
    base = write.tensor.base
    if base is None:
        return write.leaf and (write.tensor.parameter or write.requires is Tri.YES)
    return base.leaf and base.requires is Tri.YES and write.view in ("view", "multi", "")


RULE = Rule(
    CODE,
    NAME,
    "a leaf that requires grad is written while autograd records",
    """# IPF002: leaf-written

## What it does
Finds in-place writes to a tensor that requires grad and was not computed (a leaf, such as every parameter), or to a
view of one, while grad mode is on.

## Why it is wrong
PyTorch refuses: "a leaf Variable that requires grad is being used in an in-place operation". Guides that call such a
write safe are wrong.

## Example
```python
w = torch.ones(3, requires_grad=True)
(w * 2).sum().backward()
w -= 0.1 * w.grad
```

## Use instead
```python
w = torch.ones(3, requires_grad=True)
(w * 2).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
```

## When the fix is safe
An update or an initialisation goes under `torch.no_grad()`: the tensor stays the same leaf. Where the written value
must carry gradients itself, the write is made out of place.
""",
    check,
    (
        Example(
            "import torch\n\nw = torch.ones(3, requires_grad=True)\n(w * 2).sum().backward()\nw -= 0.1 * w.grad\n",
            """\
import torch

w = torch.ones(3, requires_grad=True)
(w * 2).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
""",
        ),
    ),
)
