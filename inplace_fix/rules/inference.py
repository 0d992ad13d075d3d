"""IPF007: a tensor made under inference_mode is written outside of it."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Facts, Write
from inplace_fix.rules.base import Example, Fault, Rule, finding, grouped, related, target_of, text_of

CODE, NAME = "IPF007", "inference-tensor-written"


def check(facts: Facts) -> Iterator[Fault]:
    """Writes to inference tensors in normal mode."""
    for writes in grouped(w for w in facts.writes if refused(w)):
        write = writes[0]
        site = target_of(write)
        message = (
            f"`{text_of(site)}` writes outside inference_mode to a tensor that was made inside it: PyTorch refuses"
        )
        made = write.storage.made
        more = [related("made here, under inference_mode", made)] if made is not None else []
        why = "inference tensors have no version counter; no_grad outside does not help"
        yield Fault(finding(CODE, NAME, site, message, True, more=more, why=why), site, tuple(writes))


def refused(write: Write) -> bool:
    """Whether an inference tensor is written in normal mode."""
    return not write.inference and all(storage.inference for storage, _ in write.tensor.storages())


RULE = Rule(
    CODE,
    NAME,
    "a tensor made under inference_mode is written outside of it",
    """# IPF007: inference-tensor-written

## What it does
Finds in-place writes to tensors that were made under `torch.inference_mode()` once that mode is left.

## Why it is wrong
"Inplace update to inference tensor outside InferenceMode is not allowed."

## Example
```python
with torch.inference_mode():
    total = torch.zeros(2)
total /= 4
```

## Use instead
```python
with torch.inference_mode():
    total = torch.zeros(2)
total = total / 4
```

## When the fix is safe
Out of place: the result is an ordinary tensor.
""",
    check,
    (
        Example(
            "import torch\n\nwith torch.inference_mode():\n    total = torch.zeros(2)\ntotal /= 4\n",
            "import torch\n\nwith torch.inference_mode():\n    total = torch.zeros(2)\ntotal = total / 4\n",
        ),
    ),
)
