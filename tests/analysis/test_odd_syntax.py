"""Every construct of Python: the analysis goes through it, and a fault behind it is still found."""

from __future__ import annotations

import ast

import pytest

from analysis.analysed import conflicts, program

SNIPPETS = {
    "match": (
        "match k:\n    case 0: z = 1\n    case [a, *rest] if a: z = a\n"
        "    case {'k': v, **more}: z = v\n    case _: z = 0\n"
    ),
    "match on classes": "match k:\n    case Point(x=0, y=b) | [b]: z = b\n    case str() as s: z = s\n",
    "walrus": "if (n := len(k)) > 1: z = n\n",
    "walrus in a comprehension": "z = [last := i for i in k]\n",
    "starred targets": "a, *b, c = k\n(d, [e, *f]), g = k\n",
    "starred call": "print(*k, *[1], **{'sep': ''}, **dict(end=''))\n",
    "starred index": "z = k[1, ..., None, ::2]\n",
    "star in a display": "z = [*k, *k]\nd = {**k, 'a': 1}\ns = {*k}\nt = *k, 1\n",
    "nested comprehensions": "z = {a: [b for b in a if b] for a in k for c in a}\n",
    "generator": "z = sum(a for a in k)\n",
    "lambda with defaults": "z = (lambda a, /, b=1, *c, d=2, **e: a + b)(k)\n",
    "nested functions": "def g():\n    nonlocal k\n    k = 1\n    def h(a=k): return a, k\n    return h\nz = g()()\n",
    "recursive closure": "def g(n): return g(n - 1) if n else k\nz = g(k)\n",
    "generator function": "def g():\n    got = yield 1\n    yield from k\n    return got\nz = list(g())\n",
    "async": (
        "async def g():\n    async with k as a: await a\n    async for b in k: pass\n"
        "    return [c async for c in k if await c]\n"
    ),
    "decorators": "import functools\n@functools.lru_cache(maxsize=None)\n@(lambda f: f)\ndef g(): return k\nz = g()\n",
    "class in a function": (
        "class C(k, metaclass=type):\n    a: int = 1\n    __slots__ = ('b',)\n"
        "    def __init_subclass__(cls): pass\n    @property\n"
        "    def p(self): return self.a\nz = C().p\n"
    ),
    "dataclass": (
        "from dataclasses import dataclass, field\n@dataclass\nclass D:\n"
        "    a: list = field(default_factory=list)\nz = D().a\n"
    ),
    "named tuple": "from typing import NamedTuple\nclass N(NamedTuple):\n    a: int\nz = N(1).a\n",
    "enumeration": "import enum\nclass E(enum.Enum):\n    A = enum.auto()\nz = E.A.value\n",
    "try": (
        "try:\n    z = 1\nexcept (ValueError, TypeError) as error:\n    z = error\n"
        "except Exception:\n    raise\nelse:\n    z = 2\nfinally:\n    z = 3\n"
    ),
    "raise from": "try: pass\nexcept ValueError as error: raise RuntimeError() from error\n",
    "loops with else": (
        "for i in k:\n    if i: break\n    continue\nelse:\n    z = 1\nwhile k:\n    break\nelse:\n    z = 2\n"
    ),
    "odd loop targets": "for d[0], d.a in k: pass\nfor (a, b), *c in k: pass\n",
    "with": "with k as (a, b), k, k() as d[0]: pass\nwith (k as e, k as f): pass\n",
    "delete": "z = 1\ndel z\ndel d[0], d.a\n",
    "deleted and bound again": "z = 1\ndel z\nz = 2\n",
    "global": "global G\nG = k\n",
    "assert": "assert k, f'{k!r:>{10}}'\nassert (k, 'always true')\n",
    "annotations": "z: 'list[int]' = k\nself_z: int\nd.a: int = 1\nd[0]: int = 2\n",
    "chained comparison": "z = 1 < k <= 3 != 4 is not None not in k\n",
    "chained assignment": "a = b = d[0] = d.a = k\n",
    "conditional": "z = k if k else (k and k or not k)\n",
    "operators": "z = k @ k // 2 ** -1 << 3 | 1 ^ 2 & ~3 % 4\n",
    "augmented on everything": "d.a += 1\nd[0] //= 2\nd[0][1] **= 3\nd.a[k] @= 4\n",
    "f-strings": 'z = f\'{k=} {k:{k}} {{}} {"a" + "b"}\'\n',
    "bytes and numbers": "z = b'a' + rb'b', 1_000, 0xFF, 1j, ..., 1e400, -0.0\n",
    "imports": "import os.path as p, sys\n",
    "dynamic": "exec('z = 1')\nz = eval('k')\nsetattr(d, 'a' + 'b', 1)\nz = globals()['k']\nz = vars(d)\n",
    "division by zero": "z = 1 // 0\nz = 1 % 0\nz = 2 ** -1\nz = 1 << -1\n",
    "huge numbers": "z = 10 ** 10 ** 10\nz = 1 << 10 ** 12\nz = 'a' * 10 ** 12\n",
    "huge range": "for i in range(10 ** 18): z = i\n",
    "endless loop": "while True:\n    if k: break\n",
    "semicolons": "a = 1; b = 2; c = 3\n",
    "strings as statements": "'doc'\n...\n",
    "names outside ascii": "größe = 1\nπ = größe\n",
    "too many arguments": "def g(a, *, b): return a\nz = g(1, 2, 3, c=4)\n",
    "missing arguments": "def g(a, b): return b\nz = g()\n",
    "super outside a class": "z = super()\n",
    "calling what cannot be called": "z = 1()\nz = None.a\nz = 'a'[0](k)\n",
}
NEWER = {
    "exception groups": ((3, 11), "try: pass\nexcept* ValueError as group: z = group\n"),
    "star in an index": ((3, 11), "z = k[*k]\n"),
    "type parameters": (
        (3, 12),
        "def g[T: int, *Ts, **P](a: T) -> T: return a\nclass H[T]: pass\ntype A[T] = list[T]\n",
    ),
    "nested quotes": ((3, 12), "z = f'{k['a']}'\n"),
    "templates": ((3, 14), "z = t'{k}'\n"),
}
FRAME = "def f(x: torch.Tensor, k, d):\n{body}    y = x.exp()\n    y.add_(1)\n    return y\n"


def behind(snippet: str) -> tuple[str, int]:
    """A function with a fault behind a snippet, and the line of the fault's write."""
    body = "".join(f"    {line}\n" for line in snippet.splitlines())
    text = FRAME.format(body=body)
    return text, 1 + text[: text.index("y.add_")].count("\n") + 1


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_fault_behind_a_construct_is_found(name: str) -> None:
    text, line = behind(SNIPPETS[name])
    assert (line - 1, line) in conflicts(text)


@pytest.mark.parametrize("name", NEWER)
def test_a_fault_behind_a_newer_construct_is_found(name: str) -> None:
    text, line = behind(NEWER[name][1])
    try:
        ast.parse(program(text))
    except SyntaxError:
        pytest.skip(f"Python {'.'.join(map(str, NEWER[name][0]))} knows this")
    assert (line - 1, line) in conflicts(text)


@pytest.mark.parametrize("name", [name for name in SNIPPETS if "nonlocal" not in SNIPPETS[name]])
def test_a_construct_at_the_top_of_a_file_hides_no_function(name: str) -> None:
    text = SNIPPETS[name] + FRAME.format(body="")
    line = 1 + text[: text.index("y.add_")].count("\n") + 1
    assert (line - 1, line) in conflicts(text)
