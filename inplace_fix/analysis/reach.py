"""A cheap look at a file's tree: which functions can write to a tensor at all, themselves or through what they call."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from inplace_fix.analysis.trees import nodes
from inplace_fix.analysis.units import Unit

FLAGS = frozenset(("inplace", "out", "max_norm"))
PLAIN = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.JoinedStr)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(slots=True)
class Outline:
    """What the definitions of a file hold: whether each writes, and the bare names each uses, in the file's order.

    The statements between the definitions stand under "". ``imports`` are those of the whole file.
    """

    writes: dict[str, bool] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=dict)
    imports: list[ast.ImportFrom] = field(default_factory=list)


def outline(unit: Unit) -> Outline:
    """The outline of a file's top-level definitions, methods counted with their class."""
    result = Outline()
    loose: list[ast.AST] = []
    for statement in unit.tree.body:
        if isinstance(statement, FUNCTIONS):
            names, writes = look(nodes(statement), result.imports)
            result.writes[statement.name] = result.writes.get(statement.name, False) or writes
            result.uses.setdefault(statement.name, set()).update(names)
        else:
            loose += nodes(statement)
    result.uses[""], result.writes[""] = look(loose, result.imports)
    return result


def reaching(result: Outline, imported: frozenset[str]) -> set[str]:
    """Names of the definitions that write, or use one that does; ``imported`` names are taken to write."""
    found = {name for name, writes in result.writes.items() if writes}
    found |= {name for name, used in result.uses.items() if not used.isdisjoint(imported)}
    changed = True
    while changed:
        more = {name for name, used in result.uses.items() if name not in found and not used.isdisjoint(found)}
        found |= more
        changed = bool(more)
    return found


def look(tree: Iterable[ast.AST], imports: list[ast.ImportFrom]) -> tuple[set[str], bool]:
    """The names that some code uses, and whether anything in it may be an in-place write; imports go to ``imports``."""
    names: set[str] = set()
    plain: set[str] = set()  # names bound to numbers, strings and displays, which hold no tensor of their own
    doubtful: list[str] = []
    writes = False
    for node in tree:
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            attr = node.attr
            names.add(attr)
            if attr == "data" and isinstance(node.ctx, ast.Store):
                writes = True
        elif isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if (
                (name.endswith("_") and not name.endswith("__"))
                or any(k.arg in FLAGS for k in node.keywords)
                or name in SPECIAL
            ):
                writes = True
            elif any(isinstance(a, ast.Constant) and a.value is True for a in node.args):
                writes = writes or name[:1].isupper()
        elif isinstance(node, ast.AugAssign):
            written = node.target
            if isinstance(written, ast.Name):
                doubtful.append(written.id)
            elif not _string_key(written):
                writes = True
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and _plain(node.value):
                    plain.add(target.id)
                elif isinstance(target, ast.Subscript) and not _string_key(target):
                    if isinstance(target.value, ast.Name):
                        doubtful.append(target.value.id)
                    else:
                        writes = True
                elif isinstance(target, ast.Tuple) and any(isinstance(e, ast.Subscript) for e in target.elts):
                    writes = True
        elif isinstance(node, ast.ImportFrom):
            imports.append(node)
    return names, writes or any(name not in plain for name in doubtful)


# calls that write without saying so in their name
SPECIAL = frozenset(["step", "load_state_dict", "vector_to_parameters", "register_hook", "apply", "backward"])


def _plain(value: ast.expr) -> bool:
    return isinstance(value, PLAIN) or (isinstance(value, ast.Constant) and value.value is not None)


def _string_key(target: ast.expr) -> bool:
    index = target.slice if isinstance(target, ast.Subscript) else None
    return isinstance(index, ast.Constant) and isinstance(index.value, str)
