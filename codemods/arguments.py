"""Finds, removes and replaces arguments of a call; commas, comments and layout of the others stay."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst


def keyword_index(call: cst.Call, keyword: str) -> int | None:
    """Where a keyword argument stands, None where it is not written."""
    for index, arg in enumerate(call.args):
        if arg.keyword is not None and arg.keyword.value == keyword:
            return index
    return None


def positional_index(call: cst.Call, position: int) -> int | None:
    """Where a positional argument stands, None where it is not written; a ``*`` before it hides it."""
    if position >= len(call.args):
        return None
    before = call.args[: position + 1]
    return None if any(arg.keyword is not None or arg.star for arg in before) else position


def without(call: cst.Call, index: int) -> cst.Call:
    """The call without one argument. A comment that stood beside it stays, on its own line if need be."""
    args = list(call.args)
    gone = args.pop(index)
    behind = [gone.whitespace_after_arg]
    if isinstance(gone.comma, cst.Comma):
        behind.extend([gone.comma.whitespace_before, gone.comma.whitespace_after])
    if not args:
        opening = _merged(call.whitespace_before_args, behind, closing=True)
        return call.with_changes(args=(), whitespace_before_args=opening)
    if index == 0:
        opening = _merged(call.whitespace_before_args, behind, closing=False)
        return call.with_changes(args=args, whitespace_before_args=opening)
    previous = args[index - 1]
    last = index == len(args)
    if last and not isinstance(gone.comma, cst.Comma):
        # What led to the last argument is dropped, what stood between it and the parenthesis stays.
        gap = previous.comma.whitespace_after if isinstance(previous.comma, cst.Comma) else cst.SimpleWhitespace("")
        tail = _merged(gap, behind, closing=True)
        args[index - 1] = previous.with_changes(
            comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=_joined(previous.whitespace_after_arg, tail)
        )
    elif isinstance(previous.comma, cst.Comma):
        gap = _merged(previous.comma.whitespace_after, behind, closing=last)
        args[index - 1] = previous.with_changes(comma=previous.comma.with_changes(whitespace_after=gap))
    return call.with_changes(args=args)


def replaced(call: cst.Call, index: int, value: cst.BaseExpression) -> cst.Call:
    """The call with another value for one argument."""
    args = list(call.args)
    args[index] = args[index].with_changes(value=value)
    return call.with_changes(args=args)


def with_keyword(call: cst.Call, keyword: str, value: cst.BaseExpression) -> cst.Call:
    """The call with one more keyword argument at the end, in the layout of the last one."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(value, keyword=cst.Name(keyword), equal=equal)
    args = list(call.args)
    if args:
        last = args[-1]
        between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        if len(args) > 1 and isinstance(args[-2].comma, cst.Comma):
            between = args[-2].comma
        elif isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
            between = cst.Comma(whitespace_after=_plain(call.whitespace_before_args))
        new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
        args[-1] = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*args, new])


def _plain(whitespace: cst.ParenthesizedWhitespace) -> cst.ParenthesizedWhitespace:
    first = whitespace.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
    return whitespace.with_changes(first_line=first, empty_lines=())


def _comments(parts: Sequence[cst.BaseParenthesizableWhitespace]) -> list[cst.Comment]:
    out: list[cst.Comment] = []
    for part in parts:
        if isinstance(part, cst.ParenthesizedWhitespace):
            found = [part.first_line.comment, *(line.comment for line in part.empty_lines)]
            out.extend(comment for comment in found if comment is not None)
    return out


def _merged(
    front: cst.BaseParenthesizableWhitespace, behind: Sequence[cst.BaseParenthesizableWhitespace], closing: bool
) -> cst.BaseParenthesizableWhitespace:
    """The gap that remains of the gaps in front of and behind a removed argument.

    Next to another argument the front's layout wins, next to the closing parenthesis (``closing``) the back's. All
    comments stay: one beside the argument in front where it is, the others on lines of their own.
    """
    back = behind[-1]
    if not _comments([front, *behind]):
        return back if closing else front
    gaps = [gap for gap in (front, *behind) if isinstance(gap, cst.ParenthesizedWhitespace)]
    first = front if isinstance(front, cst.ParenthesizedWhitespace) else next(gap for gap in gaps if _comments([gap]))
    others = [gap for gap in gaps if gap is not first]
    lines = [
        cst.EmptyLine(first.indent, first.last_line, comment, first.first_line.newline) for comment in _comments(others)
    ]
    last = back if closing and isinstance(back, cst.ParenthesizedWhitespace) else first
    return cst.ParenthesizedWhitespace(
        first_line=first.first_line,
        empty_lines=[*first.empty_lines, *lines],
        indent=last.indent,
        last_line=last.last_line,
    )


def _joined(
    before: cst.BaseParenthesizableWhitespace, after: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """One gap out of two that follow each other."""
    if _comments([before]):
        return _merged(before, [after], closing=True)
    return after
