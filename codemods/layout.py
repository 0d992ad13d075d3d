"""Lays statements out: new ones on lines of their own or between semicolons, blocks, declarations, imports.

Lines that were there keep every byte. New lines take the indentation and the line end of the line they stand beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import libcst as cst

from codemods.plan import Plan, Slot
from codemods.syntax import walk

Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


@dataclass(frozen=True, slots=True)
class _Piece:
    """One line or compound statement on its way into a body, and the torch whose no_grad block it goes into, if any."""

    line: Line
    wrap: str | None


def lay_out(original: cst.CSTNode, updated: cst.CSTNode, plan: Plan) -> cst.CSTNode:
    """The body with everything inserted and wrapped that the plan has for the statements of the original body."""
    if isinstance(original, cst.Module) and isinstance(updated, cst.Module):
        body = _body(original.body, updated.body, plan, None)
        return _with_imports(updated.with_changes(body=body), plan.imports)
    if isinstance(original, cst.IndentedBlock) and isinstance(updated, cst.IndentedBlock):
        body = _body(original.body, updated.body, plan, updated.indent)
        return _with_declarations(updated.with_changes(body=body), plan.declarations.get(original, []))
    if isinstance(original, cst.SimpleStatementSuite) and isinstance(updated, cst.SimpleStatementSuite):
        return _suite(original, updated, plan)
    return updated


def _statements(slots: Sequence[Slot]) -> list[cst.BaseSmallStatement]:
    return [statement for slot in slots for statement in slot.statements]


def _body(
    original: Sequence[cst.BaseStatement], updated: Sequence[cst.BaseStatement], plan: Plan, indent: str | None
) -> list[cst.BaseStatement]:
    pieces: list[_Piece] = []
    for old, new in zip(original, updated, strict=True):
        if old not in plan.touched:
            pieces.append(_Piece(cast(Line, new), None))
        elif isinstance(old, cst.SimpleStatementLine) and isinstance(new, cst.SimpleStatementLine):
            pieces.extend(_split_line(old, new, plan))
        elif isinstance(new, cst.BaseCompoundStatement):
            pieces.extend(_around_compound(old, new, plan))
    return _grouped(pieces, indent)


def _smalls(
    original: Sequence[cst.BaseSmallStatement], updated: Sequence[cst.BaseSmallStatement], plan: Plan
) -> list[tuple[cst.BaseSmallStatement, str | None]]:
    out: list[tuple[cst.BaseSmallStatement, str | None]] = []
    for old, new in zip(original, updated, strict=True):
        wrap = plan.wraps.get(old)
        after = _statements(plan.after.get(old, []))
        out.extend((statement, wrap) for statement in _statements(plan.before.get(old, [])))
        if after:
            # The separator stays behind the last statement of the group.
            out.append((new.with_changes(semicolon=cst.MaybeSentinel.DEFAULT), wrap))
            out.extend((statement, wrap) for statement in after[:-1])
            out.append((after[-1].with_changes(semicolon=new.semicolon), wrap))
        else:
            out.append((new, wrap))
    return out


def _split_line(old: cst.SimpleStatementLine, new: cst.SimpleStatementLine, plan: Plan) -> list[_Piece]:
    smalls = _smalls(old.body, new.body, plan)
    lost = _lost_comments(old.body, [statement for statement, _ in smalls])
    if lost:
        lines = [cst.EmptyLine(comment=comment, newline=new.trailing_whitespace.newline) for comment in lost]
        new = new.with_changes(leading_lines=[*new.leading_lines, *lines])
    if len(smalls) == len(old.body) and all(wrap == smalls[0][1] for _, wrap in smalls):
        return [_Piece(new, smalls[0][1])]
    own_lines = len(old.body) == 1 and isinstance(old.body[0].semicolon, cst.MaybeSentinel)
    runs = _runs(smalls, own_lines)
    newline = new.trailing_whitespace.newline
    pieces = []
    for index, (statements, wrap) in enumerate(runs):
        last = index == len(runs) - 1
        if not last:
            statements = [*statements[:-1], statements[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]
        line = cst.SimpleStatementLine(
            body=statements,
            leading_lines=new.leading_lines if index == 0 else (),
            trailing_whitespace=new.trailing_whitespace if last else cst.TrailingWhitespace(newline=newline),
        )
        pieces.append(_Piece(line, wrap))
    return pieces


def _lost_comments(old: Sequence[cst.CSTNode], new: Sequence[cst.CSTNode]) -> list[cst.Comment]:
    """The comments inside the old statements that the new ones have no place for."""
    kept = Counter(comment.value for node in new for comment in _comments(node))
    lost = []
    for comment in (comment for node in old for comment in _comments(node)):
        if kept[comment.value]:
            kept[comment.value] -= 1
        else:
            lost.append(comment)
    return lost


def _comments(node: cst.CSTNode) -> list[cst.Comment]:
    return [part for part in walk(node) if isinstance(part, cst.Comment)]


def _runs(
    smalls: Sequence[tuple[cst.BaseSmallStatement, str | None]], own_lines: bool
) -> list[tuple[list[cst.BaseSmallStatement], str | None]]:
    runs: list[tuple[list[cst.BaseSmallStatement], str | None]] = []
    for statement, wrap in smalls:
        if runs and runs[-1][1] == wrap and not own_lines:
            runs[-1][0].append(statement)
        else:
            runs.append(([statement], wrap))
    return runs


def _around_compound(old: cst.CSTNode, new: cst.BaseCompoundStatement, plan: Plan) -> list[_Piece]:
    wrap = plan.wraps.get(old)
    newline = _newline(new)
    before = [_line([statement], newline) for statement in _statements(plan.before.get(old, []))]
    after = [_line([statement], newline) for statement in _statements(plan.after.get(old, []))]
    if before:
        before[0] = before[0].with_changes(leading_lines=new.leading_lines)
        new = new.with_changes(leading_lines=())
    lines: list[Line] = [*before, new, *after]
    return [_Piece(line, wrap) for line in lines]


def _line(statements: Sequence[cst.BaseSmallStatement], newline: cst.Newline) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine(body=statements, trailing_whitespace=cst.TrailingWhitespace(newline=newline))


def _newline(line: cst.CSTNode) -> cst.Newline:
    """The line end of a statement's first line."""
    if isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite):
        return line.trailing_whitespace.newline
    body = getattr(line, "body", None)
    if isinstance(body, cst.IndentedBlock):
        return body.header.newline
    if isinstance(body, cst.SimpleStatementSuite):
        return body.trailing_whitespace.newline
    return cst.Newline()


