"""IPF008: an optimizer step changes weights that a later backward still needs."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Conflict, Facts, Form
from inplace_fix.rules.base import Example, Fault, Rule, finding, related, target_of, text_of

CODE, NAME = "IPF008", "step-before-backward"


def check(facts: Facts) -> Iterator[Fault]:
    """Steps between a forward and the backward through it."""
    groups: dict[tuple[object, object], list[Conflict]] = {}
    for conflict in facts.conflicts:
        if conflict.write.form is Form.OPTIMIZER:
            site = target_of(conflict.write)
            groups.setdefault((site.unit, site.node), []).append(conflict)
    for conflicts in groups.values():
        first = max(conflicts, key=lambda c: c.certain)
        site = first.write.site
        forward = first.save.site
        result = "gives wrong gradients without an error (fused)" if first.write.silent else "raises in backward"
        message = (
            f"`{text_of(site)}` changes weights that `{text_of(forward, 40)}` (line {forward.line}) saved and a "
            f"later backward needs; this {result}"
        )
        more = [related("the forward that saved the weights", forward)]
        if first.backward is not None:
            more.append(
                related(
                    "the backward that needs them: move it above the step, or run the forward again", first.backward
                )
            )
        yield Fault(
            finding(
                CODE,
                NAME,
                site,
                message,
                first.certain,
                more=more,
                why="the order of forward, backward and step is wrong",
            ),
            site,
            tuple(dict.fromkeys(c.write for c in conflicts)),
            tuple(conflicts),
        )


RULE = Rule(
    CODE,
    NAME,
    "an optimizer step changes weights that a later backward still needs",
    """# IPF008: step-before-backward

## What it does
Finds `optimizer.step()` between a forward and a backward that goes through the stepped weights.

## Why it is wrong
The step writes the weights in place, and backward needs their old values: "one of the variables needed for gradient
computation has been modified". A fused optimizer does not even move the version counter, and the gradients are wrong.

## Example
```python
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(1, 2)).sum()
loss.backward(retain_graph=True)
optimizer.step()
loss.backward()
```

## Use instead
```python
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(1, 2)).sum()
loss.backward(retain_graph=True)
loss.backward()
optimizer.step()
```

## When the fix is safe
Never: which order is meant is for the author to say. The finding names both places.
""",
    check,
    (
        Example(
            """\
import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(1, 2)).sum()
loss.backward(retain_graph=True)
optimizer.step()
loss.backward()
""",
            """\
import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(1, 2)).sum()
loss.backward(retain_graph=True)
loss.backward()
optimizer.step()
""",
        ),
    ),
)
