"""The rewrite of in-place calls, in every place where Python allows a call."""

from __future__ import annotations

import pytest
from rewritten import marked, outcome, refusal, rewrite

from codemods.steps import CloneExpression, OutOfPlaceCall, ScalarFirst, Span


def call(template: str = "", target: str | None = "x", **more: object):
    """A maker of steps; without a template the method of the call loses its trailing underscore."""

    def make(span: Span) -> OutOfPlaceCall:
        return OutOfPlaceCall(span, template, target, **more)  # type: ignore[arg-type]

    return make


def add(target: str | None = "x", **more: object):
    return call("{x}.add({args})", target, **more)


def mul(target: str | None = "x", **more: object):
    return call("{x}.mul({args})", target, **more)


def sub(target: str | None = "x", **more: object):
    return call("{x}.sub({args})", target, **more)


# Marked source, makers, result; each is run before and after and must leave the same values.
CASES = {
    "a statement": ("⟦x.add_(1)⟧\n", [add()], "x = x.add(1)\n"),
    "an assignment of the value": ("z = ⟦x.add_(1)⟧\n", [add()], "x = z = x.add(1)\n"),
    "an assignment to the receiver": ("x = ⟦x.add_(1)⟧\n", [add()], "x = x.add(1)\n"),
    "an assignment whose other target reads the receiver": (
        "d = {}\nd[x.sum().item()] = ⟦x.add_(1)⟧\n",
        [add()],
        "d = {}\nx = d[x.sum().item()] = x.add(1)\n",
    ),
    "an annotated assignment": ("z: object = ⟦x.add_(1)⟧\n", [add()], "x = x.add(1)\nz: object = x\n"),
    "an annotated assignment to the receiver": ("x: object = ⟦x.add_(1)⟧\n", [add()], "x: object = x.add(1)\n"),
    "a walrus of the receiver": ("see(x := ⟦x.add_(1)⟧)\n", [add()], "see(x := x.add(1))\n"),
    "a walrus of another name": ("see(z := ⟦x.add_(1)⟧)\n", [add()], "see(z := (x := x.add(1)))\n"),
    "tuple targets": ("x, y = ⟦x.add_(1)⟧, ⟦y.mul_(2)⟧\n", [add(), mul("y")], "x, y = x.add(1), y.mul(2)\n"),
    "tuple targets that read the receiver": (
        "x, y = ⟦x.add_(1)⟧, x + 1\n",
        [add()],
        "x, y = (x := x.add(1)), x + 1\n",
    ),
    "a return": (
        "def f(x):\n    return ⟦x.add_(1)⟧\nz = f(x.clone())\n",
        [add(None)],
        "def f(x):\n    return x.add(1)\nz = f(x.clone())\n",
    ),
    "a return of a global": (
        "def f():\n    global x\n    return ⟦x.add_(1)⟧\nz = f()\n",
        [add()],
        "def f():\n    global x\n    x = x.add(1)\n    return x\nz = f()\n",
    ),
    "an argument": ("see(⟦x.add_(1)⟧, y)\n", [add()], "see(x := x.add(1), y)\n"),
    "a keyword argument": ("z = dict(p=⟦x.add_(1)⟧)\n", [add()], "z = dict(p=(x := x.add(1)))\n"),
    "a starred argument": ("see(*⟦x.add_(1)⟧)\n", [add()], "see(*(x := x.add(1)))\n"),
    "an operand after the receiver was loaded": ("z = x * ⟦x.add_(1)⟧\n", [add()], "x = x.add(1)\nz = x * x\n"),
    "an argument after the receiver": ("see(x, ⟦x.add_(1)⟧)\n", [add()], "x = x.add(1)\nsee(x, x)\n"),
    "an argument after a use of the old value": (
        "see(x.sum(), ⟦x.add_(1)⟧)\n",
        [add()],
        "see(x.sum(), x := x.add(1))\n",
    ),
    "an operand before the receiver": ("z = ⟦x.add_(1)⟧ * x\n", [add()], "z = (x := x.add(1)) * x\n"),
    "two arguments that are one tensor": (
        "see(⟦x.add_(1)⟧, ⟦x.mul_(2)⟧)\n",
        [add(), mul()],
        "x = x.add(1)\nx = x.mul(2)\nsee(x, x)\n",
    ),
    "a condition": (
        "if ⟦x.add_(1)⟧.sum() > 0: see(x)\n",
        [add()],
        "if (x := x.add(1)).sum() > 0: see(x)\n",
    ),
    "a whole condition": (
        "x = x[0, 0]\nif ⟦x.add_(1)⟧:\n    see(x)\n",
        [add()],
        "x = x[0, 0]\nif x := x.add(1):\n    see(x)\n",
    ),
    "an elif": (
        "if i == 0:\n    pass\nelif ⟦x.add_(1)⟧.sum() > 0:\n    see(x)\n",
        [add()],
        "if i == 0:\n    pass\nelif (x := x.add(1)).sum() > 0:\n    see(x)\n",
    ),
    "a while": (
        "while ⟦x.add_(1)⟧.sum() < 30:\n    see(x)\n",
        [add()],
        "while (x := x.add(1)).sum() < 30:\n    see(x)\n",
    ),
    "a branch of and": ("z = i and ⟦x.add_(1)⟧\n", [add()], "z = i and (x := x.add(1))\n"),
    "a conditional expression": (
        "z = ⟦x.add_(1)⟧ if i else y\n",
        [add()],
        "z = (x := x.add(1)) if i else y\n",
    ),
    "a comprehension": (
        "z = [⟦x.add_(n)⟧.sum() for n in range(3)]\n",
        [add()],
        "z = [(x := x.add(n)).sum() for n in range(3)]\n",
    ),
    "a comprehension over tensors": (
        "z = [⟦s.add_(1)⟧ for s in [x.clone(), y.clone()]]\n",
        [add(None)],
        "z = [s.add(1) for s in [x.clone(), y.clone()]]\n",
    ),
    "a comprehension's first iterable": (
        "z = [row.sum() for row in ⟦x.add_(1)⟧]\n",
        [add()],
        "x = x.add(1)\nz = [row.sum() for row in x]\n",
    ),
    "a lambda": (
        "f = lambda x: ⟦x.add_(1)⟧ * x\nz = f(y.clone())\n",
        [add()],
        "f = lambda x: (x := x.add(1)) * x\nz = f(y.clone())\n",
    ),
    "an f-string": ("z = f'{⟦x.add_(1)⟧}'\n", [add()], "z = f'{(x := x.add(1))}'\n"),
    "a format specification": (
        "x = x[0, 0]\nz = f'{⟦x.add_(1)⟧:.3f} {x}'\n",
        [add()],
        "x = x[0, 0]\nz = f'{(x := x.add(1)):.3f} {x}'\n",
    ),
    "a decorator": (
        "def d(t):\n    return lambda f: t\n@d(⟦x.add_(1)⟧)\ndef f(): pass\n",
        [add()],
        "def d(t):\n    return lambda f: t\n@d(x := x.add(1))\ndef f(): pass\n",
    ),
    "a default argument": (
        "def f(p=⟦x.add_(1)⟧): return p\nz = f()\n",
        [add()],
        "def f(p=(x := x.add(1))): return p\nz = f()\n",
    ),
    "a for loop's iterable": (
        "for row in ⟦x.add_(1)⟧: see(row)\n",
        [add()],
        "for row in (x := x.add(1)): see(row)\n",
    ),
    "a with item": (
        "import contextlib\nwith contextlib.nullcontext(⟦self.h.add_(1)⟧) as z: see(self.h)\n",
        [add("self.h")],
        "import contextlib\nself.h = self.h.add(1)\nwith contextlib.nullcontext(self.h) as z: see(self.h)\n",
    ),
    "a match subject": (
        "match ⟦x.add_(1)⟧.dim():\n    case 2: see(x)\n",
        [add()],
        "match (x := x.add(1)).dim():\n    case 2: see(x)\n",
    ),
    "an assignment target's base": ("⟦x.add_(1)⟧[0] = 5\n", [add()], "(x := x.add(1))[0] = 5\n"),
    "a subscript": ("z = ⟦x.add_(1)⟧[0]\n", [add()], "x = x.add(1)\nz = x[0]\n"),
    "a loop variable": (
        "for s in [x.clone(), y.clone()]:\n    ⟦s.add_(1)⟧\n    see(s)\n",
        [add("s")],
        "for s in [x.clone(), y.clone()]:\n    s = s.add(1)\n    see(s)\n",
    ),
    "an attribute": ("⟦self.h.add_(1)⟧\n", [add("self.h")], "self.h = self.h.add(1)\n"),
    "an attribute used": ("z = see(⟦self.h.add_(1)⟧)\n", [add("self.h")], "self.h = self.h.add(1)\nz = see(self.h)\n"),
    "two attributes used": (
        "see(⟦self.h.add_(1)⟧, ⟦self.k.mul_(2)⟧)\n",
        [add("self.h"), mul("self.k")],
        "self.h = self.h.add(1)\nself.k = self.k.mul(2)\nsee(self.h, self.k)\n",
    ),
    "a name beside an attribute that must move": (
        "see(⟦x.add_(1)⟧, ⟦self.h.mul_(2)⟧)\n",
        [add(), mul("self.h")],
        "x = x.add(1)\nself.h = self.h.mul(2)\nsee(x, self.h)\n",
    ),
    "a name that was loaded and another beside it": (
        "see(x, ⟦y.mul_(2)⟧, f'{⟦x.add_(1)⟧}')\n",
        [mul("y"), add()],
        "y = y.mul(2)\nx = x.add(1)\nsee(x, y, f'{x}')\n",
    ),
    "a container's slot": ("⟦states[0].add_(1)⟧\n", [add("states[0]")], "states[0] = states[0].add(1)\n"),
    "a slot under an attribute": (
        "self.s = [x * 1, y * 1]\n⟦self.s[i].mul_(2)⟧\n",
        [mul("self.s[i]")],
        "self.s = [x * 1, y * 1]\nself.s[i] = self.s[i].mul(2)\n",
    ),
    "an index with effects": (
        "turn = iter([1, 0])\n⟦states[next(turn)].add_(1)⟧\n",
        [add("states[next(turn)]")],
        "turn = iter([1, 0])\nindex = next(turn)\nstates[index] = states[index].add(1)\n",
    ),
    "an owner with effects": (
        "def me():\n    seen.append('me')\n    return self\n⟦me().h.add_(1)⟧\n",
        [add("me().h", cast=True)],
        "def me():\n    seen.append('me')\n    return self\nowner = me()\nowner.h = owner.h.add(1).to(owner.h.dtype)\n",
    ),
    "a receiver with effects and a cast": (
        "def new():\n    seen.append('new')\n    return x.half()\nz = ⟦new().add_(1)⟧\n",
        [add(None, cast=True)],
        "def new():\n    seen.append('new')\n    return x.half()\nz = (value := new()).add(1).to(value.dtype)\n",
    ),
    "a chain of which the first link is rewritten": (
        "⟦x.mul_(a)⟧.sub_(b)\n",
        [mul()],
        "x = x.mul(a).sub_(b)\n",
    ),
    "a chain whose second link reads the receiver": (
        "⟦x.mul_(a)⟧.sub_(x.mean())\n",
        [mul()],
        "x = x.mul(a)\nx.sub_(x.mean())\n",
    ),
    "a chain of which both links are rewritten": ("⟦⟦x.mul_(a)⟧.sub_(b)⟧\n", [sub(), mul()], "x = x.mul(a).sub(b)\n"),
    "a chain of two whose second link reads the receiver": (
        "⟦⟦x.mul_(a)⟧.sub_(x.mean())⟧\n",
        [sub(), mul()],
        "x = x.mul(a)\nx = x.sub(x.mean())\n",
    ),
    "a chain in an expression": (
        "z = y + ⟦⟦x.mul_(a)⟧.sub_(x.mean())⟧\n",
        [sub(), mul()],
        "z = y + (x := (x := x.mul(a)).sub(x.mean()))\n",
    ),
    "the second link of a chain": ("⟦x.mul_(a).sub_(x.mean())⟧\n", [sub()], "x = x.mul_(a).sub(x.mean())\n"),
    "a chain that ends in something else": (
        "z = ⟦x.mul_(a)⟧.sum()\n",
        [mul()],
        "x = x.mul(a)\nz = x.sum()\n",
    ),
    "an argument that writes the receiver too": (
        "⟦x.add_(⟦x.mul_(2)⟧)⟧\n",
        [add(), mul()],
        "x = x.mul(2)\nx = x.add(x)\n",
    ),
    "a clone inside the argument": (
        "⟦x.add_(⟦y⟧)⟧\n",
        [add(), CloneExpression],
        "x = x.add(y.clone())\n",
    ),
    "a deprecated overload": (
        "⟦⟦x.add_(2, y)⟧⟧\n",
        [ScalarFirst, add()],
        "x = x.add(y, alpha=2)\n",
    ),
    "a function": ("⟦torch.relu_(y)⟧\n", [call("torch.relu({x})", "y", receiver=0)], "y = torch.relu(y)\n"),
    "a function with more arguments": (
        "z = ⟦F.leaky_relu_(y * 1, 0.5)⟧\n",
        [call("F.leaky_relu({x}, {args})", None, receiver=0)],
        "z = F.leaky_relu(y * 1, 0.5)\n",
    ),
    "a function as template": ("⟦x.zero_()⟧\n", [call("torch.zeros_like({x})")], "x = torch.zeros_like(x)\n"),
    "a template that ends in the call's own arguments": (
        "⟦x.normal_(  # noise\n    0.0,  # mean\n    1.0,\n)⟧\n",
        [call("torch.empty_like({x}).normal_({args})")],
        "x = torch.empty_like(x).normal_(  # noise\n    0.0,  # mean\n    1.0,\n)\n",
    ),
    "an operator as template": ("⟦x.add_(y if i else a)⟧\n", [call("{x} + {args}")], "x = x + (y if i else a)\n"),
    "an argument's method as template": (
        "⟦x.copy_(y + a)⟧\n",
        [call("({args}).to({x}.dtype)")],
        "x = (y + a).to(x.dtype)\n",
    ),
    "a cast": ("x = x.half()\n⟦x.add_(y)⟧\n", [add(cast=True)], "x = x.half()\nx = x.add(y).to(x.dtype)\n"),
    "a one-line suite": ("if i: ⟦x.add_(1)⟧\n", [add()], "if i: x = x.add(1)\n"),
    "a one-line suite whose chain is cut": (
        "if i: ⟦x.mul_(a)⟧.sub_(x.mean())  # c\n",
        [mul()],
        "if i: x = x.mul(a); x.sub_(x.mean())  # c\n",
    ),
    "statements between semicolons": (
        "p = 1; ⟦x.mul_(a)⟧.sub_(x.mean()) ; q = 2\n",
        [mul()],
        "p = 1; x = x.mul(a); x.sub_(x.mean()) ; q = 2\n",
    ),
    "comments inside the call": (
        "⟦x.add_(  # why\n    y,  # what\n    alpha=2,\n)⟧  # end\n",
        [add()],
        "x = x.add(  # why\n    y,  # what\n    alpha=2,\n)  # end\n",
    ),
    "comments that the template has no room for": (
        "# before\n⟦x.zero_(  # why\n)⟧  # end\n",
        [call("torch.zeros_like({x})")],
        "# before\n# why\nx = torch.zeros_like(x)  # end\n",
    ),
    "a chain over lines": (
        "(⟦x\n .mul_(a)⟧  # scale\n .sub_(b)\n)\n",
        [mul()],
        "x = (x\n .mul(a)  # scale\n .sub_(b)\n)\n",
    ),
    "a part that moves out of brackets": (
        "z = [\n    ⟦self.h\n    .add_(1)⟧,\n    y,\n]\n",
        [add("self.h")],
        "self.h = (self.h\n    .add(1))\nz = [\n    self.h,\n    y,\n]\n",
    ),
    "a line continuation": ("⟦x.add_\\\n    (1)⟧\n", [add()], "x = x.add\\\n    (1)\n"),
    "no space after the keyword": (
        "def f(x):\n    return(⟦x.add_(1)⟧)\nz = f(y.clone())\n",
        [add()],
        "def f(x):\n    x = x.add(1)\n    return(x)\nz = f(y.clone())\n",
    ),
    "two spellings of one name": (
        "\u00b5 = x * 1\n⟦\u03bc.add_(1)⟧\nz = \u00b5\n",
        [add("\u03bc")],
        "\u00b5 = x * 1\n\u03bc = \u03bc.add(1)\nz = \u00b5\n",
    ),
}


