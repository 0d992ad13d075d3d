"""From a fault to the smallest right set of edits, and how sure that is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codemods.steps import CloneExpression, ReplaceExpression, Step
from inplace_fix.analysis.facts import Form, Save, Site, Write
from inplace_fix.analysis.values import Tri
from inplace_fix.catalog.model import Kind
from inplace_fix.nouns import Applicability, Fix
from inplace_fix.repair import forms
from inplace_fix.repair.aliases import Others, others, parameter, procedure, rebindable
from inplace_fix.rules.base import Fault


@dataclass(frozen=True, slots=True)
class NoFix:
    """Why there is no repair by edits, and what to do instead."""

    reason: str


Plan = Fix | NoFix


def plan(fault: Fault) -> Plan:
    """The repair of a fault by its rule's code."""
    planner = PLANNERS.get(fault.finding.code)
    if planner is None:
        return NoFix("this needs a decision about what is meant")
    return planner(fault)


def saved_tensor(fault: Fault) -> Plan:
    """A saved value is overwritten: write elsewhere, or let autograd keep a copy."""
    if not fault.writes:
        return clone_at_save(fault, Others((), False))
    write = fault.writes[0]
    around = others(fault.writes)
    if write.form in (Form.MODULE, Form.FLAG):
        fix = flag(fault, around)
        if isinstance(fix, Fix) and fix.applicability is Applicability.SAFE:
            return fix
        kept = clone_at_save(fault, around)
        if isinstance(kept, Fix) or isinstance(fix, Fix):
            return kept if isinstance(kept, Fix) else fix
    if any(parameter(w.tensor) for w in fault.writes):
        return NoFix(
            "a parameter is changed while a graph still needs its old value: move the update behind the backward, "
            "or run the forward again after it"
        )
    if write.form is Form.ARRAY:
        return array_copy(fault)
    if write.form in (Form.IMPLICIT, Form.DATA):
        return NoFix("the write is inside this call: change the order of the calls, or give it a copy")
    rebound = rebind(fault, around) if around.none and writable(fault) else NoFix("other names look at the same memory")
    local = isinstance(write.receiver, ast.Name) or write.receiver is None
    if isinstance(rebound, Fix) and local:
        return rebound
    kept = clone_at_save(fault, around)
    if isinstance(kept, Fix):
        return kept
    if isinstance(rebound, NoFix) and raised_by_run(fault) and not around.reads and writable(fault):
        rebound = rebind(fault, around)
    return rebound if isinstance(rebound, Fix) else kept


def raised_by_run(fault: Fault) -> bool:
    """Whether a run showed the fault, and the write is not what its function is called for."""
    return "traced" in fault.finding.evidence and not any(procedure(write) for write in fault.writes)


def writable(fault: Fault) -> bool:
    """Whether the receiver may be bound to a new tensor as far as it goes itself: the graph is not cut by no_grad."""
    for write in fault.writes:
        if write.receiver is not None and not rebindable(write):
            return False
        if write.grad is not True and (write.requires is not Tri.NO or write.silent):
            return False
        if write.silent:
            return False
    return True


def rebind(fault: Fault, around: Others) -> Plan:
    """Out of place at the write."""
    steps = forms.out_of_place(fault.writes[0], {save.site.node for save in fault.saves})
    if steps is None:
        return NoFix("this write has no out-of-place form that is right here")
    safe = around.none
    message = "write to a new tensor, so that the saved one keeps its value"
    if not safe:
        message += f"; assuming that {forms.words(around)} need not see the write"
    return Fix(
        "out-of-place",
        message,
        Applicability.SAFE if safe else Applicability.UNSAFE,
        tuple((fault.site.unit.path, step) for step in steps),
    )


def clone_at_save(fault: Fault, around: Others) -> Plan:
    """The operation that saves gets, or returns, a copy: every alias goes on seeing the write."""
    steps: dict[tuple[Path, Step], None] = {}
    for save in fault.saves:
        site = clone_site(save)
        if site is not None and site.node in site.unit.numbers:
            return NoFix("what is saved here is a number in other calls, which has no clone")
        if site is None:
            return NoFix("the saving operation is inside a module, where no copy can be put in")
        steps[site.unit.path, CloneExpression(site.unit.span(site.node))] = None
    if not steps and fault.result is not None:
        steps[fault.result.unit.path, CloneExpression(fault.result.unit.span(fault.result.node))] = None
    if not steps:
        return NoFix("what saved the value is not in the source that was followed, so no copy can be put in there")
    doubtful = [r for r in around.reads if not all(procedure(w) for w in fault.writes)]
    message = "give autograd a copy of the value that is overwritten later"
    if doubtful:
        message += f"; assuming that {forms.words(around)} are meant to see the write"
    applicability = Applicability.UNSAFE if doubtful else Applicability.SAFE
    return Fix("clone-at-save", message, applicability, tuple(steps))


