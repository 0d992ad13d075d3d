"""IPF004: the output of a hooked module or of a custom Function, a view, is written."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Write
from inplace_fix.analysis.values import Tri
from inplace_fix.rules.base import Example, Fault, Rule, finding, first_of_each, grouped, related, target_of, text_of

CODE, NAME = "IPF004", "function-view-written"


def check(facts: Facts) -> Iterator[Fault]:
    """Writes to views that a Function or a full backward hook made."""
    for writes in grouped(first_of_each(w for w in facts.writes if refused(w))):
        write = writes[0]
        site = target_of(write)
        source = "a module with a full backward hook" if write.view == "hook" else "a custom autograd.Function"
        message = f"`{text_of(site)}` writes in place to the output of {source}, which is a view: PyTorch refuses"
        more = [related("the view comes from here", write.tensor.made)] if write.tensor.made is not None else []
        if site is not write.site:
            more.append(related("the call that overwrites", write.site))
        why = "the write would replace the custom backward"
        yield Fault(
            finding(CODE, NAME, site, message, write.requires is Tri.YES, more=more, why=why), site, tuple(writes)
        )


def refused(write: Write) -> bool:
    """Whether autograd refuses the write."""
    return (
        write.view in ("hook", "function") and write.grad is True and write.requires is not Tri.NO and not write.silent
    )


RULE = Rule(
    CODE,
    NAME,
    "the output of a hooked module or of a custom Function, a view, is written",
    """# IPF004: function-view-written

## What it does
Finds in-place writes to what a custom `autograd.Function` returns unchanged (or as a view), and to the output of a
module that has a full backward hook.

## Why it is wrong
Both are views made by a Function. PyTorch refuses to modify them: "This view was created inside a custom Function ...
and is being modified inplace".

## Example
```python
layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, before, after: None)
y = layer(torch.ones(1, 2))
y += 1
```

## Use instead
```python
layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, before, after: None)
y = layer(torch.ones(1, 2))
y = y + 1
```

## When the fix is safe
Out of place, where nobody reads the old memory through another name afterwards.
""",
    check,
    (
        Example(
            """\
import torch

layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, before, after: None)
y = layer(torch.ones(1, 2))
y += 1
""",
            """\
import torch

layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, before, after: None)
y = layer(torch.ones(1, 2))
y = y + 1
""",
        ),
    ),
)