def _grouped(pieces: Sequence[_Piece], indent: str | None) -> list[cst.BaseStatement]:
    """The pieces in order, each run of neighbours under the same torch in one block."""
    out: list[cst.BaseStatement] = []
    index = 0
    while index < len(pieces):
        wrap = pieces[index].wrap
        if wrap is None:
            out.append(pieces[index].line)
            index += 1
            continue
        run = []
        while index < len(pieces) and pieces[index].wrap == wrap:
            run.append(pieces[index].line)
            index += 1
        out.append(_no_grad(run, wrap, indent))
    return out


class _Blank(cst.CSTTransformer):
    """Keeps blank lines blank where everything around them is indented further."""

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:  # noqa: N802
        blank = updated_node.comment is None and not updated_node.whitespace.value
        return updated_node.with_changes(indent=False) if blank else updated_node


def _no_grad(lines: Sequence[Line], torch: str, indent: str | None) -> cst.With:
    leading = lines[0].leading_lines
    first, *others = [cast(Line, line.visit(_Blank())) for line in lines]
    return cst.With(
        items=[cst.WithItem(cst.parse_expression(f"{torch}.no_grad()"))],
        leading_lines=leading,
        body=cst.IndentedBlock(
            body=[first.with_changes(leading_lines=()), *others],
            header=cst.TrailingWhitespace(newline=_newline(first)),
            indent=indent,
        ),
    )


