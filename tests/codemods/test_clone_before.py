"""The clone that is put before a statement."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import CloneBefore, Span


def clone(target: str = "x", declare: str = ""):
    def make(span: Span) -> CloneBefore:
        return CloneBefore(span, target, declare)

    return make


CASES = {
    "a line of its own": ("⟦x.add_(1)⟧\n", "x", "x = x.clone()\nx.add_(1)\n"),
    "a line below a comment": (
        "# scale\n⟦x.mul_(2)⟧  # twice\n\n# done\n",
        "x",
        "# scale\nx = x.clone()\nx.mul_(2)  # twice\n\n# done\n",
    ),
    "semicolons": ("p = x; kept = p; ⟦x += 1⟧\n", "x", "p = x; kept = p; x = x.clone(); x += 1\n"),
    "the first of several statements": ("⟦x += 1⟧; y += 2;\n", "x", "x = x.clone(); x += 1; y += 2;\n"),
    "a one-line suite": ("if i: ⟦x.add_(1)⟧\n", "x", "if i: x = x.clone(); x.add_(1)\n"),
    "an else on one line": (
        "if not i: pass\nelse: ⟦x[0] = 1⟧\n",
        "x",
        "if not i: pass\nelse: x = x.clone(); x[0] = 1\n",
    ),
    "a slice store": ("⟦x[0, 1:] = 5⟧\n", "x", "x = x.clone()\nx[0, 1:] = 5\n"),
    "a chain": ("⟦x.mul_(a).sub_(x.mean())⟧\n", "x", "x = x.clone()\nx.mul_(a).sub_(x.mean())\n"),
    "an attribute": ("⟦self.h.add_(1)⟧\n", "self.h", "self.h = self.h.clone()\nself.h.add_(1)\n"),
    "a container's slot": ("⟦states[0].add_(1)⟧\n", "states[0]", "states[0] = states[0].clone()\nstates[0].add_(1)\n"),
    "a loop": (
        "⟦for n in range(2):\n    x[n] = n⟧\n",
        "x",
        "x = x.clone()\nfor n in range(2):\n    x[n] = n\n",
    ),
    "a with block": (
        "# quiet\n⟦with torch.no_grad():\n    x.add_(1)⟧\n",
        "x",
        "# quiet\nx = x.clone()\nwith torch.no_grad():\n    x.add_(1)\n",
    ),
    "a decorated function": (
        "def d(f): return f\n⟦@d\ndef f(): return x⟧\n",
        "x",
        "def d(f): return f\nx = x.clone()\n@d\ndef f(): return x\n",
    ),
    "the body of an elif": (
        "if not i:\n    pass\nelif i:\n    ⟦x.add_(1)⟧\n",
        "x",
        "if not i:\n    pass\nelif i:\n    x = x.clone()\n    x.add_(1)\n",
    ),
    "a nested block with tabs": (
        "if i:\n\tfor n in range(2):\n\t\t⟦x += n⟧\n",
        "x",
        "if i:\n\tfor n in range(2):\n\t\tx = x.clone()\n\t\tx += n\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_clone_is_put_before(name: str) -> None:
    text, target, expected = CASES[name]
    source, _ = marked(text)
    result = rewrite(text, clone(target))
    assert result == expected
    after = outcome(result)
    before = outcome(source)
    # Who held the old tensor no longer sees the write: that is what the clone is for.
    for alias in ("p", "kept"):
        before.pop(alias, None), after.pop(alias, None)
    assert after == before


def test_two_statements_of_one_line_each_get_their_clone() -> None:
    assert rewrite("⟦x += 1⟧; ⟦y += 2⟧\n", clone("x"), clone("y")) == "x = x.clone(); x += 1; y = y.clone(); y += 2\n"


def test_the_same_clone_is_put_once() -> None:
    assert rewrite("⟦⟦x += 1⟧⟧\n", clone(), clone()) == "x = x.clone()\nx += 1\n"


def test_a_global_is_declared_before_it_is_cloned() -> None:
    text = "def f():\n    ⟦n.add_(1)⟧\nn = x * 1\nf()\n"
    result = rewrite(text, clone("n", "global"))
    assert result == "def f():\n    global n\n    n = n.clone()\n    n.add_(1)\nn = x * 1\nf()\n"
    assert outcome(result) == outcome(marked(text)[0])


@pytest.mark.parametrize(
    ("text", "target", "reason"),
    [
        ("if i: pass\n⟦elif x.sum():\n    x.add_(1)⟧\n", "x", "elif"),
        ("⟦states[next(q)].add_(1)⟧\n", "states[next(q)]", "evaluated twice"),
        ("⟦x.add_(1)⟧\n", "x +", "no expression"),
        ("⟦x.add_(1)⟧\n", "x + 1", "cannot be assigned"),
        ("⟦x.add_(1)⟧\n", "x, y", "evaluated twice"),
        ("def f():\n    ⟦x.add_(1)⟧\n", "x", "new variable"),
        ("x.add_(⟦1⟧)\n", "x", "no statement"),
    ],
)
def test_a_clone_that_would_change_the_program_is_refused(text: str, target: str, reason: str) -> None:
    assert reason in refusal(text, clone(target))
