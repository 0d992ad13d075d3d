"""The fast walk: what it visits is what ``ast.walk`` visits, but for operators and contexts."""

from __future__ import annotations

import ast
import inspect
from collections import Counter

import pytest

from inplace_fix.analysis import calls, statements, trees

BARE = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
ODD = """
async def f(a, /, b: int = 1, *c, d, e=2, **g) -> None:
    global u, v
    async with x as y, z: pass
    async for i in j: await k
    try: raise A from B
    except* (C, D) as e2: pass
    match q:
        case {"k": w, **rest}: pass
        case P(1, n=None, m=[*_]) | True if w: pass
    return [*l, {**o, 1: 2}, s[1:2, ...], (t := lambda: (yield)), f"{r!r:>{w}}", *[p async for p in h if p]]
"""


@pytest.mark.parametrize("text", [ODD, inspect.getsource(calls), inspect.getsource(statements)])
def test_every_node_is_visited_once(text: str) -> None:
    if "except*" in text and not hasattr(ast, "TryStar"):
        text = text.replace("except*", "except")
    tree = ast.parse(text)
    expected = Counter(id(node) for node in ast.walk(tree) if not isinstance(node, BARE))
    assert Counter(id(node) for node in trees.nodes(tree)) == expected


def test_children_are_the_nodes_right_below() -> None:
    call = ast.parse("f(a, *b, c=d)").body[0].value  # type: ignore[attr-defined]
    assert trees.children(call) == [call.func, *call.args, *call.keywords]
