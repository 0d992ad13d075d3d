"""What a statement has evaluated by the time it reaches an expression, checked against what Python does."""

from __future__ import annotations

import contextlib
import re

import libcst as cst
import pytest
from rewritten import marked

from codemods.evaluation import earlier, movable
from codemods.places import Tree, is_expression, statement_index


def ahead(text: str) -> tuple[list[str], str]:
    source, (span,) = marked(text)
    tree = Tree(cst.parse_module(source))
    trail = tree.find(span, is_expression, "expression")
    order = earlier(trail, statement_index(trail))
    return [tree.code(node) for node in order.expressions], order.blocked


ORDERS = [
    "e(0)[e(1)] = ⟦e(2)⟧\n",
    "e(0)[⟦e(1)⟧] = e(2)\n",
    "e(0)[e(1)] = e(2)[⟦e(3)⟧] = e(4)\n",
    "e(0)[e(1)] += ⟦e(2)⟧\n",
    "e(0)[⟦e(1)⟧] += e(2)\n",
    "e(0)(e(1), *e(2), k=e(3), **e(4), m=⟦e(5)⟧)\n",
    "e(0)(e(1), ⟦e(2)⟧, e(3))\n",
    "e(0) + e(1) * ⟦e(2)⟧\n",
    "-e(0) - ⟦e(1)⟧\n",
    "e(0) < ⟦e(1)⟧\n",
    "[e(0), {e(1): e(2), e(3): ⟦e(4)⟧}]\n",
    "(e(0), e(1), ⟦e(2)⟧)\n",
    "{e(0), ⟦e(1)⟧}\n",
    "e(0)[e(1):⟦e(2)⟧:e(3)]\n",
    "e(0)[e(1), ⟦e(2)⟧]\n",
    "f'{e(0)}{e(1):{e(2)}}{⟦e(3)⟧}'\n",
    "f'{e(0):{⟦e(1)⟧}}'\n",
    "'a' f'{e(0)}' f'{⟦e(1)⟧}'\n",
    "e(0) if ⟦e(1)⟧ else e(2)\n",
    "⟦e(0)⟧ and e(1)\n",
    "e(0)(x for x in ⟦e(1)⟧)\n",
    "[x for x in ⟦e(1)⟧ if e(2)]\n",
    "if ⟦e(0)⟧: e(1)\n",
    "for x in ⟦e(0)⟧: e(1)\n",
    "@e(0)\n@⟦e(1)⟧\ndef f(p=e(2)): pass\n",
    "@e(0)\ndef f(p=e(1), *, q=⟦e(2)⟧): pass\n",
    "class A(e(0), metaclass=⟦e(1)⟧): pass\n",
    "with ⟦e(0)⟧ as e(1)[0], e(2): pass\n",
]


class Anything:
    """A value that everything can be done with."""

    def __getitem__(self, key: object) -> Anything:
        return self

    def __call__(self, *args: object, **kwargs: object) -> object:
        return args[0] if args and callable(args[0]) and not isinstance(args[0], Anything) else self

    def __iter__(self):
        return iter(())

    def keys(self):
        return ()

    def __setitem__(self, key: object, value: object) -> None: ...
    def __enter__(self) -> Anything:
        return self

    def __exit__(self, *args: object) -> None: ...
    def __mro_entries__(self, bases: object) -> tuple[type, ...]:
        return ()

    def __hash__(self) -> int:
        return 1

    def __format__(self, spec: str) -> str:
        return ""

    __add__ = __mul__ = __sub__ = __lt__ = __iadd__ = lambda self, other: self
    __neg__ = lambda self: self  # noqa: E731


@pytest.mark.parametrize("text", ORDERS)
def test_what_comes_ahead_is_what_python_evaluates_first(text: str) -> None:
    source, _ = marked(text)
    wanted = int(re.search(r"⟦e\((\d)\)⟧", text).group(1))  # type: ignore[union-attr]
    seen: list[int] = []

    def e(number: int) -> Anything:
        seen.append(number)
        return Anything()

    # A value that is no metaclass and no format specification stops the statement once it was evaluated.
    with contextlib.suppress(TypeError):
        exec(source, {"e": e})
    expressions, blocked = ahead(text)
    told = sorted(int(number) for code in expressions for number in re.findall(r"e\((\d)\)", code))
    assert told == sorted(seen[: seen.index(wanted)])
    assert blocked == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a and ⟦b⟧\n", "other operand"),
        ("a < b < ⟦c⟧\n", "comparison before it"),
        ("⟦a⟧ if b else c\n", "one branch"),
        ("a if b else ⟦c⟧\n", "one branch"),
        ("lambda: ⟦a⟧\n", "lambda is called"),
        ("[⟦a⟧ for b in c]\n", "every item"),
        ("[a for b in c if ⟦d⟧]\n", "every item"),
        ("[a for b in c for d in ⟦e⟧]\n", "every item"),
        ("while ⟦a⟧: pass\n", "every round"),
        ("if a: pass\nelif ⟦b⟧: pass\n", "elif"),
        ("assert ⟦a⟧\n", "-O"),
        ("with a, ⟦b⟧: pass\n", "another context"),
        ("x: ⟦a⟧ = b\n", "annotations"),
        ("def f(p: ⟦a⟧): pass\n", "annotations"),
        ("match a:\n    case b if ⟦c⟧: pass\n", "exactly once"),
        ("try: pass\nexcept ⟦a⟧: pass\n", "exactly once"),
    ],
)
def test_what_is_not_evaluated_exactly_once_ahead_cannot_move(text: str, reason: str) -> None:
    assert reason in ahead(text)[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("f(x, ⟦a⟧)\n", ""),
        ("f(x[0], x.y, ⟦a⟧)\n", ""),
        ("f(x[i], ⟦a⟧)\n", "old value"),
        ("f(x + 1, ⟦a⟧)\n", "old value"),
        ("f(y + 1, y[i], -z, lambda: g(), ⟦a⟧)\n", ""),
        ("f(g(), ⟦a⟧)\n", "side effects"),
        ("f((y := 1), ⟦a⟧)\n", "side effects"),
        ("f([q for q in y], ⟦a⟧)\n", "side effects"),
        ("f(*y, ⟦a⟧)\n", "side effects"),
        ("f(lambda p=g(): p, ⟦a⟧)\n", "side effects"),
    ],
)
def test_only_what_cannot_notice_may_be_overtaken(text: str, reason: str) -> None:
    source, (span,) = marked(text)
    trail = Tree(cst.parse_module(source)).find(span, is_expression, "expression")
    answer = movable(earlier(trail, statement_index(trail)), {"x"})
    assert reason in answer if reason else answer == ""