def clone_site(save: Save) -> Site | None:
    """The expression to clone: the argument that was saved, or the call whose result was."""
    node = save.site.node
    if save.argument is not None:
        return None if isinstance(save.argument, ast.Starred) else Site(save.site.unit, save.argument)
    if save.what.startswith("result") and isinstance(node, ast.expr) and not multiple(save):
        return save.site
    return None


def multiple(save: Save) -> bool:
    """Whether the saving call returns several tensors, of which none can be cloned in place."""
    return "[" in save.what


def flag(fault: Fault, around: Others) -> Plan:
    """``inplace=True`` goes, of the call or of the module's constructor."""
    write = fault.writes[0]
    step = forms.drop_flag(write, fault.site)
    if step is None:
        return NoFix("the flag is not written where the module is made")
    safe = not around.reads
    message = "turn the in-place flag off"
    if not safe:
        message += f"; assuming that {forms.words(around)} need not see the activation"
    return Fix("flag", message, Applicability.SAFE if safe else Applicability.UNSAFE, ((fault.site.unit.path, step),))


def array_copy(fault: Fault) -> Plan:
    """The array that a tensor shares its memory with is copied where it is taken."""
    made = fault.writes[0].tensor.made
    if made is None or not isinstance(made.node, ast.Call) or made.node.args:
        return NoFix("copy the array before it is written, or the tensor before it is used")
    text = made.unit.segment(made.node)
    step = ReplaceExpression(made.unit.span(made.node), f"{text}.copy()")
    message = "copy the array, assuming that the write is not meant for the tensor"
    return Fix("array-copy", message, Applicability.UNSAFE, ((made.unit.path, step),))


def leaf(fault: Fault) -> Plan:
    """A leaf is updated under no_grad; where the written value carries gradients, out of place."""
    write = fault.writes[0]
    if write.op is not None and write.op.kind is Kind.STORAGE_META:
        return NoFix("make a new tensor of that size: PyTorch refuses to resize one that requires grad, in any mode")
    carries = any(t.requires is not Tri.NO for w in fault.writes for t in w.operands)
    if carries:
        around = others(fault.writes)
        if write.tensor.gradient is not None:
            return NoFix("the written value needs gradients, and so does the leaf as it was: compute a new tensor")
        if parameter(write.tensor):
            return NoFix("the written value needs gradients, and a parameter cannot be bound to a computed tensor")
        steps = forms.out_of_place(write, set())
        if steps is None or not rebindable(write):
            return NoFix("the written value needs gradients: compute a new tensor and use that")
        applicability = Applicability.SAFE if around.none else Applicability.UNSAFE
        message = "write to a new tensor, through which gradients flow"
        return Fix("out-of-place", message, applicability, tuple((fault.site.unit.path, s) for s in steps))
    if write.statement is None:
        return NoFix("put the statement under torch.no_grad()")
    step = forms.no_grad(write)
    if step is None:
        return NoFix("put the statement under torch.no_grad()")
    base = write.tensor.base or write.tensor
    kept = base.parameter or base.gradient is not None or base.stepped
    message = "update the leaf under no_grad"
    if not kept:
        message += "; assuming that the write is not part of what is differentiated"
    return Fix(
        "no_grad", message, Applicability.SAFE if kept else Applicability.UNSAFE, ((write.site.unit.path, step),)
    )


def new_tensor(fault: Fault) -> Plan:
    """Faults that any out-of-place form repairs, where nobody else looks at the memory."""
    if not fault.writes:
        return NoFix("move the write above the operation that made the views")
    write = fault.writes[0]
    around = others(fault.writes)
    if write.form in (Form.MODULE, Form.FLAG):
        return flag(fault, around)
    if write.receiver is not None and not all(rebindable(w) for w in fault.writes):
        return NoFix("the receiver cannot be bound anew here")
    return rebind(fault, around)


def multi_view(fault: Fault) -> Plan:
    """One of several views is written: a new tensor, or views that may be written to."""
    if fault.observation is not None:
        return NoFix("move the write above the operation that takes the views, which are meant to see it")
    around = others(fault.writes)
    if around.none and all(w.grad is True for w in fault.writes):
        return new_tensor(fault)
    step = forms.single_views(fault.writes[0])
    if step is not None:
        message = "take the rows one by one: such views may be written to, and the base sees it"
        return Fix("single-views", message, Applicability.UNSAFE, (step,))
    return NoFix("others look at the tensor that the views are of: index it instead")


def out_argument(fault: Fault) -> Plan:
    """The result is bound instead of written through out=, or copied where others look at the buffer."""
    steps = forms.out_argument(fault.writes[0], others(fault.writes))
    if steps is None:
        return NoFix("bind the result instead of passing out=")
    return Fix("out=", "take the result instead of writing it through out=", Applicability.SAFE, steps)


