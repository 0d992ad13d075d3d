"""A cheap look at a file's tree: which functions can write to a tensor at all, themselves or through what they call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from inplace_fix.analysis.generic import GENERIC_NAMES
from inplace_fix.analysis.trees import nodes
from inplace_fix.analysis.units import Unit

FLAGS = frozenset(("inplace", "out", "max_norm"))
PLAIN = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.JoinedStr)
CONTAINERS = frozenset(("list", "dict", "set", "OrderedDict", "defaultdict", "Counter", "deque", "len", "str"))


@dataclass(slots=True)
class Part:
    """Some code at a glance.

    ``writes`` where it may hold an in-place write, ``flags`` where it may make something that writes when called,
    ``uses`` the bare names in it, ``calls_objects`` where it calls something it was given or made: only then can it run
    the methods of a class that it names.
    """

    writes: bool = False
    flags: bool = False
    uses: set[str] = field(default_factory=set)
    calls_objects: bool = False
    methods: dict[str, Part] | None = None  # of a class

    def add(self, other: Part) -> None:
        """Count what another part holds as this one's."""
        self.writes = self.writes or other.writes
        self.flags = self.flags or other.flags
        self.uses |= other.uses
        self.calls_objects = self.calls_objects or other.calls_objects


@dataclass(slots=True)
class Outline:
    """The top-level definitions of a file in its order; what stands between them is under "".

    ``imports`` are those of the whole file.
    """

    parts: dict[str, Part] = field(default_factory=dict)
    imports: list[ast.ImportFrom] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Names:
    """Names by which writes can be reached: of functions, and of classes (through calls on their objects)."""

    functions: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()

    def reached_by(self, part: Part) -> bool:
        """Whether some code can run what the names stand for."""
        if not part.uses.isdisjoint(self.functions):
            return True
        return part.calls_objects and not part.uses.isdisjoint(self.classes)


def outline(unit: Unit) -> Outline:
    """The outline of a file."""
    result = Outline()
    loose: list[ast.AST] = []
    for statement in unit.tree.body:
        if isinstance(statement, ast.ClassDef):
            found = _class(statement, result.imports)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = look(nodes(statement), result.imports)
        else:
            loose += nodes(statement)
            continue
        if statement.name in result.parts:  # both arms of a condition, or an overload: either may be the one
            found.add(result.parts[statement.name])
        result.parts[statement.name] = found
    result.parts[""] = look(loose, result.imports)
    return result


def _class(node: ast.ClassDef, imports: list[ast.ImportFrom]) -> Part:
    whole = Part(methods={})
    assert whole.methods is not None
    loose: list[ast.AST] = [*node.bases, *node.keywords, *node.decorator_list]
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            method = whole.methods[statement.name] = look(nodes(statement), imports)
            whole.add(method)
        else:
            loose += nodes(statement)
    whole.add(look(loose, imports))
    return whole


def reaching(result: Outline, imported: Names, harmless: Callable[[str], bool]) -> Names:
    """Names of the definitions that write, or run one that does; ``imported`` names are taken to write.

    ``harmless`` is asked of each function that may write whether it does not after all.
    """
    parts = result.parts
    found = {name for name, part in parts.items() if part.flags or (part.writes and not harmless(name))}
    found |= {name for name, part in parts.items() if imported.reached_by(part)}
    while True:
        names = Names(
            frozenset(name for name in found if parts[name].methods is None),
            frozenset(name for name in found if parts[name].methods is not None),
        )
        more = {name for name, part in parts.items() if name not in found and names.reached_by(part)}
        if not more:
            return names
        found |= more


def reaching_methods(part: Part, names: Names) -> set[str]:
    """The methods of a class that can write, themselves or through what they run."""
    methods = part.methods or {}
    found = {name for name, method in methods.items() if method.writes or names.reached_by(method)}
    if "__init__" in found:  # a flag given to a part takes effect where the part is called
        found |= {name for name, method in methods.items() if method.calls_objects}
    while True:
        more = {n for n, method in methods.items() if n not in found and not method.uses.isdisjoint(found)}
        if not more:
            return found
        found |= more


def look(tree: Iterable[ast.AST], imports: list[ast.ImportFrom]) -> Part:
    """Some code at a glance; its imports go to ``imports``."""
    names: set[str] = set()
    bound: set[str] = set()
    called: set[str] = set()  # names that calls begin with
    calls_objects = flags = False
    plain: set[str] = set()  # names bound to numbers, strings and displays, which hold no tensor of their own
    doubtful: list[str] = []
    writes = False
    for node in tree:
        if isinstance(node, ast.Name):
            names.add(node.id)
            if not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Attribute):
            attr = node.attr
            names.add(attr)
            if attr == "data" and isinstance(node.ctx, ast.Store):
                writes = True
        elif isinstance(node, ast.Call):
            function = node.func
            root = _root(function)
            if root is None:
                calls_objects = True
            else:
                called.add(root)
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if (name.endswith("_") and not name.endswith("__")) or name in SPECIAL:
                writes = True
            elif any(k.arg in FLAGS for k in node.keywords) or (name[:1].isupper() and _switched_on(node)):
                flags = True
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
    writes = writes or any(name not in plain for name in doubtful)
    return Part(writes or flags, flags, names, calls_objects or not called.isdisjoint(bound))


# calls that write without saying so in their name
SPECIAL = frozenset(["step", "load_state_dict", "vector_to_parameters", "register_hook", "apply", "backward"])


def _root(function: ast.expr) -> str | None:
    """The name that a called expression begins with, "" where it is a method that any container has."""
    if isinstance(function, ast.Attribute) and function.attr in GENERIC_NAMES:
        return ""
    while isinstance(function, ast.Attribute):
        function = function.value
    return function.id if isinstance(function, ast.Name) else None


def _switched_on(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Constant) and argument.value is True for argument in call.args)


def _plain(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        function = value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name in CONTAINERS
    return isinstance(value, PLAIN) or (isinstance(value, ast.Constant) and value.value is not None)


def _string_key(target: ast.expr) -> bool:
    index = target.slice if isinstance(target, ast.Subscript) else None
    return isinstance(index, ast.Constant) and isinstance(index.value, str)
