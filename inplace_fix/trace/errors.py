"""PyTorch's in-place errors in plain words: what each message means, why PyTorch refuses, and the remedy.

The messages are those that PyTorch 2.13 gives to the small triggering programs in ``tests/trace/test_errors.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """A kind of fault (docs/evidence.md lists them), why PyTorch refuses, and what to do instead."""

    kind: str
    why: str
    remedy: str


def _message(pattern: str, kind: str, why: str, remedy: str) -> tuple[re.Pattern[str], Explanation]:
    return re.compile(pattern), Explanation(kind, why, remedy)


_OUT_OF_PLACE = "make the write out of place and bind the result (x = x + y for x += y)"

STALE = "modified by an inplace operation"
"""In every message about a saved value that was overwritten."""

BASE_WRITTEN = "its base or another view of its base has been modified inplace"
"""In the message about a view that is used after a write to its base; the error names the use, not the write."""

_KNOWN = (
    _message(
        STALE,
        "saved-tensor",
        "the value was saved for backward and overwritten before backward read it",
        f"{_OUT_OF_PLACE}, or clone the value before the write",
    ),
    _message(
        r"a view of a leaf Variable that requires grad is being used in an in-place operation",
        "view-of-leaf",
        "the written tensor is a view of a leaf that requires grad: the leaf is the "
        "start of the graph, its old value has "
        "no history that a write could be added to",
        "under torch.no_grad() if this is an update or an initialisation; else write to a clone of the leaf",
    ),
    _message(
        r"a leaf Variable that requires grad (is being|has been) used in an in-place operation",
        "leaf",
        "the written tensor is a leaf that requires grad: it is the start of the graph, "
        "its old value has no history that "
        "a write could be added to",
        f"under torch.no_grad() if this is an update or an initialisation; else {_OUT_OF_PLACE}",
    ),
    _message(
        r"leaf variable has been moved into the graph interior",
        "leaf",
        "a leaf that requires grad was overwritten with a computed value after it had been used",
        "keep the leaf as it is and bind the computed value to another name",
    ),
    _message(
        r"A view was created in (no_grad|inference) mode and is being modified inplace",
        "no-grad-view",
        "the view was made where no graph is recorded and is written to where one is: "
        "PyTorch cannot tell which is meant",
        "make the view and write to it in the same mode: both inside the block, or both outside",
    ),
    _message(
        r"Output \d+ of BackwardHookFunction\w* is a view and is being modified inplace",
        "hook-view",
        "a full backward hook makes the module's inputs and outputs views of its own node, and a write to one would "
        "bypass the hook",
        "clone the module's output before the write, or make the write out of place (inplace=False in a module)",
    ),
    _message(
        r"is a view and is being modified inplace\. This view was created inside a custom Function",
        "custom-function-view",
        "the tensor is a view that a custom Function returned, and a write to it would bypass the Function's backward",
        "clone the Function's result before the write, or return a clone from forward; or make the write out of place",
    ),
    _message(
        r"is a view and its base or another view of its base has been modified inplace",
        "multi-output-view",
        "chunk, split, unbind and iteration give several views from one operation; after a write to their base such a "
        "view has no valid history",
        "make the write to the base out of place before it is split, or take the pieces by slicing",
    ),
    _message(
        r"is a view and is being modified inplace",
        "multi-output-view",
        "the tensor is one of several views that one operation gave (chunk, split, "
        "unbind, iteration over a tensor), and "
        "these must not be written to",
        f"{_OUT_OF_PLACE}, or take the piece by slicing (x[:, :n], x.narrow(...)) and write to that",
    ),
    _message(
        r"Can't detach views in-place",
        "detach-view",
        "detach_() would cut a view loose from a base that goes on sharing its memory",
        "use the result of detach(): x = x.detach()",
    ),
    _message(
        r"Inplace update to inference tensor outside InferenceMode",
        "inference",
        "the tensor was made in inference mode: it has no version counter, so a write to it could never be noticed",
        "clone it outside inference mode and write to the clone, or use torch.no_grad() in place of inference_mode()",
    ),
    _message(
        r"Inference tensors cannot be saved for backward|Inference tensors do not track version counter"
        r"|requires_grad=True on inference tensor",
        "inference",
        "the tensor was made in inference mode and cannot take part in a graph",
        "clone it outside inference mode, or use torch.no_grad() in place of inference_mode()",
    ),
    _message(
        r"functions with out=\.\.\. arguments don't support automatic differentiation",
        "out",
        "an operation with out= records no graph, and here one of its arguments requires grad",
        "assign the result instead (c = torch.add(a, b)), or copy it into the buffer with copy_()",
    ),
    _message(
        r"mark_dirty|marked as dirty|modifies inplace an input that is a view|modify views in-place must return",
        "custom-function",
        "a custom Function that changes an input must say so with ctx.mark_dirty and "
        "return that very input, alone if the "
        "input is a view",
        "return the changed input, or work on a clone of the input and do not mark it",
    ),
    _message(
        r"inplace custom Function is not (modifying|returning) the forward mode gradients",
        "custom-function",
        "forward changes its input in place, so jvp must change the tangent in place in the same way",
        "update the tangent in place in jvp and return it, or make forward out of place",
    ),
    _message(
        r"more than one element of the written-to tensor refers to a single memory location",
        "expanded",
        "the written tensor was expanded (expand, broadcast_to, meshgrid): several of its elements are one memory cell",
        f"clone it first (x = x.clone()), or {_OUT_OF_PLACE}",
    ),
    _message(
        r"some elements of the input tensor and the written-to tensor refer to a single memory location",
        "overlap",
        "the operand and the written tensor share a part of their memory, so the result would depend on the order",
        "clone the operand: x[1:] = x[:-1].clone()",
    ),
    _message(
        r"tensor being mutated that has internal overlap",
        "overlap",
        "several elements of the written tensor are one memory cell",
        f"clone it first, or {_OUT_OF_PLACE}",
    ),
    _message(
        r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible",
        "functorch",
        "the written tensor was made without the mapped dimension, so there is no room for one value per example",
        "make the written tensor from a mapped one (torch.zeros_like(y), "
        "y.new_zeros(n)), or build the result out of place",
    ),
    _message(
        r"provided attempted to call in-place operation .* that would mutate a captured Tensor",
        "functorch",
        "a function under a torch.func transform must not change a tensor that it got from outside",
        "pass the tensor in as an argument and return its new value",
    ),
    _message(
        r"mutating directly with `\.data` inside functorch transform",
        "functorch",
        "`.data` goes round autograd, which a torch.func transform cannot follow",
        "compute a new tensor instead of assigning .data",
    ),
    _message(
        r"Batch norm got a batched tensor as input while the running_mean or running_var",
        "functorch",
        "batch norm updates its running statistics in place, and under vmap there would be one update per example",
        "track_running_stats=False, eval mode, or torch.func.replace_all_batch_norm_modules_",
    ),
    _message(
        r"vmap: .*random(ness)?",
        "functorch",
        "a random in-place operation under vmap needs to know whether each example draws its own numbers",
        "vmap(..., randomness='different' or 'same'); for an unmapped buffer, make the buffer from a mapped tensor",
    ),
    _message(
        r"inplace version of \w+' is not implemented",
        "no-derivative",
        "this in-place operation has no derivative (acosh_, asinh_, atanh_ and their arc names)",
        "call the name without the underscore and bind the result",
    ),
    _message(
        r"In-place (leakyReLu|elu|rrelu) backward calculation is triggered with a negative slope",
        "negative-slope",
        "in place, backward reads the result, and with a negative slope the sign of the input cannot be told from it",
        "inplace=False",
    ),
    _message(
        r"In-place abs is not supported for complex tensors",
        "dtype",
        "the absolute value of a complex tensor is real and does not fit into the tensor",
        "x = x.abs()",
    ),
    _message(
        r"result type \w+ can't be cast to the desired output type",
        "dtype",
        "in place the dtype must stay, and the result of this operation is of a kind that it cannot hold",
        "convert first (x = x.float()), or " + _OUT_OF_PLACE,
    ),
    _message(
        r"output with shape .* doesn't match the broadcast shape",
        "shape",
        "in place the shape must stay, and with this operand the result would be larger",
        "out of place if the larger result is meant; else reduce or index the operand to the receiver's shape",
    ),
    _message(
        r"fill_ only supports 0-dimension value tensor",
        "shape",
        "fill_ takes one number, this tensor has dimensions",
        "pass a number or a 0-dim tensor (value.squeeze()), or use copy_()",
    ),
    _message(
        r"cannot resize variables that require grad",
        "resize",
        "a new size would leave the history of the tensor without meaning",
        "make a new tensor (reshape, pad, cat), or resize under a detached tensor",
    ),
    _message(
        r"Can't call (apply|map2?)_\(\)",
        "callback",
        "apply_ and map_ call Python for each element, which no graph can record",
        "write the function with torch operations, or work on x.detach()",
    ),
    _message(
        r"Can't call numpy\(\) on Tensor that requires grad",
        "numpy-export",
        "NumPy would share the memory, and writes through it are invisible to autograd",
        "x.detach().numpy() to read; x.detach().clone().numpy() if the array is written to",
    ),
    _message(
        r"you can only change requires_grad flags of leaf variables",
        "requires-grad",
        "a computed tensor's flag follows from its history",
        "x.detach() gives the same value without history",
    ),
    _message(
        r"only Tensors of floating point( and complex)? dtype can require gradients"
        r"|data set to a tensor that requires gradients must be floating point",
        "dtype",
        "only floating-point and complex tensors can have a gradient",
        "convert to a floating-point dtype first",
    ),
    _message(
        r"saved tensor pack hook is modifying its input in place",
        "pack-hook",
        "the tensor handed to a pack hook is the program's own; a write to it changes the program",
        "return a new tensor from the pack hook",
    ),
    _message(
        r"Trying to use a saved tensor that has been detached in-place",
        "detach-saved",
        "detach_() took away the history of a value that was saved for backward",
        "bind the detached tensor to a name instead: y = y.detach()",
    ),
    _message(
        r"Trying to backward through the graph a second time",
        "freed-graph",
        "the first backward freed the saved values; nothing was overwritten",
        "backward(retain_graph=True) the first time, or compute the forward again; in a "
        "loop, detach what is carried over",
    ),
    _message(
        r"that already has a forward gradient at the same level|set a value of a forward grad"
        r"|can re-set the forward grad",
        "forward-mode",
        "the tensor has a tangent already: an in-place operation with a dual operand gave it one",
        "make the dual from a fresh tensor (clone the primal)",
    ),
    _message(
        r"Cannot swap t\d because it has weakref|Expected use_count of t\d to be",
        "swap",
        "torch.utils.swap_tensors needs both tensors for itself: no weak reference and no saved value may hold them",
        "let go of the reference, or swap before the forward pass",
    ),
    _message(
        r"'aten::\w+_(\.\w+)?' with arguments from the 'Sparse",
        "sparse",
        "this in-place operation does not exist for sparse tensors in this form",
        "coalesce() first, or use the out-of-place operation",
    ),
    _message(
        r"in-place .* (is )?not supported|inplace .* (is )?not supported",
        "unsupported",
        "this in-place operation does not exist for this kind of tensor",
        _OUT_OF_PLACE,
    ),
    _message(
        r"(numpy|assignment destination|array) is read-only|is not writable",
        "not-writable",
        "`a.b += v` writes in place and then assigns to the attribute, which cannot be "
        "assigned: the write is done already",
        "write to the tensor itself: a.b.add_(v), or compute out of place",
    ),
)


def explain(message: str) -> Explanation | None:
    """The explanation of an exception's message; None where it is none of PyTorch's in-place errors."""
    for pattern, explanation in _KNOWN:
        if pattern.search(message):
            return explanation
    return None


def by_kind(kind: str) -> Explanation:
    """The explanation of one kind; KeyError where there is none."""
    for _, explanation in _KNOWN:
        if explanation.kind == kind:
            return explanation
    raise KeyError(kind)


def first_sentence(message: str) -> str:
    """PyTorch's message up to its hint, in one line."""
    line = " ".join(message.split())
    return line.split(" Hint:")[0][:400]
