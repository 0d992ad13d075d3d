"""By which name a file knows torch: the one given, or an import that is added."""

from __future__ import annotations

import libcst as cst

from codemods.plan import Plan
from codemods.steps import CannotRewrite, Span
from codemods.syntax import walk


def known_torch(plan: Plan, name: str, span: Span) -> str:
    """``name``, or for "" the name under which torch gets imported; ``CannotRewrite`` where that name is taken."""
    if name:
        return name
    if not plan.imports:
        for line in plan.tree.module.body:
            if isinstance(line, cst.SimpleStatementLine) and any(_imports_torch(part) for part in line.body):
                return "torch"
        if any(isinstance(node, cst.Name) and node.value == "torch" for node in _outside_imports(plan.tree.module)):
            raise CannotRewrite(span, "torch must be imported, but the file uses that name for something else")
    return plan.import_torch()


def _imports_torch(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.Import):
        return False
    return any(alias.asname is None and _first(alias.name) == "torch" for alias in statement.names)


def _first(name: cst.CSTNode) -> str:
    while isinstance(name, cst.Attribute):
        name = name.value
    return name.value if isinstance(name, cst.Name) else ""


def _outside_imports(module: cst.Module) -> list[cst.CSTNode]:
    out: list[cst.CSTNode] = []
    for node in module.body:
        if isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[0], cst.Import | cst.ImportFrom):
            continue
        out.extend(walk(node))
    return out
