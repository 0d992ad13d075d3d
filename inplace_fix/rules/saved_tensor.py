"""IPF001: a value saved for backward is overwritten before the backward that needs it."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fix.analysis.facts import Conflict, Facts, Form, Site, Write
from inplace_fix.analysis.values import Tri
from inplace_fix.nouns import Severity
from inplace_fix.rules.base import Example, Fault, Rule, decisive, finding, related, target_of, text_of

CODE, NAME = "IPF001", "saved-tensor-overwritten"
ELSEWHERE = (Form.OPTIMIZER,)


def check(facts: Facts) -> Iterator[Fault]:
    """One fault for each construct that overwrites something a backward needs."""
    groups: dict[tuple[object, object], list[Conflict]] = {}
    for conflict in facts.conflicts:
        if conflict.write.form in ELSEWHERE or not reportable(conflict):
            continue
        site = place_of(conflict)
        groups.setdefault((site.unit, site.node), []).append(conflict)
    for conflicts in groups.values():
        yield fault(conflicts)


def place_of(conflict: Conflict) -> Site:
    """The place to change."""
    if conflict.write.form is Form.IMPLICIT and conflict.write.silent:
        return decisive(conflict.write, conflict.save)
    return target_of(conflict.write)


def reportable(conflict: Conflict) -> bool:
    """Whether enough is known to speak: both ends are tensors."""
    return conflict.write.tensor.sure and conflict.save.tensor.sure


def fault(conflicts: list[Conflict]) -> Fault:
    """The finding for all conflicts of one construct."""
    first = max(conflicts, key=lambda c: c.certain)
    write, save = first.write, first.save
    site = place_of(first)
    silent = write.silent
    places = dict.fromkeys(c.save.site for c in conflicts)
    more = [related(f"saved here, by `{text_of(place, 40)}`", place) for place in list(places)[:4]]
    if site is not write.site:
        more.insert(0, related("the call that overwrites", write.site))
    backward = next((c.backward for c in conflicts if c.backward is not None), None)
    if backward is not None:
        more.append(related("needed by this backward", backward))
    result = "gives wrong gradients without an error" if silent else "raises in backward"
    message = (
        f"`{text_of(site)}` overwrites {value_words(first)} that `{text_of(save.site, 40)}` saved for backward "
        f"(line {save.site.line}); this {result}"
    )
    why = why_words(write, first)
    certain = first.certain and not first.hangs_on
    unproven = all(c.save.node.requires is not Tri.YES for c in conflicts)
    return Fault(
        finding(
            CODE,
            NAME,
            site,
            message,
            certain,
            more=more,
            why=why,
            # a function on unknown input is right for whoever calls it without gradients: worth a note, no warning
            severity=Severity.NOTE if unproven and not certain else None,
        ),
        site,
        tuple(dict.fromkeys(c.write for c in conflicts)),
        tuple(conflicts),
    )


def value_words(conflict: Conflict) -> str:
    """What was saved: a result or an input."""
    return "the result" if conflict.save.what.startswith("result") else "a value"


def why_words(write: Write, conflict: Conflict) -> str:
    """Why this is wrong, or what it hangs on."""
    if conflict.hangs_on:
        return f"possible, not certain: {conflict.hangs_on}"
    if write.silent:
        return "this write does not move the version counter, so PyTorch cannot notice it"
    if write.grad is False:
        return "no_grad stops recording, not the version counter: the saved value is overwritten all the same"
    return "backward computes the gradient from the saved value, which is no longer there"


RULE = Rule(
    CODE,
    NAME,
    "a value saved for backward is overwritten before the backward that needs it",
    """# IPF001: saved-tensor-overwritten

## What it does
Finds in-place writes to a value that an earlier operation saved for its backward, while a backward can still need it.

## Why it is wrong
Autograd keeps some inputs and results of an operation to compute gradients from. PyTorch counts writes to them and
raises "one of the variables needed for gradient computation has been modified by an inplace operation" in backward,
far from the statement at fault. Writes through `.data` or NumPy are not counted: the gradients are wrong without a
word.

## Example
```python
y = x.exp()      # exp saves its result
y.add_(5.0)      # and this overwrites it
y.sum().backward()
```

## Use instead
```python
y = x.exp()
y = y + 5.0
```
or, where other names must go on seeing the write, a copy for autograd: `y = x.exp().clone()`.

## When the fix is safe
Out of place, where nobody reads the old memory through another name afterwards. A clone at the saving operation
is exact too; it is offered as unsafe where another name reads the changed value later, since the author may have meant
the old one.
""",
    check,
    (
        Example(
            "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.add_(5.0)\ny.sum().backward()\n",
            "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny = y.add(5.0)\ny.sum().backward()\n",
        ),
    ),
)