def _suite(old: cst.SimpleStatementSuite, new: cst.SimpleStatementSuite, plan: Plan) -> cst.BaseSuite:
    smalls = _smalls(old.body, new.body, plan)
    wanted = plan.declarations.get(old, [])
    if wanted:
        position = 1 if _is_docstring(smalls[0][0]) else 0
        smalls[position:position] = [(statement, None) for statement in _declarations(wanted)]
    lost = _lost_comments(old.body, [statement for statement, _ in smalls])
    if lost:
        there = [] if new.trailing_whitespace.comment is None else [new.trailing_whitespace.comment]
        remark = cst.Comment("  ".join(comment.value for comment in (*there, *lost)))
        space = new.trailing_whitespace.whitespace if there else cst.SimpleWhitespace("  ")
        trailing = new.trailing_whitespace.with_changes(comment=remark, whitespace=space)
        new = new.with_changes(trailing_whitespace=trailing)
    if all(wrap is None for _, wrap in smalls):
        return new.with_changes(body=[statement for statement, _ in smalls])
    runs = _runs(smalls, False)
    newline = new.trailing_whitespace.newline
    pieces = []
    for index, (statements, wrap) in enumerate(runs):
        last = index == len(runs) - 1
        line = _line([*statements[:-1], statements[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)], newline)
        pieces.append(_Piece(line.with_changes(trailing_whitespace=new.trailing_whitespace) if last else line, wrap))
    return cst.IndentedBlock(body=_grouped(pieces, None), header=cst.TrailingWhitespace(newline=newline))


def _is_docstring(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.Expr) and isinstance(statement.value, cst.SimpleString | cst.ConcatenatedString)


def _declarations(wanted: Sequence[tuple[str, str]]) -> list[cst.BaseSmallStatement]:
    out: list[cst.BaseSmallStatement] = []
    for kind, node in (("global", cst.Global), ("nonlocal", cst.Nonlocal)):
        names = [cst.NameItem(cst.Name(name)) for wanted_kind, name in wanted if wanted_kind == kind]
        if names:
            out.append(node(names=names))
    return out


def _with_declarations(block: cst.IndentedBlock, wanted: Sequence[tuple[str, str]]) -> cst.IndentedBlock:
    if not wanted:
        return block
    body = list(block.body)
    first = body[0]
    position = int(isinstance(first, cst.SimpleStatementLine) and _is_docstring(first.body[0]))
    fresh = []
    for statement in _declarations(wanted):
        there = body[position] if position < len(body) else None
        if (
            isinstance(there, cst.SimpleStatementLine)
            and len(there.body) == 1
            and type(there.body[0]) is type(statement)
        ):
            old = there.body[0]
            assert isinstance(old, cst.Global | cst.Nonlocal)
            assert isinstance(statement, cst.Global | cst.Nonlocal)
            names = [*old.names[:-1], old.names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT), *statement.names]
            body[position] = there.with_changes(body=[old.with_changes(names=names)])
        else:
            fresh.append(_line([statement], block.header.newline))
    body[position:position] = fresh
    return block.with_changes(body=body)


def _with_imports(module: cst.Module, names: Sequence[str]) -> cst.Module:
    """The module with the imports added behind its first run of imports, else behind the docstring."""
    if not names:
        return module
    body = list(module.body)
    position, imports = 0, 0
    for index, line in enumerate(body):
        if not isinstance(line, cst.SimpleStatementLine):
            break
        if all(isinstance(part, cst.Import | cst.ImportFrom) for part in line.body):
            position = imports = index + 1
        elif index == 0 and _is_docstring(line.body[0]):
            position = 1
        else:
            break
    newline = _newline(body[position - 1] if position else body[0]) if body else cst.Newline()
    fresh: list[Line] = []
    for name in names:
        alias = cst.ImportAlias(cst.Name(name))
        fresh.append(_line([cst.Import(names=[alias])], newline))
    blank = cst.EmptyLine(indent=False, newline=newline)
    only_future = imports and all(_is_future(line) for line in body[:imports] if _is_import(line))
    if position and (not imports or only_future):
        fresh[0] = fresh[0].with_changes(leading_lines=[blank])
    if position < len(body) and not body[position].leading_lines and not imports:
        body[position] = body[position].with_changes(leading_lines=[blank])
    body[position:position] = fresh
    return module.with_changes(body=body)


def _is_import(line: cst.CSTNode) -> bool:
    return isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Import | cst.ImportFrom)


def _is_future(line: cst.CSTNode) -> bool:
    if not isinstance(line, cst.SimpleStatementLine) or not isinstance(line.body[0], cst.ImportFrom):
        return False
    module = line.body[0].module
    return isinstance(module, cst.Name) and module.value == "__future__"
