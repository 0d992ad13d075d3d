"""Fills templates such as ``{x}.add({args})`` with nodes, so that comments and layout of what is filled in survive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from codemods.syntax import LAMBDA, fitted, held

_MARK = "inplace_fix_template_"


class _Fill(cst.CSTTransformer):
    """Puts nodes in the place of marked names, in parentheses where precedence asks for them."""

    def __init__(self, expressions: Mapping[str, cst.BaseExpression], args: Sequence[cst.Arg] | None) -> None:
        super().__init__()
        self.expressions = expressions
        self.args = args
        self.parents: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.parents.append(node)
        return True

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.Arg] | cst.RemovalSentinel:
        self.parents.pop()
        parent = self.parents[-1] if self.parents else None
        if isinstance(original_node, cst.Arg) and _marked(original_node.value) == "args" and self.args is not None:
            return cst.FlattenSentinel(self.args) if self.args else cst.RemoveFromParent()
        if isinstance(updated_node, cst.Call) and isinstance(original_node, cst.Call):
            args = joined(updated_node.args)
            if args and len(args) < len(original_node.args):
                args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return updated_node.with_changes(args=args)
        name = _marked(original_node)
        if name is None:
            return updated_node
        if name == "args":
            if isinstance(parent, cst.Arg) and self.args is not None:
                return updated_node
            return fitted(_only(self.args), parent, original_node)
        return fitted(self.expressions[name].deep_clone(), parent, original_node)


def _marked(node: cst.CSTNode) -> str | None:
    if isinstance(node, cst.Name) and node.value.startswith(_MARK):
        return node.value.removeprefix(_MARK)
    return None


def _only(args: Sequence[cst.Arg] | None) -> cst.BaseExpression:
    if args is None or len(args) != 1 or args[0].keyword is not None or args[0].star:
        raise ValueError("the template wants exactly one positional argument")
    return args[0].value


def joined(args: Sequence[cst.Arg]) -> list[cst.Arg]:
    """The arguments with a comma after each but the last, whatever places they came from."""
    out = list(args)
    for index, arg in enumerate(out[:-1]):
        if isinstance(arg.comma, cst.MaybeSentinel):
            out[index] = arg.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return out


def fill(
    template: str, expressions: Mapping[str, cst.BaseExpression], args: Sequence[cst.Arg] | None = None
) -> cst.BaseExpression:
    """The template as an expression; raises ``ValueError`` where it is malformed or its arguments do not fit."""
    marks = {name: _MARK + name for name in (*expressions, "args")}
    try:
        text = template.format(**marks)
        parsed = cst.parse_expression(text)
    except (KeyError, IndexError, ValueError, cst.ParserSyntaxError) as error:
        raise ValueError(f"the template {template!r} is no expression over {{x}} and {{args}}") from error
    filled = parsed.visit(_Fill(expressions, args))
    assert isinstance(filled, cst.BaseExpression)
    return held(filled, LAMBDA)


def renamed_method(template: str) -> str | None:
    """``name`` where the template is ``{x}.name({args})``, the case in which the call keeps its whole layout."""
    head, tail = "{x}.", "({args})"
    if template.startswith(head) and template.endswith(tail):
        name = template[len(head) : -len(tail)]
        if name.isidentifier():
            return name
    return None


def renamed_function(template: str, others: int) -> cst.BaseExpression | None:
    """The function where the template is ``function({x}, {args})``, the other case in which a call keeps its layout.

    ``others`` is the number of arguments besides the receiver: ``function({x})`` fits only where there is none.
    """
    if template.count("{") != 1 + template.count("{args}") or not template.endswith(("({x}, {args})", "({x})")):
        return None
    if template.endswith("({x})") and others:
        return None
    return cst.parse_expression(template[: template.rindex("({x}")])


def placeholders(template: str) -> list[str]:
    """The names in braces, in the order in which they are evaluated; raises ``ValueError`` for a malformed template."""
    names: list[str] = []
    marks: dict[str, str] = {name: _MARK + name for name in ("x", "args", "index", "value")}
    try:
        parsed = cst.parse_expression(template.format(**marks))
    except (KeyError, IndexError, cst.ParserSyntaxError) as error:
        raise ValueError(
            f"the template {template!r} is no expression over {{x}}, {{args}}, {{index}}, {{value}}"
        ) from error

    class Collect(cst.CSTVisitor):
        def visit_Name(self, node: cst.Name) -> None:  # noqa: N802
            marked = _marked(node)
            if marked is not None:
                names.append(marked)

    parsed.visit(Collect())
    return names
