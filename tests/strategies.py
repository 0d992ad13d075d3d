"""Random small programs of tensor statements, as source text, for the property tests.

A program is a module with one function ``program()`` that makes leaves, computes with them, writes in place here and
there, runs one backward, and returns ``(loss, gradients of the leaves, other values)``. It runs from beginning to end
whatever is drawn, except that autograd may refuse it: shapes and dtypes are tracked. The one other error is a write
from a view that partly overlaps its target (``OVERLAP``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

OVERLAP = "refer to a single memory location"

Shape = tuple[int, ...]
FULL: Shape = (3, 4)

# {v}: the operand, {w}: another one of the same shape, {c}: a number.
SAVING = (
    "{v}.exp()",
    "torch.sigmoid({v})",
    "{v}.tanh()",
    "{v}.sin()",
    "{v} * {w}",
    "{v} * {v}",
    "torch.relu({v})",
    "F.softplus({v})",
    "{v}.square()",
    "{v} ** 2",
    "torch.softmax({v}, -1)",
    "torch.log({v}.abs() + 0.5)",
    "{v} / ({w}.abs() + 1.0)",
    "torch.where({v} > {w}, {v}, {w} * 2.0)",
    "F.leaky_relu({v}, 0.2)",
    "torch.maximum({v}, {w})",
    "({v} + 1.0).sqrt().nan_to_num(0.5)",
    "torch.sigmoid({v}) * {w} + {c}",
)
FRESH = ("{v} + {w}", "{v} - {w}", "{v} * {c}", "-{v}", "{v}.clone()", "{c} - {v}", "{v}.cumsum(0)", "torch.cat([{v}])")
IN_PLACE = (
    "{v}.add_({w})",
    "{v}.add_({c})",
    "{v}.mul_({w})",
    "{v}.mul_({c})",
    "{v}.sub_({w}, alpha=0.5)",
    "{v}.div_(2.0)",
    "{v}.neg_()",
    "{v}.zero_()",
    "{v}.fill_({c})",
    "{v}.copy_({w})",
    "{v}.clamp_(max={c})",
    "{v}.tanh_()",
    "{v}.sigmoid_()",
    "{v}.relu_()",
    "torch.relu_({v})",
    "F.relu({v}, inplace=True)",
    "F.leaky_relu({v}, 0.1, inplace=True)",
    "{v}.masked_fill_({v} > {c}, 0.25)",
    "{v}.addcmul_({w}, {w}, value=0.5)",
    "{v}.lerp_({w}.to({v}.dtype), 0.25)",
    "{v}.mul_({c}).add_(1.0)",
    "{v}.add_({w}).tanh_()",
    "torch.add({v}, {c}, out={v})",
)
AUGMENTED = ("+=", "-=", "*=", "/=")
VIEWS: tuple[tuple[str, Shape], ...] = (
    ("{v}[1]", (4,)),
    ("{v}[:, 1]", (3,)),
    ("{v}[1:]", (2, 4)),
    ("{v}[:, ::2]", (3, 2)),
    ("{v}.t()", (4, 3)),
    ("{v}.view(12)", (12,)),
    ("{v}.reshape(2, 6)", (2, 6)),
    ("{v}.transpose(0, 1)", (4, 3)),
    ("{v}.narrow(0, 0, 2)", (2, 4)),
    ("{v}.unsqueeze(0)", (1, 3, 4)),
    ("{v}.detach()", FULL),
    ("{v}.view_as({v})", FULL),
    ("{v}.contiguous()", FULL),
    ("{v}.to({v}.dtype)", FULL),
)
STORES = (
    "{v}[0] = {c}",
    "{v}[0] = {v}[1]",
    "{v}[1] += {c}",
    "{v}[1] *= {v}[0]",
    "{v}[:, 0] = {c}",
    "{v}[1:] *= {c}",
    "{v}[{v} > {c}] = 0.5",
    "{v}[:] = {w}",
    "{v}[:, 1:3] -= {w}[:, 1:3]",
    "{v}[torch.tensor([0, 2])] = {c}",
    "{v}[2].mul_({c})",
    "{v}[:, 2].add_({w}[:, 0])",
)
HELPERS = (
    "def scale(a, b):\n    a *= b\n    return a",
    "def bump(a):\n    a.add_(1.0)",
    "def activate(a):\n    return F.relu(a, inplace=True)",
    "def squash(a):\n    b = a.sigmoid()\n    return b.mul_(a)",
    "def first(a, b):\n    a[0] = b[0]\n    return a * b",
)
CALLS = {
    "scale": ("scale({v}, {w})", "scale({v}, {c})"),
    "bump": ("bump({v})",),
    "activate": ("activate({v})",),
    "squash": ("squash({v})",),
    "first": ("first({v}, {w})",),
}
RETURNING = ("scale", "activate", "squash", "first")
SILENT = "{v}.data.mul_({c})"


@dataclass(frozen=True)
class Variable:
    """A name with what is known of the tensor that it holds."""

    name: str
    shape: Shape = FULL
    dtype: str = "float64"
    leaf: bool = False


@dataclass
class _Draft:
    """A program in the making."""

    lines: list[str] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    helpers: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)  # indices into ``lines`` of statements that write in place
    indent: int = 1
    count: int = 0

    def put(self, text: str, *, writes: bool = False) -> None:
        if writes:
            self.writes.add(len(self.lines))
        self.lines.append("    " * self.indent + text)

    def fresh(self, shape: Shape, dtype: str) -> Variable:
        self.count += 1
        return Variable(f"h{self.count}", shape, dtype)


@dataclass(frozen=True)
class Program:
    """Source text, the rows (from 1) of its statements that write in place, and the names of its leaves."""

    text: str
    writes: frozenset[int]
    leaves: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<<\n{self.text}>>"


NUMBERS = st.sampled_from(["0.5", "1.5", "2.0", "3.0"])


@st.composite
def programs(draw: st.DrawFn, *, silent: bool = False, cuts: bool = True) -> Program:
    """Programs of three to twelve statements.

    ``silent`` adds writes through ``.data``; without ``cuts`` nothing is computed outside the graph (no ``no_grad``,
    no ``detach``), so that the gradient is the derivative of what the program computes.
    """
    draft = _Draft()
    leaves = [Variable(f"x{index}", leaf=True) for index in range(draw(st.integers(1, 2)))]
    for index, leaf in enumerate(leaves):
        draft.put(f"{leaf.name} = torch.linspace(0.{2 + index}, 1.{6 - index}, 12, dtype=torch.float64).reshape(3, 4)")
        draft.put(f"{leaf.name}.requires_grad_()")
        draft.variables.append(leaf)
    start = draft.fresh(FULL, "float64")
    draft.put(f"{start.name} = {leaves[0].name} * {draw(NUMBERS)}")
    draft.variables.append(start)
    for _ in range(draw(st.integers(2, 8))):
        _statement(draw, draft, silent=silent, cuts=cuts)
    _ending(draw, draft, silent=silent)
    return _assembled(draft, leaves)


def _ending(draw: st.DrawFn, draft: _Draft, *, silent: bool) -> None:
    live = [variable for variable in draft.variables if not variable.leaf]
    chosen = draw(st.lists(st.sampled_from(live), min_size=1, max_size=3, unique_by=lambda variable: variable.name))
    terms = [draw(st.sampled_from(["{v}.sum()", "({v} * {v}).mean()"])).format(v=item.name) for item in chosen]
    draft.put(f"loss = {' + '.join([*terms, 'x0.sum()'])}")  # the last term: some gradient is always asked for
    for _ in range(draw(st.sampled_from([0, 0, 0, 1]))):
        _write(draw, draft, silent=silent)
    draft.put("loss.backward()")


def _assembled(draft: _Draft, leaves: list[Variable]) -> Program:
    shown = [variable for variable in draft.variables if not variable.leaf][-3:]
    gradients = ", ".join(f"{leaf.name}.grad" for leaf in leaves)
    values = ", ".join(f"{variable.name}.detach()" for variable in shown)
    head = ["import torch", "import torch.nn.functional as F", "", ""]
    for index in sorted(draft.helpers):
        head += [*HELPERS[index].split("\n"), "", ""]
    head.append("def program():")
    written = {
        row for row, line in enumerate(head, start=1) if any(mark in line for mark in ("_(", "*=", "[0] =", "inplace"))
    }
    rows = written | {len(head) + index + 1 for index in draft.writes}
    text = "\n".join([*head, *draft.lines, f"    return loss, [{gradients}], [{values}]", ""])
    return Program(text, frozenset(rows), tuple(leaf.name for leaf in leaves))


def _statement(draw: st.DrawFn, draft: _Draft, *, silent: bool, cuts: bool, depth: int = 0) -> None:
    kinds = [
        "compute",
        "compute",
        "compute",
        "write",
        "write",
        "write",
        "view",
        "view",
        "alias",
        "helper",
        "buffer",
        "list",
    ]
    if depth == 0:
        kinds += ["loop", "if", "chunk", "dtype", *(["no_grad"] if cuts else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "write":
        _write(draw, draft, silent=silent)
    elif kind in ("loop", "if", "no_grad"):
        _block(draw, draft, kind, silent=silent, cuts=cuts)
    else:
        _BINDINGS[kind](draw, draft, cuts)


def _pick(draw: st.DrawFn, draft: _Draft, *, leaf: bool = True, shape: Shape | None = None) -> Variable:
    fitting = [
        variable
        for variable in draft.variables
        if (leaf or not variable.leaf) and (shape is None or variable.shape == shape)
    ]
    return draw(st.sampled_from(fitting[::-1]))


def _filled(draw: st.DrawFn, draft: _Draft, template: str, receiver: Variable) -> str:
    other = _pick(draw, draft, shape=receiver.shape).name if "{w}" in template else ""
    number = draw(NUMBERS) if "{c}" in template else ""
    return template.format(v=receiver.name, w=other, c=number)


def _target(draw: st.DrawFn, draft: _Draft, shape: Shape, dtype: str) -> Variable:
    """A new name, or an old one that holds the same kind of value (then the old value lives on in its aliases only)."""
    old = [
        variable
        for variable in draft.variables
        if not variable.leaf and (variable.shape, variable.dtype) == (shape, dtype)
    ]
    if old and draw(st.integers(0, 3)) == 3:
        return draw(st.sampled_from(old))
    return draft.fresh(shape, dtype)


def _bind(draft: _Draft, target: Variable, text: str, *, writes: bool = False) -> None:
    draft.put(f"{target.name} = {text}", writes=writes)
    draft.variables = [variable for variable in draft.variables if variable.name != target.name] + [target]


def _compute(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    receiver = _pick(draw, draft)
    text = _filled(draw, draft, draw(st.sampled_from(SAVING + FRESH)), receiver)
    promoted = "float64" if receiver.dtype == "float64" or _mentions_wide(draft, text) else "float32"
    _bind(draft, _target(draw, draft, receiver.shape, promoted), text)


def _mentions_wide(draft: _Draft, text: str) -> bool:
    words = set(text.replace("(", " ").replace(")", " ").replace(",", " ").replace("[", " ").replace(".", " ").split())
    return any(variable.name in words and variable.dtype == "float64" for variable in draft.variables)


def _view(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    full = [variable for variable in draft.variables if variable.shape == FULL]
    base = draw(st.sampled_from(full[::-1]))
    text, shape = draw(st.sampled_from([view for view in VIEWS if cuts or "detach" not in view[0]]))
    if "view" in text or "reshape" in text:  # a transposed value may hide behind any name of this shape
        text = text.replace("{v}", "{v}.contiguous()", 1) if ".view(" in text else text
    _bind(draft, _target(draw, draft, shape, base.dtype), text.format(v=base.name))


def _alias(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    base = _pick(draw, draft, leaf=False)
    _bind(draft, draft.fresh(base.shape, base.dtype), base.name)


def _chunk(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    base = _pick(draw, draft, shape=FULL)
    one, two = draft.fresh((3, 2), base.dtype), draft.fresh((3, 2), base.dtype)
    draft.put(f"{one.name}, {two.name} = {base.name}.chunk(2, dim=1)")
    draft.variables += [one, two]


def _dtype(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    base = _pick(draw, draft, leaf=False)
    wide = base.dtype == "float32"
    target = draft.fresh(base.shape, "float64" if wide else "float32")
    _bind(draft, target, f"{base.name}.{'double' if wide else 'float'}()")


def _buffer(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    source = _pick(draw, draft, shape=FULL)
    target = draft.fresh(FULL, source.dtype)
    _bind(draft, target, f"torch.zeros_like({source.name})")
    draft.put(
        draw(st.sampled_from(["{t}[1] = {s}[0]", "{t}[:] = {s}", "{t} += {s}"])).format(t=target.name, s=source.name),
        writes=True,
    )


def _list(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    source = _pick(draw, draft, leaf=False)
    draft.count += 1
    held = f"kept{draft.count}"
    draft.put(f"{held} = [{source.name}]")
    if draw(st.booleans()):
        draft.put(f"{held}[0] {draw(st.sampled_from(AUGMENTED))} {draw(NUMBERS)}", writes=True)
    _bind(draft, draft.fresh(source.shape, source.dtype), f"{held}[0] * {draw(NUMBERS)}")


def _helper(draw: st.DrawFn, draft: _Draft, cuts: bool) -> None:
    index = draw(st.integers(0, len(HELPERS) - 1))
    name = HELPERS[index].partition("(")[0].removeprefix("def ")
    receiver = _pick(draw, draft, leaf=False)
    call = _filled(draw, draft, draw(st.sampled_from(CALLS[name])), receiver)
    draft.helpers.add(index)
    if name in RETURNING and draw(st.booleans()):
        kept = receiver.dtype if name != "first" else "float64" if _mentions_wide(draft, call) else receiver.dtype
        _bind(draft, draft.fresh(receiver.shape, kept), call)
    else:
        draft.put(call)


def _write(draw: st.DrawFn, draft: _Draft, *, silent: bool) -> None:
    receiver = _pick(draw, draft, leaf=draw(st.integers(0, 9)) == 9)
    kind = draw(st.sampled_from(["method", "method", "augmented", "store", "bound", *(["silent"] if silent else [])]))
    if kind == "store" and receiver.shape != FULL:
        kind = "augmented"
    if kind == "augmented":
        operand = draw(st.sampled_from(["{w}", "{c}", "{w} + {c}"]))
        text = f"{receiver.name} {draw(st.sampled_from(AUGMENTED))} {_filled(draw, draft, operand, receiver)}"
        draft.put(text + draw(st.sampled_from(["", "  # keep me"])), writes=True)
    elif kind == "store":
        draft.put(_filled(draw, draft, draw(st.sampled_from(STORES)), receiver), writes=True)
    elif kind == "silent":
        draft.put(_filled(draw, draft, SILENT, receiver), writes=True)
    else:
        text = _filled(draw, draft, draw(st.sampled_from(IN_PLACE)), receiver)
        if kind == "bound":
            _bind(draft, draft.fresh(receiver.shape, receiver.dtype), text, writes=True)
        else:
            draft.put(text, writes=True)


def _block(draw: st.DrawFn, draft: _Draft, kind: str, *, silent: bool, cuts: bool) -> None:
    header = {
        "loop": f"for i in range({draw(st.integers(2, 3))}):",
        "if": "if True:",
        "no_grad": "with torch.no_grad():",
    }
    if kind == "if":
        header["if"] = f"if {_pick(draw, draft).name}.dim() < 5:"
    draft.put(header[kind])
    draft.indent += 1
    for _ in range(draw(st.integers(1, 3))):
        if kind == "no_grad":
            _write(draw, draft, silent=silent)
        elif kind == "loop" and draw(st.integers(0, 2)) == 2:
            _loop_step(draw, draft)
        else:
            _statement(draw, draft, silent=silent, cuts=cuts, depth=1)
    draft.indent -= 1


def _loop_step(draw: st.DrawFn, draft: _Draft) -> None:
    """A statement as loops have them: a state carried on, or a row written at the loop's index."""
    state, other = _pick(draw, draft, leaf=False, shape=FULL), _pick(draw, draft, shape=FULL)
    template = draw(
        st.sampled_from(
            ["{s}[i] = {o}[i].exp()", "{s}[i] = ({s}[i - 1] * {o}[i]).tanh()", "{s} += {o}[i] * 1.5", "{s} *= {o}"]
        )
    )
    draft.put(template.format(s=state.name, o=other.name), writes=True)


_BINDINGS = {
    "compute": _compute,
    "view": _view,
    "alias": _alias,
    "chunk": _chunk,
    "dtype": _dtype,
    "buffer": _buffer,
    "list": _list,
    "helper": _helper,
}