def shared_elements(fault: Fault) -> Plan:
    """A new tensor for expanded receivers, a clone of the source for overlapping copies."""
    if fault.observation is not None:
        node = fault.site.node
        if isinstance(node, ast.Assign):
            step = CloneExpression(fault.site.unit.span(node.value))
            return Fix("clone", "copy the source first", Applicability.SAFE, ((fault.site.unit.path, step),))
        return NoFix("clone the source first")
    fix = new_tensor(fault)
    if isinstance(fix, Fix) and fault.writes[0].view == "overlapping":
        return Fix(fix.form, fix.message + "; the program ran, and its results change", Applicability.UNSAFE, fix.steps)
    return fix


def gradient(fault: Fault) -> Plan:
    """A hook or backward returns a new gradient."""
    steps = forms.out_of_place(fault.writes[0], set())
    if steps is None:
        return NoFix("return a new tensor instead of changing the gradient")
    message = "compute a new gradient"
    return Fix("out-of-place", message, Applicability.SAFE, tuple((fault.site.unit.path, s) for s in steps))


def functorch(fault: Fault) -> Plan:
    """Arguments are written out of place; what was captured needs the author."""
    write = fault.writes[0]
    if write.tensor.role in ("transformed", "dual"):
        fix = new_tensor(fault)
        if isinstance(fix, Fix):
            return Fix(
                fix.form, fix.message, Applicability.SAFE if write.cell is not None else Applicability.UNSAFE, fix.steps
            )
        return fix
    return NoFix(
        "update it outside the transformed function, or pass it in and return it; make buffers from an argument"
    )


def detach_view(fault: Fault) -> Plan:
    """``x.detach_()`` becomes ``x = x.detach()``."""
    step = forms.detach(fault.site)
    if step is None:
        return NoFix("bind the name to .detach()")
    return Fix(
        "out-of-place", "bind the name to the detached tensor", Applicability.SAFE, ((fault.site.unit.path, step),)
    )


def view_attribute(fault: Fault) -> Plan:
    """``x.T += v`` becomes ``x.T.add_(v)``."""
    step = forms.method_for_operator(fault.site)
    if step is None:
        return NoFix("call the in-place method on the view instead")
    return Fix(
        "method", "call the in-place method, which assigns nothing", Applicability.SAFE, ((fault.site.unit.path, step),)
    )


def row_swap(fault: Fault) -> Plan:
    """The right-hand sides are copied before the first store."""
    node = fault.site.node
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return NoFix("copy the rows before the swap")
    steps = tuple((fault.site.unit.path, CloneExpression(fault.site.unit.span(e))) for e in node.value.elts)
    return Fix("clone", "copy the rows first; the program ran, and its results change", Applicability.UNSAFE, steps)


def hidden(fault: Fault) -> Plan:
    """The flag goes; the program ran, and its results change."""
    fix = flag(fault, others(fault.writes)) if fault.writes else NoFix("copy the value that is kept")
    if isinstance(fix, Fix):
        message = "turn the in-place flag off; the program runs today, and its results change"
        return Fix(fix.form, message, Applicability.UNSAFE, fix.steps)
    return NoFix("copy the value that is kept, or write to a new tensor")


def refused(fault: Fault) -> Plan:
    """What a Python function does to each element has no form that a graph could record."""
    return NoFix("write the function with torch operations, or apply it to a detached tensor (x.detach())")


def policy(fault: Fault) -> Plan:
    """A write that is right goes out of place only where that is proved to change nothing."""
    write = fault.writes[0]
    around = others(fault.writes)
    if write.form in (Form.MODULE, Form.FLAG):
        fix = flag(fault, around)
        if isinstance(fix, Fix) and fix.applicability is Applicability.SAFE and not around.outside:
            return fix
        return fix if isinstance(fix, NoFix) else NoFix(f"{forms.words(around)} may look at the same memory")
    if any(
        w.leaf or w.view or parameter(w.tensor) or w.tensor.role or (w.condition and w.tensor.maybe)
        for w in fault.writes
    ):
        return NoFix("the write is meant for memory that others hold: a leaf, a base or a parameter")
    if not around.none or not writable(fault):
        return NoFix(f"{forms.words(around)} may look at the same memory")
    if any(not same_place(w) for w in fault.writes):
        return NoFix("the receiver is one of several tensors")
    return rebind(fault, around)


def same_place(write: Write) -> bool:
    """Whether the receiver is a plain name of the function itself, bound to the one tensor that is written."""
    return write.receiver is None or (isinstance(write.receiver, ast.Name) and write.cell is not None)


PLANNERS: dict[str, Callable[[Fault], Plan]] = {
    "IPF001": saved_tensor,
    "IPF002": leaf,
    "IPF003": multi_view,
    "IPF004": new_tensor,
    "IPF005": out_argument,
    "IPF006": shared_elements,
    "IPF007": new_tensor,
    "IPF009": gradient,
    "IPF010": new_tensor,
    "IPF011": functorch,
    "IPF012": detach_view,
    "IPF013": view_attribute,
    "IPF014": new_tensor,
    "IPF015": row_swap,
    "IPF018": hidden,
    "IPF020": refused,
    "IPF101": policy,
    "IPF102": policy,
}
