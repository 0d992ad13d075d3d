"""IPF011: a torch.func transform meets a write to its argument or to something captured."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Form, Write
from inplace_fix.analysis.values import Tri
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, target_of, text_of

CODE, NAME = "IPF011", "written-under-transform"


def check(facts: Facts) -> Iterator[Fault]:
    """Writes that a transform refuses, or that reach the caller's tensors through it."""
    for writes in grouped(w for w in facts.writes if kind_of(w)):
        write = writes[0]
        site = target_of(write)
        kind = kind_of(write)
        if kind == "unbatched" and write.storage.made is not None:
            site = write.storage.made
        yield Fault(
            finding(CODE, NAME, site, MESSAGES[kind].format(text=text_of(site)), True, why=WHY[kind]),
            site,
            tuple(writes),
        )


MESSAGES = {
    "captured": (
        "`{text}` writes in place to a tensor captured by a function under a torch.func transform: PyTorch refuses"
    ),
    "argument": "`{text}` writes in place to the argument of a function under a torch.func transform: PyTorch refuses",
    "dual": "`{text}` writes in place to a forward-mode argument: the caller's tensor and its tangent change with it",
    "unbatched": (
        "`{text}` makes a buffer without the batch dimension that vmap adds, and a batched value is written to it"
    ),
}
WHY = {
    "captured": "inside a transform only what was made inside may be changed in place",
    "argument": "the argument is a leaf of the transform's own graph",
    "dual": "make_dual and jvp do not copy what they are given, and forward mode saves and checks nothing",
    "unbatched": "make it from an argument instead, as in x.new_zeros(n), which is batched as the argument is",
}


def kind_of(write: Write) -> str:
    """How the write goes against a transform, "" where it does not."""
    role = write.tensor.role
    if role == "dual":
        return "dual"
    if not write.level:
        return ""
    if role == "transformed":
        return "argument" if write.requires is Tri.YES and write.storage.history is None and not write.view else ""
    if write.storage.level < write.level and role != "batched" and write.storage.origin in CAPTURED:
        return "captured" if write.form is not Form.IMPLICIT else ""
    if write.storage.level == write.level and role != "batched" and any(t.role == "batched" for t in write.operands):
        return "unbatched"
    return ""


CAPTURED = ("fresh", "buffer", "parameter")


RULE = Rule(
    CODE,
    NAME,
    "a torch.func transform meets a write to its argument or to something captured",
    """# IPF011: written-under-transform

## What it does
Finds writes, in a function under `torch.func.grad`, `jacrev`, `vmap` and their kind, to captured tensors, to the
arguments, or to buffers made without the batch dimension; and writes to forward-mode arguments.

## Why it is wrong
Transforms forbid most of these ("attempted to call in-place operation that would mutate a captured Tensor"). Forward
mode allows a write to its argument and overwrites the caller's tensors.

## Example
```python
scale = torch.ones(3)


def loss(x):
    scale.mul_(0.9)
    return (x * scale).sum()


torch.func.grad(loss)(torch.ones(3))
```

## Use instead
```python
scale = torch.ones(3)


def loss(x):
    return (x * scale).sum()


torch.func.grad(loss)(torch.ones(3))
scale.mul_(0.9)
```

## When the fix is safe
A write to an argument is made out of place. What was captured has to be updated outside, or passed in and returned:
advice only.
""",
    check,
    (
        Example(
            """\
import torch

scale = torch.ones(3)


def loss(x):
    scale.mul_(0.9)
    return (x * scale).sum()


torch.func.grad(loss)(torch.ones(3))
""",
            """\
import torch

scale = torch.ones(3)


def loss(x):
    return (x * scale).sum()


torch.func.grad(loss)(torch.ones(3))
scale.mul_(0.9)
""",
        ),
    ),
)