@pytest.mark.filterwarnings("ignore:This overload of add_ is deprecated")
@pytest.mark.parametrize("name", CASES)
def test_a_call_becomes_out_of_place_in(name: str) -> None:
    text, makers, expected = CASES[name]
    source, _ = marked(text)
    result = rewrite(text, *makers)
    assert result == expected
    after = outcome(result)
    for helper in ("index", "owner", "value"):
        after.pop(helper, None)
    assert after == outcome(source)


@pytest.mark.parametrize(
    ("text", "template", "reason"),
    [
        ("⟦x.add_(1)⟧\n", "{x}.add({args}", "no expression"),
        ("⟦x.add_(1)⟧\n", "{y}.add({args})", "no expression"),
        ("⟦see(x).fill_(1)⟧\n", "torch.full({args})", "no longer be evaluated"),
        ("⟦x.fill_(see(1))⟧\n", "torch.zeros_like({x})", "no longer be evaluated"),
        ("⟦x.lerp_(y, see(1))⟧\n", "torch.lerp({args}, {x})", "another time"),
        ("⟦x.add_(y, alpha=2)⟧\n", "{x} + {args}", "exactly one positional"),
    ],
)
def test_a_template_that_would_change_what_is_evaluated_is_refused(text: str, template: str, reason: str) -> None:
    assert reason in refusal(text, call(template, None))


def test_quotes_are_not_put_into_an_f_string_that_uses_them() -> None:
    template = '{x}.div({args}, rounding_mode="floor")'
    assert "cannot hold" in refusal('z = f"{⟦x.div_(2)⟧}"\n', call(template))
    assert "cannot hold" in refusal('z = f"{y:{⟦x.div_(2)⟧}}"\n', call(template))
    assert "rounding_mode" in rewrite('z = f"""{⟦x.div_(2)⟧}"""\n', call(template))
    result = rewrite("z = f'{⟦x.div_(2)⟧}'\n", call(template))
    assert result == "z = f'{(x := x.div(2, rounding_mode=\"floor\"))}'\n"


def test_a_position_without_a_call_is_refused_with_its_place() -> None:
    assert refusal("⟦x⟧ = 1\n", add()) == "there is no call at line 1, column 1"
