"""Where a target is bound: declared in its function, or refused with the reason."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import OutOfPlaceCall, Span


def add(target: str, declare: str = ""):
    def make(span: Span) -> OutOfPlaceCall:
        return OutOfPlaceCall(span, "{x}.add({args})", target, declare=declare)

    return make


@pytest.mark.parametrize(
    ("text", "declare", "expected"),
    [
        (
            "def f():\n    n = x * 1\n    def g():\n        ⟦n.add_(1)⟧\n    g()\n    return n\nz = f()\n",
            "nonlocal",
            "def f():\n    n = x * 1\n    def g():\n        nonlocal n\n        n = n.add(1)\n"
            "    g()\n    return n\nz = f()\n",
        ),
        (
            'def g():\n    """Doc."""\n    # first\n    ⟦n.add_(1)⟧\nn = x * 1\ng()\n',
            "global",
            'def g():\n    """Doc."""\n    global n\n    # first\n    n = n.add(1)\nn = x * 1\ng()\n',
        ),
        (
            "def g():\n    global m\n    ⟦n.add_(1)⟧\n    ⟦n.add_(1)⟧\nn = x * 1\ng()\n",
            "global",
            "def g():\n    global m, n\n    n = n.add(1)\n    n = n.add(1)\nn = x * 1\ng()\n",
        ),
        (
            "def g():\n    p = 1\n    ⟦n.add_(1)⟧\n    ⟦k.add_(1)⟧\nn, k = x * 1, y * 1\ng()\n",
            "global",
            "def g():\n    global n, k\n    p = 1\n    n = n.add(1)\n    k = k.add(1)\nn, k = x * 1, y * 1\ng()\n",
        ),
        ("def g(): ⟦n.add_(1)⟧\nn = x * 1\ng()\n", "global", "def g(): global n; n = n.add(1)\nn = x * 1\ng()\n"),
        (
            "def g():\n    global n\n    ⟦n.add_(1)⟧\nn = x * 1\ng()\n",
            "global",
            "def g():\n    global n\n    n = n.add(1)\nn = x * 1\ng()\n",
        ),
    ],
)
def test_a_name_of_another_scope_is_declared_once_and_first(text: str, declare: str, expected: str) -> None:
    source, _ = marked(text)
    result = rewrite(text, add("n", declare=declare), add("k" if "k.add_" in text else "n", declare=declare))
    assert result == expected
    assert outcome(result) == outcome(source)


@pytest.mark.parametrize(
    ("text", "target", "reason"),
    [
        ("z = f'{⟦x.add_(1)⟧=}'\n", "x", "prints the text"),
        ("z = [⟦x.add_(1)⟧ for x in states]\n", "x", "iteration variable"),
        ("z = [r for n in range(2) for r in ⟦x.add_(n)⟧]\n", "x", "comprehension's iterable"),
        ("z = lambda: ⟦x.add_(1)⟧\n", "x", "which a lambda cannot rebind"),
        ("def f():\n    ⟦x.add_(1)⟧\n", "x", "would become a new variable"),
        ("class A:\n    ⟦x.add_(1)⟧\n", "x", "would become a new variable"),
        ("class A:\n    x = y\n    z = [⟦x.add_(n)⟧ for n in range(2)]\n", "x", "class body"),
        ("while ⟦self.h.add_(1)⟧.sum() < 9: pass\n", "self.h", "again in every round"),
        ("z = i and ⟦self.h.add_(1)⟧\n", "self.h", "only when the other operand"),
        ("z = see(1), ⟦self.h.add_(1)⟧\n", "self.h", "side effects"),
        ("z = self.h.sum() * 2, ⟦self.h.add_(1)⟧\n", "self.h", "side effects"),
        ("z = self.h * 2, ⟦self.h.add_(1)⟧\n", "self.h", "old value is used before"),
        ("z = i and see(x, ⟦x.add_(1)⟧)\n", "x", "only when the other operand"),
        ("if i: pass\nelif ⟦self.h.add_(1)⟧.sum(): pass\n", "self.h", "elif"),
        ("z = see(⟦states[see(0)].add_(1)⟧)\n", "states[see(0)]", "evaluated twice"),
    ],
)
def test_a_call_whose_receiver_cannot_be_bound_there_is_refused(text: str, target: str, reason: str) -> None:
    assert reason in refusal(text, add(target))
