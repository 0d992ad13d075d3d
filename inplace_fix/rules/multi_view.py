"""IPF003: one of several views made by one operation is written."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Write
from inplace_fix.analysis.values import Tri
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, observed, related, target_of, text_of

CODE, NAME = "IPF003", "multi-output-view-written"


def check(facts: Facts) -> Iterator[Fault]:
    """Writes to such a view, and writes to its base between making and using the views."""
    for writes in grouped(w for w in facts.writes if refused(w)):
        write = writes[0]
        site = target_of(write)
        message = f"`{text_of(site)}` writes in place to one of several views made by one operation: PyTorch refuses"
        made = write.tensor.made
        more = [related("the views are made here", made)] if made is not None else []
        certain = max(write.requires, *(t.requires for t in write.operands), Tri.NO) is Tri.YES
        why = "chunk, split, unbind and iteration make all views at once, and autograd cannot change the history of one"
        yield Fault(finding(CODE, NAME, site, message, certain, more=more, why=why), site, tuple(writes))
    for observation in observed(facts, "base-of-views"):
        if not observation.certain:
            continue  # without a gradient the views may be used as before
        site = observation.site
        message = (
            f"`{text_of(site)}` writes to a tensor whose chunks were taken before and are used after: PyTorch "
            "refuses the use"
        )
        more = [related(text, place) for text, place in observation.related]
        why = "the views of a multi-output operation cannot be given a new history"
        yield Fault(
            finding(CODE, NAME, site, message, observation.certain, more=more, why=why),
            site,
            (observation.write,) if observation.write is not None else (),
            observation=observation,
        )


def refused(write: Write) -> bool:
    """Whether autograd refuses the write."""
    if write.view != "multi" or write.grad is not True or write.silent or not write.tensor.shares_graph:
        return False
    if write.tensor.base is not None and write.tensor.base.leaf and write.tensor.base.requires is Tri.YES:
        return False  # the leaf is the graver fault, and told as such
    needed = max([write.requires, *(t.requires for t in write.operands)], default=Tri.NO)
    return needed is Tri.YES or (needed is Tri.MAYBE and write.requires is Tri.YES)


RULE = Rule(
    CODE,
    NAME,
    "one of several views made by one operation is written",
    """# IPF003: multi-output-view-written

## What it does
Finds in-place writes to what `chunk`, `split`, `unbind` or iterating over a tensor gave, where a gradient flows, and
writes to the base of such views while they are in use.

## Why it is wrong
Autograd makes these views with one node and cannot rewrite the history of one of them: "Output 0 of SplitBackward is
a view and is being modified inplace".

## Example
```python
x = torch.ones(4, requires_grad=True) * 2
a, b = x.chunk(2)
a.mul_(3)
```

## Use instead
```python
x = torch.ones(4, requires_grad=True) * 2
a, b = x.chunk(2)
a = a.mul(3)
```

## When the fix is safe
Out of place, where nobody reads the base afterwards to see the write.
""",
    check,
    (
        Example(
            "import torch\n\nx = torch.ones(4, requires_grad=True) * 2\na, b = x.chunk(2)\na.mul_(3)\n",
            "import torch\n\nx = torch.ones(4, requires_grad=True) * 2\na, b = x.chunk(2)\na = a.mul(3)\n",
        ),
    ),
)
