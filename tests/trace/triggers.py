"""Small programs that make PyTorch speak about an in-place operation: each with the kind and the expression to name.

An empty kind means that PyTorch 2.13 says nothing and nothing is wrong, so that nothing may be reported.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

HEAD = """\
import weakref
import torch
import torch.autograd.forward_ad as forward_ad
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def leaf(*shape):
    return torch.rand(*(shape or (3,)), requires_grad=True)


def inner(*shape):
    return leaf(*shape) * 1


"""


@dataclass(frozen=True)
class Trigger:
    """``expression`` is the source text that the fault's first write must cover exactly."""

    name: str
    kind: str
    source: str
    expression: str = ""

    @property
    def program(self) -> str:
        """The whole module."""
        return HEAD + textwrap.dedent(self.source).strip() + "\n"


def _function(forward: str, backward: str = "return grad", extra: str = "") -> str:
    return (
        "class Op(torch.autograd.Function):\n"
        "    @staticmethod\n"
        f"    def forward(ctx, x):\n        {forward}\n"
        "    @staticmethod\n"
        f"    def backward(ctx, grad):\n        {backward}\n"
        f"{extra}\n"
    )


TRIGGERS = [
    Trigger("overwritten result", "saved-tensor", "y = leaf().exp()\ny.add_(1)\ny.sum().backward()", "y.add_(1)"),
    Trigger(
        "overwritten value of a custom Function",
        "saved-tensor",
        _function("y = x.exp(); ctx.save_for_backward(y); return y", "return grad * ctx.saved_tensors[0]")
        + "y = Op.apply(leaf())\ny.mul_(2)\ny.sum().backward()",
        "y.mul_(2)",
    ),
    Trigger("leaf", "leaf", "x = leaf()\nx.add_(1)", "x.add_(1)"),
    Trigger("leaf, item", "view-of-leaf", "x = leaf()\nx[0] = 1", "x[0]"),
    Trigger("leaf, augmented", "leaf", "x = leaf()\nx += 1", "x += 1"),
    Trigger("view of a leaf", "view-of-leaf", "x = leaf(3, 4)\nx[0].mul_(2)", "x[0].mul_(2)"),
    Trigger("row of a leaf, augmented", "view-of-leaf", "x = leaf(3, 4)\nx[0] += 1", "x[0] += 1"),
    Trigger("leaf of a view, written later", "", "b = torch.zeros(3)\nv = b[:2]\nv.requires_grad_()\nb.add_(leaf())"),
    Trigger("chunk", "multi-output-view", "a, b = inner(4).chunk(2)\na.mul_(2)", "a.mul_(2)"),
    Trigger("iteration", "multi-output-view", "for row in inner(3, 4):\n    row.mul_(2)", "row.mul_(2)"),
    Trigger(
        "view from no_grad",
        "no-grad-view",
        "b = inner(3, 4)\nwith torch.no_grad():\n    v = b[0]\nv.mul_(2)",
        "v.mul_(2)",
    ),
    Trigger(
        "view from inference mode",
        "no-grad-view",
        "b = inner(3, 4)\nwith torch.inference_mode():\n    v = b[0]\nv.mul_(2)",
        "v.mul_(2)",
    ),
    Trigger(
        "chunk from no_grad",
        "no-grad-view",
        "b = inner(4)\nwith torch.no_grad():\n    v = b.chunk(2)[0]\nv.mul_(2)",
        "v.mul_(2)",
    ),
    Trigger(
        "base of several views",
        "multi-output-view",
        "b = inner(4)\nv, w = b.chunk(2)\nb.mul_(2)\nv.sum().backward()",
        "b.mul_(2)",
    ),
    Trigger(
        "view from a custom Function",
        "custom-function-view",
        _function("return x.view_as(x)") + "y = Op.apply(inner())\ny.mul_(2)",
        "y.mul_(2)",
    ),
    Trigger(
        "hooked module",
        "hook-view",
        "m = nn.Linear(3, 3)\nm.register_full_backward_hook(lambda *a: None)\ny = m(leaf(2, 3))\ny.mul_(2)",
        "y.mul_(2)",
    ),
    Trigger(
        "hooked module before an in-place module",
        "hook-view",
        "m = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))\n"
        "for k in m:\n    k.register_full_backward_hook(lambda *a: None)\n"
        "m(leaf(2, 3)).sum().backward()",
        "m(leaf(2, 3))",
    ),
    Trigger(
        "inference tensor", "inference", "with torch.inference_mode():\n    t = torch.rand(3)\nt.add_(1)", "t.add_(1)"
    ),
    Trigger(
        "inference tensor, saved",
        "inference",
        "with torch.inference_mode():\n    t = torch.rand(3)\nx = leaf() * t",
        "leaf() * t",
    ),
    Trigger(
        "inference tensor, version",
        "inference",
        "with torch.inference_mode():\n    t = torch.rand(3)\nt._version",
        "t._version",
    ),
    Trigger(
        "inference tensor, flag",
        "inference",
        "with torch.inference_mode():\n    t = torch.rand(3)\nt.requires_grad_()",
        "t.requires_grad_()",
    ),
    Trigger("out=", "out", "o = torch.zeros(3)\ntorch.add(leaf(), 1, out=o)", "torch.add(leaf(), 1, out=o)"),
    Trigger(
        "out= that requires grad",
        "out",
        "o = leaf()\ntorch.add(torch.ones(3), 1, out=o)",
        "torch.add(torch.ones(3), 1, out=o)",
    ),
    Trigger("expanded", "expanded", "t = torch.zeros(3, 1).expand(3, 4)\nt.add_(1)", "t.add_(1)"),
    Trigger("overlap of operand", "overlap", "t = torch.rand(5)\nt[1:].add_(t[:-1])", "t[1:].add_(t[:-1])"),
    Trigger("overlap in a store", "overlap", "t = torch.rand(5)\nt[1:] = t[:-1]", "t[1:]"),
    Trigger("expanded store", "expanded", "t = torch.zeros(1).expand(4)\nt[:] = torch.arange(4.)", "t[:]"),
    Trigger(
        "expanded out=",
        "expanded",
        "o = torch.zeros(3, 1).expand(3, 4)\ntorch.add(torch.rand(3, 4), 1, out=o)",
        "torch.add(torch.rand(3, 4), 1, out=o)",
    ),
    Trigger(
        "expanded scatter",
        "expanded",
        "t = torch.zeros(1).expand(4)\nt.scatter_(0, torch.tensor([0]), 1.)",
        "t.scatter_(0, torch.tensor([0]), 1.)",
    ),
    Trigger("shape", "shape", "t = torch.rand(3)\nt.add_(torch.rand(2, 3))", "t.add_(torch.rand(2, 3))"),
    Trigger("dtype", "dtype", "t = torch.ones(3, dtype=torch.long)\nt.add_(0.5)", "t.add_(0.5)"),
    Trigger("dtype, augmented", "dtype", "t = torch.ones(3, dtype=torch.long)\nt /= 2", "t /= 2"),
    Trigger("no derivative", "no-derivative", "x = inner() + 1.5\nx.acosh_()\nx.sum().backward()", "x.acosh_()"),
    Trigger("complex abs", "dtype", "t = torch.rand(3, dtype=torch.complex64)\nt.abs_()", "t.abs_()"),
    Trigger(
        "leaky_relu slope",
        "negative-slope",
        "y = F.leaky_relu(inner(), -0.1, inplace=True)\ny.sum().backward()",
        "F.leaky_relu(inner(), -0.1, inplace=True)",
    ),
    Trigger(
        "elu slope",
        "negative-slope",
        "y = F.elu(inner(), -0.5, inplace=True)\ny.sum().backward()",
        "F.elu(inner(), -0.5, inplace=True)",
    ),
    Trigger("rrelu slope", "", "F.rrelu(inner(), -0.5, -0.1, training=True, inplace=True).sum().backward()"),
    Trigger(
        "mark_dirty of another tensor",
        "custom-function",
        _function("ctx.mark_dirty(x.clone()); return x.clone()") + "Op.apply(inner())",
        "Op.apply(inner())",
    ),
    Trigger(
        "dirty input not returned",
        "custom-function",
        _function("x.mul_(2); ctx.mark_dirty(x); return x.clone()") + "Op.apply(inner())",
        "Op.apply(inner())",
    ),
    Trigger(
        "dirty view with two results",
        "custom-function",
        _function("x.mul_(2); ctx.mark_dirty(x); return x, x.clone()").replace("ctx, grad)", "ctx, grad, other)")
        + "Op.apply(inner()[:2])",
        "Op.apply(inner()[:2])",
    ),
    Trigger(
        "dirty leaf",
        "leaf",
        _function("x.mul_(2); ctx.mark_dirty(x); return x") + "Op.apply(leaf())",
        "Op.apply(leaf())",
    ),
    Trigger(
        "dirty number",
        "custom-function",
        _function("ctx.mark_dirty(3); return x.clone()") + "Op.apply(inner())",
        "Op.apply(inner())",
    ),
    Trigger(
        "jvp out of place",
        "custom-function",
        _function(
            "x.mul_(2); ctx.mark_dirty(x); return x",
            extra="    @staticmethod\n    def jvp(ctx, t):\n        return t * 2\n",
        )
        + "with forward_ad.dual_level():\n"
        "    x = forward_ad.make_dual(torch.rand(3), torch.rand(3)) * 1\n    Op.apply(x)",
        "Op.apply(x)",
    ),
    Trigger(
        "dirty chunk",
        "multi-output-view",
        _function("x.mul_(2); ctx.mark_dirty(x); return x") + "a, b = inner(4).chunk(2)\nOp.apply(a)",
        "Op.apply(a)",
    ),
    Trigger("detach_ on a view", "detach-view", "v = inner(4)[0]\nv.detach_()", "v.detach_()"),
    Trigger("detach_ on a chunk", "detach-view", "v = inner(4).chunk(2)[0]\nv.detach_()", "v.detach_()"),
    Trigger("detach_ on a saved result", "", "y = leaf().exp()\nnode = y.grad_fn\ny.detach_()\nnode(torch.ones(3))"),
    Trigger(
        "requires_grad_ on a result", "requires-grad", "y = inner()\ny.requires_grad_(False)", "y.requires_grad_(False)"
    ),
    Trigger("integer .data", "dtype", "x = leaf()\nx.data = torch.zeros(3, dtype=torch.long)", "x.data"),
    Trigger("resize_", "resize", "x = inner()\nx.resize_(5)", "x.resize_(5)"),
    Trigger("resize_ on a leaf", "resize", "x = leaf()\nx.resize_(5)", "x.resize_(5)"),
    Trigger("resize_as_", "resize", "x = inner()\nx.resize_as_(torch.rand(5))", "x.resize_as_(torch.rand(5))"),
    Trigger("set_", "", "x = inner()\nx.set_(torch.rand(5))"),
    Trigger("apply_", "callback", "x = inner()\nx.apply_(abs)", "x.apply_(abs)"),
    Trigger("map_", "callback", "x = inner()\nx.map_(leaf(), min)", "x.map_(leaf(), min)"),
    Trigger("numpy", "numpy-export", "x = inner()\nx.numpy()", "x.numpy()"),
    Trigger(
        "swap_tensors",
        "swap",
        "a = torch.rand(3)\nheld = weakref.ref(a)\ntorch.utils.swap_tensors(a, torch.rand(3))",
        "torch.utils.swap_tensors(a, torch.rand(3))",
    ),
    Trigger(
        "vmap, broadcast",
        "shape",
        "def f(y):\n    t = torch.zeros(3)\n    return t.add_(y)\ntorch.vmap(f)(torch.rand(2, 3))",
        "t.add_(y)",
    ),
    Trigger(
        "vmap, store",
        "functorch",
        "def f(y):\n    t = torch.zeros(3)\n    t[0] = y\n    return t\ntorch.vmap(f)(torch.rand(2))",
        "t[0]",
    ),
    Trigger(
        "vmap, copy_",
        "functorch",
        "def f(y):\n    return torch.zeros(3).copy_(y)\ntorch.vmap(f)(torch.rand(2, 3))",
        "torch.zeros(3).copy_(y)",
    ),
    Trigger(
        "func.grad, captured tensor",
        "functorch",
        "s = torch.zeros(3)\ndef f(x):\n    return s.add_(x).sum()\ntorch.func.grad(f)(torch.rand(3))",
        "s.add_(x)",
    ),
    Trigger(
        "func.grad, .data",
        "functorch",
        "def f(x):\n    x.data = x.data * 2\n    return x.sum()\ntorch.func.grad(f)(torch.rand(3))",
        "x.data",
    ),
    Trigger(
        "vmap, batch norm",
        "functorch",
        "bn = nn.BatchNorm1d(3)\ndef f(x):\n    return bn(x)\ntorch.vmap(f)(torch.rand(2, 4, 3))",
        "bn(x)",
    ),
    Trigger(
        "vmap, random",
        "functorch",
        "def f(x):\n    return x.clone().normal_()\ntorch.vmap(f)(torch.rand(2, 3))",
        "x.clone().normal_()",
    ),
    Trigger(
        "vmap, random on an unmapped tensor",
        "functorch",
        "def f(x):\n    return torch.zeros(3).normal_() + x\ntorch.vmap(f, randomness='different')(torch.rand(2, 3))",
        "torch.zeros(3).normal_()",
    ),
    Trigger(
        "forward mode, second tangent",
        "forward-mode",
        "with forward_ad.dual_level():\n"
        "    t = torch.zeros(3)\n"
        "    t.add_(forward_ad.make_dual(torch.rand(3), torch.rand(3)))\n"
        "    forward_ad.make_dual(t, torch.rand(3))",
        "forward_ad.make_dual(t, torch.rand(3))",
    ),
    Trigger(
        "forward mode, expanded",
        "expanded",
        "with forward_ad.dual_level():\n"
        "    v = torch.zeros(3).expand(2, 3)\n"
        "    v.add_(forward_ad.make_dual(torch.rand(2, 3), torch.rand(2, 3)))",
        "v.add_(forward_ad.make_dual(torch.rand(2, 3), torch.rand(2, 3)))",
    ),
    Trigger(
        "forward mode, view from no_grad",
        "",
        "with forward_ad.dual_level():\n"
        "    t = torch.zeros(3)\n"
        "    with torch.no_grad():\n        v = t[:2]\n"
        "    v.mul_(forward_ad.make_dual(torch.rand(2), torch.rand(2)))",
    ),
    Trigger(
        "writing pack hook",
        "pack-hook",
        "def pack(t):\n    return t.mul_(2)\n"
        "x = inner()\nwith torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):\n    x.exp()",
        "x.exp()",
    ),
    Trigger("uncoalesced", "sparse", "s = torch.sparse_coo_tensor([[0, 0]], [1., 2.], (2,))\ns.pow_(2)", "s.pow_(2)"),
    Trigger(
        "functionalize, unfold",
        "overlap",
        "def f(x):\n    return x.unfold(0, 2, 1).add_(1)\ntorch.func.functionalize(f)(torch.rand(4))",
        "x.unfold(0, 2, 1).add_(1)",
    ),
    Trigger(
        "backward twice",
        "freed-graph",
        "y = leaf().exp()\ny.sum().backward()\ny.sum().backward()",
        "y.sum().backward()",
    ),
    Trigger("retain_grad, then a write", "", "y = inner()\ny.retain_grad()\ny.mul_(2)\ny.sum().backward()"),
    Trigger("view, then a write to its base", "", "b = inner(3, 4)\nv = b[0]\nb.mul_(2)\nv.sum().backward()"),
    Trigger("view of another dtype", "", "b = inner(4)\nv = b.detach().view(torch.int32)\nv.add_(1)"),
    Trigger(
        "real part",
        "",
        "b = torch.rand(3, dtype=torch.complex64, requires_grad=True) * 1\nb.real.mul_(2)\nb.real.sum().backward()",
    ),
    Trigger(
        "integer requires_grad_",
        "dtype",
        "t = torch.ones(3, dtype=torch.long)\nt.requires_grad_()",
        "t.requires_grad_()",
    ),
    Trigger("fill_ with a vector", "shape", "t = torch.zeros(3)\nt.fill_(torch.rand(3))", "t.fill_(torch.rand(3))"),
    Trigger(
        "checkpoint, changed input",
        "saved-tensor",
        "def block(a):\n    return a.sin().exp()\n"
        "h = inner()\no = checkpoint(block, h, use_reentrant=False)\nh.mul_(0)\no.sum().backward()",
        "h.mul_(0)",
    ),
    Trigger(
        "checkpoint, written input",
        "saved-tensor",
        "def block(a):\n    return a.mul_(2).sin()\nh = inner()\n"
        "o = checkpoint(block, h, use_reentrant=False)\no.sum().backward()",
        "a.mul_(2)",
    ),
    Trigger(
        "reentrant checkpoint, written input",
        "leaf",
        "def block(a):\n    return a.mul_(2).sin()\nh = inner()\n"
        "o = checkpoint(block, h, use_reentrant=True)\no.sum().backward()",
        "a.mul_(2)",
    ),
    Trigger(
        "written gradient",
        "",
        "x = leaf()\n(x * x).sum().backward(create_graph=True)\nx.grad.mul_(2)\nx.grad.sum().backward()",
    ),
    Trigger("attribute that cannot be assigned", "not-writable", "d = torch.rand(2, 3)\nd.T -= 1", "d.T"),
]
