"""Walking syntax trees fast: ``ast.walk`` visits operators, contexts and fields that never hold a node."""

from __future__ import annotations

import ast

# what an operator is and whether a name is read or written: their owner tells; and fields of plain values
BARE = frozenset(("ctx", "op", "ops", "type_comment", "kind", "id", "attr", "name", "arg", "level", "module", "asname"))
PLAIN = frozenset(
    (
        "Global.names",
        "Nonlocal.names",
        "MatchClass.kwd_attrs",
        "MatchMapping.rest",
        "FormattedValue.conversion",
        "AnnAssign.simple",
        "comprehension.is_async",
    )
)
CHILDLESS = (ast.Constant, ast.MatchSingleton, ast.alias)

FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(f for f in kind._fields if f not in BARE and f"{kind.__name__}.{f}" not in PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and not issubclass(kind, CHILDLESS)
}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, but operators and contexts."""
    found: list[ast.AST] = []
    for name in FIELDS.get(node.__class__, ()):
        held = getattr(node, name, None)
        if held.__class__ is list:
            found += filter(None, held)  # the keys of `{**d}` and absent defaults are None
        elif held is not None:
            found.append(held)
    return found


def nodes(root: ast.AST) -> list[ast.AST]:
    """A node and all below it but operators and contexts, each before what it holds."""
    found = [root]
    for node in found:  # the list grows as it is read
        found += children(node)
    return found
