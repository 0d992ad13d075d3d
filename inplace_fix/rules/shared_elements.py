"""IPF006: a tensor whose elements share memory is written."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Form, Write
from inplace_fix.catalog.model import Kind
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, observed, related, target_of, text_of

CODE, NAME = "IPF006", "shared-elements-written"


def check(facts: Facts) -> Iterator[Fault]:
    """Writes to expanded and overlapping views, and copies of a slice onto an overlapping slice."""
    for writes in grouped(w for w in facts.writes if refused(w)):
        write = writes[0]
        site = target_of(write)
        more = [related("the elements come to share memory here", write.tensor.made)] if write.tensor.made else []
        if write.view == "expanded":
            message = (
                f"`{text_of(site)}` writes to an expanded tensor, several elements of which are one: PyTorch refuses"
            )
        else:
            message = (
                f"`{text_of(site)}` writes to overlapping windows of one tensor: shared elements are written several "
                "times"
            )
        why = "one memory location stands for several elements"
        yield Fault(
            finding(CODE, NAME, site, message, write.view == "expanded", more=more, why=why), site, tuple(writes)
        )
    for observation in observed(facts, "overlap"):
        site = observation.site
        message = f"`{text_of(site)}` copies a slice onto an overlapping slice of the same tensor: PyTorch refuses"
        why = "which elements are read before they are written would depend on the order of copying"
        yield Fault(finding(CODE, NAME, site, message, True, why=why), site, observation=observation)


def refused(write: Write) -> bool:
    """Whether elements of the receiver share memory and the write cares."""
    if write.view not in ("expanded", "overlapping"):
        return False
    if write.form in (Form.STORE, Form.AUGMENTED_STORE) or write.op is None:
        return False
    return write.op.kind is not Kind.OVERWRITE and write.op.kind is not Kind.FLAG


RULE = Rule(
    CODE,
    NAME,
    "a tensor whose elements share memory is written",
    """# IPF006: shared-elements-written

## What it does
Finds in-place writes to the results of `expand`, `broadcast_to` and `meshgrid`, to windows made by `unfold`, and
copies between overlapping slices of one tensor.

## Why it is wrong
"unsupported operation: more than one element of the written-to tensor refers to a single memory location". For
windows that overlap without stride 0 PyTorch does not even notice, and shared elements are written several times.

## Example
```python
base = torch.zeros(3, 1)
grid = base.expand(3, 4)
grid += 1
```

## Use instead
```python
base = torch.zeros(3, 1)
grid = base.expand(3, 4)
grid = grid + 1
```

## When the fix is safe
Out of place, where nobody reads the memory through another name; a clone of the source for overlapping slices.
""",
    check,
    (
        Example(
            "import torch\n\nbase = torch.zeros(3, 1)\ngrid = base.expand(3, 4)\ngrid += 1\n",
            "import torch\n\nbase = torch.zeros(3, 1)\ngrid = base.expand(3, 4)\ngrid = grid + 1\n",
        ),
    ),
)
