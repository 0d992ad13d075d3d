"""Statements under no_grad."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import NoGrad, OutOfPlaceCall, Span


def imported(span: Span) -> NoGrad:
    return NoGrad(span, "")


CASES = {
    "one statement": ("⟦x.add_(1)⟧  # c\n", "with torch.no_grad():\n    x.add_(1)  # c\n"),
    "neighbours": ("⟦x.add_(1)⟧\n⟦y.add_(1)⟧\nz = 1\n", "with torch.no_grad():\n    x.add_(1)\n    y.add_(1)\nz = 1\n"),
    "neighbours with comments and blank lines between": (
        "# one\n⟦x.add_(1)⟧\n\n# two\n⟦y.add_(1)⟧\n",
        "# one\nwith torch.no_grad():\n    x.add_(1)\n\n    # two\n    y.add_(1)\n",
    ),
    "statements apart": (
        "⟦x.add_(1)⟧\nz = 1\n⟦y.add_(1)⟧\n",
        "with torch.no_grad():\n    x.add_(1)\nz = 1\nwith torch.no_grad():\n    y.add_(1)\n",
    ),
    "semicolons": (
        "p = 1; ⟦x.add_(p)⟧; q = 2; r = 3  # c\n",
        "p = 1\nwith torch.no_grad():\n    x.add_(p)\nq = 2; r = 3  # c\n",
    ),
    "all statements of a line": (
        "⟦x.add_(1)⟧; ⟦y.add_(1)⟧\n",
        "with torch.no_grad():\n    x.add_(1); y.add_(1)\n",
    ),
    "a one-line suite": (
        "if i: ⟦x.add_(1)⟧  # c\nz = 1\n",
        "if i:\n    with torch.no_grad():\n        x.add_(1)  # c\nz = 1\n",
    ),
    "a one-line suite of several": (
        "if i: p = 1; ⟦x.add_(p)⟧; q = 2\n",
        "if i:\n    p = 1\n    with torch.no_grad():\n        x.add_(p)\n    q = 2\n",
    ),
    "an else on one line": (
        "if not i: pass\nelse: ⟦x.add_(1)⟧\n",
        "if not i: pass\nelse:\n    with torch.no_grad():\n        x.add_(1)\n",
    ),
    "a loop": (
        "⟦for t in states:\n    t.add_(1)\n    # end\n    t.mul_(2)⟧\n",
        "with torch.no_grad():\n    for t in states:\n        t.add_(1)\n        # end\n        t.mul_(2)\n",
    ),
    "a loop and a statement in it": (
        "⟦for t in states:\n    ⟦t.add_(1)⟧⟧\n",
        "with torch.no_grad():\n    for t in states:\n        t.add_(1)\n",
    ),
    "tabs": (
        "if i:\n\t⟦x.add_(\n\t\t1)⟧\n",
        "if i:\n\twith torch.no_grad():\n\t\tx.add_(\n\t\t\t1)\n",
    ),
    "two spaces": ("if i:\n  ⟦x.add_(1)⟧\n", "if i:\n  with torch.no_grad():\n    x.add_(1)\n"),
    "a string over lines": (
        "if i:\n    ⟦see(x.add_(1), '''a\n  b''')⟧\n",
        "if i:\n    with torch.no_grad():\n        see(x.add_(1), '''a\n  b''')\n",
    ),
    "the end of a file without a line end": (
        "if i:\n    ⟦x.add_(1)⟧",
        "if i:\n    with torch.no_grad():\n        x.add_(1)",
    ),
    "a return": (
        "def f(x):\n    ⟦return x.add_(1)⟧\nz = f(y.clone())\n",
        "def f(x):\n    with torch.no_grad():\n        return x.add_(1)\nz = f(y.clone())\n",
    ),
    "a decorated function's neighbour": (
        "def d(f): return f\n⟦x.add_(1)⟧\n@d\ndef f(): pass\n",
        "def d(f): return f\nwith torch.no_grad():\n    x.add_(1)\n@d\ndef f(): pass\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_no_grad_goes_around(name: str) -> None:
    text, expected = CASES[name]
    result = rewrite(text, NoGrad)
    assert result == expected
    assert outcome(result) == outcome(marked(text)[0])


def test_a_line_with_carriage_returns_gets_more_of_them() -> None:
    result = rewrite("if i:\r\n    ⟦x.add_(1)⟧\r\n", NoGrad)
    assert result == "if i:\r\n    with torch.no_grad():\r\n        x.add_(1)\r\n"


def test_what_is_put_before_a_statement_goes_into_its_block() -> None:
    text = "⟦⟦self.h.mul_(2)⟧.sub_(see(self.h))⟧\n"
    result = rewrite(text, NoGrad, lambda span: OutOfPlaceCall(span, "{x}.mul({args})", "self.h"))
    assert result == "with torch.no_grad():\n    self.h = self.h.mul(2)\n    self.h.sub_(see(self.h))\n"
    assert outcome(result) == outcome(marked(text)[0])


def test_another_name_of_torch_is_used() -> None:
    assert rewrite("⟦x.add_(1)⟧\n", lambda span: NoGrad(span, "T")) == "with T.no_grad():\n    x.add_(1)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "import torch\n\n"),
        ("#!/usr/bin/env python\n# about\n\n", "#!/usr/bin/env python\n# about\n\nimport torch\n\n"),
        ('"""Doc."""\n', '"""Doc."""\n\nimport torch\n\n'),
        ('"""Doc."""\n\nimport os\n', '"""Doc."""\n\nimport os\nimport torch\n'),
        (
            "from __future__ import annotations\n",
            "from __future__ import annotations\n\nimport torch\n",
        ),
        (
            "import os\nimport sys  # c\n\nfrom torch import nn\n",
            "import os\nimport sys  # c\n\nfrom torch import nn\nimport torch\n",
        ),
        ("import os\r\n", "import os\r\nimport torch\r\n"),
        ("import torch\n", "import torch\n"),
        ("import torch.nn\n", "import torch.nn\n"),
        ("import os; import torch\n", "import os; import torch\n"),
    ],
)
def test_torch_is_imported_beside_the_other_imports(before: str, after: str) -> None:
    end = "\r\n" if "\r\n" in before else "\n"
    result = rewrite(f"{before}⟦w.add_(1)⟧{end}", imported)
    assert result == f"{after}with torch.no_grad():{end}    w.add_(1){end}"


def test_torch_is_imported_once_for_all_blocks() -> None:
    assert rewrite("⟦x.add_(1)⟧\nz = 1\n⟦y.add_(1)⟧\n", imported).count("import torch") == 1


def test_a_name_that_is_taken_is_not_shadowed() -> None:
    assert "uses that name" in refusal("torch = 1\n⟦x.add_(1)⟧\n", imported)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f():\n    ⟦x.add_((yield))⟧\n", "yields or awaits"),
        ("async def f():\n    ⟦x.add_(await g())⟧\n", "yields or awaits"),
        ("async def f():\n    ⟦async for t in g():\n        t.add_(1)⟧\n", "yields or awaits"),
        ("if i: pass\n⟦elif j: x.add_(1)⟧\n", "elif"),
        ("x.add_(⟦1⟧)\n", "no statement"),
    ],
)
def test_a_statement_that_cannot_be_surrounded_is_refused(text: str, reason: str) -> None:
    assert reason in refusal(text, NoGrad)


def test_an_inner_function_that_yields_is_no_obstacle() -> None:
    assert "no_grad" in rewrite("⟦x.apply_(lambda v: (yield v))⟧\n", NoGrad)
