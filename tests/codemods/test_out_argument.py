"""The rewrite of out= arguments."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import OutArgument, Span


def out(target: str | None, **more: bool):
    def make(span: Span) -> OutArgument:
        return OutArgument(span, target, **more)  # type: ignore[arg-type]

    return make


CASES = {
    "a statement": ("⟦torch.add(x, y, out=a)⟧\n", out("a"), "a = torch.add(x, y)\n"),
    "a tuple": (
        "v, n = torch.empty(2, 2), torch.empty(2, 2, dtype=torch.long)\n⟦torch.topk(x, 2, out=(v, n))⟧\n",
        out("v, n"),
        "v, n = torch.empty(2, 2), torch.empty(2, 2, dtype=torch.long)\nv, n = torch.topk(x, 2)\n",
    ),
    "a copy": ("⟦torch.mul(x, y, out=a[0:2])⟧\n", out("a[0:2]", copy=True), "a[0:2].copy_(torch.mul(x, y))\n"),
    "a copy that is used": (
        "z = ⟦torch.mul(x, y, out=a)⟧ + 1\n",
        out("a", copy=True),
        "z = a.copy_(torch.mul(x, y)) + 1\n",
    ),
    "an assignment": ("z = ⟦torch.mul(x, y, out=a)⟧\n", out("a"), "a = z = torch.mul(x, y)\n"),
    "an argument": ("see(⟦torch.mul(x, y, out=a)⟧, a)\n", out("a"), "see(a := torch.mul(x, y), a)\n"),
    "a cast": (
        "a = a.double()\n⟦torch.add(x, y, out=a)⟧\n",
        out("a", cast=True),
        "a = a.double()\na = torch.add(x, y).to(a.dtype)\n",
    ),
    "an attribute": ("⟦torch.add(x, y, out=self.h)⟧\n", out("self.h"), "self.h = torch.add(x, y)\n"),
    "a receiver that is written": ("⟦torch.add(x, y, out=x)⟧\n", out("x"), "x = torch.add(x, y)\n"),
    "arguments over lines": (
        "⟦torch.add(\n    x,\n    y,  # other\n    out=a,\n)⟧\n",
        out("a"),
        "a = torch.add(\n    x,\n    y,  # other\n)\n",
    ),
    "a keyword behind it": ("⟦torch.add(x, y, out=a, alpha=2)⟧\n", out("a"), "a = torch.add(x, y, alpha=2)\n"),
    "a one-line suite": ("if i: ⟦torch.add(x, y, out=a)⟧\n", out("a"), "if i: a = torch.add(x, y)\n"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_out_argument_becomes_an_assignment_in(name: str) -> None:
    text, maker, expected = CASES[name]
    result = rewrite(text, maker)
    assert result == expected
    assert outcome(result) == outcome(marked(text)[0])


def test_an_out_argument_whose_tensor_is_not_needed_is_dropped() -> None:
    text = "z = ⟦torch.mm(x, y.T, out=torch.empty(2, 2).zero_())⟧\n".replace("torch.empty(2, 2).zero_()", "buf")
    result = rewrite("buf = torch.empty(2, 2)\n" + text, out(None))
    assert result == "buf = torch.empty(2, 2)\nz = torch.mm(x, y.T)\n"
    assert outcome(result)["z"] == outcome(marked("buf = torch.empty(2, 2)\n" + text)[0])["z"]


@pytest.mark.parametrize(
    ("text", "maker", "reason"),
    [
        ("⟦torch.add(x, y)⟧\n", out("a"), "no out="),
        ("⟦torch.add(x, y, **kw)⟧\n", out("a"), "no out="),
        ("⟦torch.add(x, y, out=f())⟧\n", out("a"), "effects"),
        ("⟦torch.topk(x, 2, out=(v, n))⟧\n", out("v", copy=True), "single tensor"),
        ("⟦torch.topk(x, 2, out=(v, n))⟧\n", out("v, n", cast=True), "single result"),
        ("z = i and ⟦torch.topk(x, 2, out=(v, n))⟧\n", out("v, n"), "only when the other operand"),
    ],
)
def test_an_out_argument_that_cannot_go_is_refused(text: str, maker: object, reason: str) -> None:
    assert reason in refusal(text, maker)  # type: ignore[arg-type]
