"""The steps a plan is made of: which construct to rewrite, how, and with which names.

A step names its target by position and says everything else the rewrite needs in plain strings, so that this package
knows syntax and nothing about torch. Importing this module does not import LibCST.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source: rows from 1, columns from 0 in code points (LibCST's convention), the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Step:
    """One construct to rewrite; ``span`` is the exact extent of that construct (an expression or a statement)."""

    span: Span


@dataclass(frozen=True, slots=True)
class OutOfPlaceCall(Step):
    """An in-place call becomes out of place and the receiver is bound to the result.

    ``span`` is the call ``x.add_(y)`` (in a chain, the one link to change; later links then work on the new tensor).
    ``template`` is the out-of-place expression with ``{x}`` for the receiver and ``{args}`` for the argument list as
    written, for example ``{x}.add({args})`` or ``torch.zeros_like({x})``. ``target`` is the text of what is bound anew
    (``x``, ``self.h``, ``states[0]``), None where nothing needs to be bound because the value alone is used.
    ``cast`` adds ``.to(x.dtype)``. ``declare`` is ``nonlocal`` or ``global`` where the function must say so, else "".
    ``receiver`` is the position of the argument that is the receiver in a function call (``torch.relu_(x)``: 0); None
    means the object before the dot, or the first argument of a function called by a bare name.
    """

    template: str
    target: str | None
    cast: bool = False
    declare: str = ""
    receiver: int | None = None


@dataclass(frozen=True, slots=True)
class OutOfPlaceAssign(Step):
    """``x += y`` (a whole augmented assignment statement) becomes ``x = x + y``; ``cast`` adds ``.to(x.dtype)``."""

    cast: bool = False
    declare: str = ""


@dataclass(frozen=True, slots=True)
class CloneBefore(Step):
    """``target = target.clone()`` goes before the statement at ``span``, which stays as it is."""

    target: str
    declare: str = ""


@dataclass(frozen=True, slots=True)
class CloneExpression(Step):
    """The expression at ``span`` becomes ``expression.clone()``, in parentheses where precedence asks for them."""


@dataclass(frozen=True, slots=True)
class FunctionalStore(Step):
    """``x[i] = v`` or ``x[i] op= v`` becomes ``target = template`` with {x}, {index} and {value} filled in.

    For ``op=`` the value is ``x[i] op v``. The index is filled in as an expression: several as a tuple, ``a:b`` as
    ``slice(a, b)``; a template that wants it otherwise spells it out itself.
    """

    template: str
    target: str
    declare: str = ""


@dataclass(frozen=True, slots=True)
class NoGrad(Step):
    """The statement at ``span`` goes under ``with torch.no_grad():``; neighbouring steps share one block.

    ``torch`` is the name by which the file knows torch, "" where it must be imported.
    """

    torch: str = "torch"


@dataclass(frozen=True, slots=True)
class DropFlag(Step):
    """The flag ``keyword`` (or the positional argument at ``position``) of a call is removed or turned off.

    A written ``True`` goes; anything else, a default included, becomes ``False``. ``target`` is what must be bound to
    the result because nobody does so far (``F.relu(x, inplace=True)`` as a statement becomes ``x = F.relu(x)``).
    """

    keyword: str = "inplace"
    position: int | None = None
    target: str | None = None
    declare: str = ""


@dataclass(frozen=True, slots=True)
class OutArgument(Step):
    """``torch.add(a, b, out=c)`` at ``span`` becomes ``target = torch.add(a, b)``, or, where ``copy`` is set,
    ``target.copy_(torch.add(a, b))`` because the write must go through to what ``target`` is a view of.
    ``target`` None drops the ``out=`` alone (the value is used where it stands)."""

    target: str | None
    copy: bool = False
    cast: bool = False
    declare: str = ""


@dataclass(frozen=True, slots=True)
class ListAndStack(Step):
    """A buffer filled row by row in the loop at ``span`` becomes a list that ``torch.stack`` joins after the loop.

    ``buffer`` is the buffer's name, ``creation`` the span of the statement that makes it, ``stores`` the spans of the
    statements that write a row, ``dim`` the dimension of the loop index.
    """

    buffer: str
    creation: Span
    stores: tuple[Span, ...]
    dim: int = 0
    torch: str = "torch"


@dataclass(frozen=True, slots=True)
class ReplaceExpression(Step):
    """The expression at ``span`` becomes ``text`` (for repairs that fit none of the other forms)."""

    text: str


@dataclass(frozen=True, slots=True)
class ScalarFirst(Step):
    """``x.add_(2, y)`` (a deprecated overload) becomes ``x.add_(y, alpha=2)``; ``keyword`` names the scalar.

    ``position`` is where it stands among the arguments: 1 in the function form ``torch.add(x, 2, y)``.
    """

    keyword: str = "alpha"
    position: int = 0


class CannotRewrite(Exception):  # noqa: N818  (it is an answer, not a fault)
    """The construct at ``span`` cannot be rewritten as asked; ``reason`` says why in words for a person."""

    def __init__(self, span: Span, reason: str) -> None:
        super().__init__(reason)
        self.span = span
        self.reason = reason
