"""Where names live: whether a function binds a name, whether an inner function sees it, where a walrus may stand."""

from __future__ import annotations

import libcst as cst

from codemods.places import Trail, scope_index
from codemods.syntax import normal, walk

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


class _Bindings(cst.CSTVisitor):
    """Collects what one function, class or module body binds, without what inner functions and classes bind."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: set[str] = set()
        self.declared: dict[str, str] = {}

    def _target(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Name):
            self.bound.add(normal(node.value))
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                self._target(element.value)
        elif isinstance(node, cst.StarredElement | cst.Element):
            self._target(node.value)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:  # noqa: N802
        self._target(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:  # noqa: N802
        self._target(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:  # noqa: N802
        self._target(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:  # noqa: N802
        self._target(node.target)

    def visit_For(self, node: cst.For) -> None:  # noqa: N802
        self._target(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:  # noqa: N802
        self._target(node.name)

    def visit_Del(self, node: cst.Del) -> None:  # noqa: N802
        self._target(node.target)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:  # noqa: N802
        if node.asname is None:
            name: cst.CSTNode = node.name
            while isinstance(name, cst.Attribute):
                name = name.value
            self._target(name)

    def visit_MatchAs(self, node: cst.MatchAs) -> None:  # noqa: N802
        if node.name is not None:
            self._target(node.name)

    def visit_MatchStar(self, node: cst.MatchStar) -> None:  # noqa: N802
        if node.name is not None:
            self._target(node.name)

    def visit_MatchMapping(self, node: cst.MatchMapping) -> None:  # noqa: N802
        if node.rest is not None:
            self._target(node.rest)

    def visit_Global(self, node: cst.Global) -> None:  # noqa: N802
        self.declared.update((normal(item.name.value), "global") for item in node.names)

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:  # noqa: N802
        self.declared.update((normal(item.name.value), "nonlocal") for item in node.names)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:  # noqa: N802
        self._target(node.name)
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:  # noqa: N802
        self._target(node.name)
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:  # noqa: N802
        return False

    def visit_CompFor(self, node: cst.CompFor) -> None:  # noqa: N802
        # Iteration variables belong to the comprehension; a walrus inside it binds out here and is visited.
        return None


def parameters(params: cst.Parameters) -> set[str]:
    """The names of all parameters."""
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    every.extend(star for star in (params.star_arg, params.star_kwarg) if isinstance(star, cst.Param))
    return {normal(param.name.value) for param in every}


def declared(scope: cst.CSTNode) -> dict[str, str]:
    """The names that a function or class body declares, each with ``global`` or ``nonlocal``."""
    return _collect(scope).declared


def _collect(scope: cst.CSTNode) -> _Bindings:
    found = _Bindings()
    body = scope if isinstance(scope, cst.Module) else getattr(scope, "body", scope)
    body.visit(found)
    return found


def unbound(trail: Trail, name: str) -> str:
    """Why binding ``name`` at the trail's end would make another variable of it, "" where it stays the same one."""
    name = normal(name)
    scope = trail[scope_index(trail)]
    for node in trail[scope_index(trail) + 1 :]:
        if isinstance(node, cst.Lambda) and name not in parameters(node.params):
            return f"{name} belongs to the function around the lambda, which a lambda cannot rebind"
    inside_lambda = any(isinstance(node, cst.Lambda) for node in trail[scope_index(trail) + 1 :])
    if inside_lambda or isinstance(scope, cst.Module):
        return ""
    found = _collect(scope)
    if name in found.declared or name in found.bound:
        return ""
    if isinstance(scope, cst.FunctionDef) and name in parameters(scope.params):
        return ""
    kind = "function" if isinstance(scope, cst.FunctionDef) else "class body"
    return (
        f"{name} is not bound in this {kind}; without a global or nonlocal declaration it would become a new variable"
    )


def shared(trail: Trail, name: str) -> bool:
    """Whether a call could read the variable behind our back: global, declared, or seen by an inner function."""
    name = normal(name)
    scope = trail[scope_index(trail)]
    if not isinstance(scope, cst.FunctionDef):
        return True
    if name in _collect(scope).declared:
        return True
    inner = (node for node in walk(scope.body) if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Lambda))
    return any(
        isinstance(part, cst.Name) and normal(part.value) == name for function in inner for part in walk(function.body)
    )


def no_walrus(trail: Trail, name: str) -> str:
    """Why ``(name := ...)`` may not stand at the trail's end, "" where it may."""
    name = normal(name)
    start = scope_index(trail)
    comprehension = False
    for index in range(start + 1, len(trail)):
        node = trail[index]
        if isinstance(node, cst.Lambda):
            comprehension, start = False, index
        if not isinstance(node, _COMPREHENSIONS):
            continue
        comprehension = True
        part: cst.CompFor | None = node.for_in
        while part is not None:
            if any(isinstance(leaf, cst.Name) and normal(leaf.value) == name for leaf in walk(part.target)):
                return f"{name} is the iteration variable of a comprehension, which cannot be rebound"
            if part in trail[index:] and trail[trail.index(part) + 1] is part.iter:
                return "no walrus may stand in a comprehension's iterable"
            part = part.inner_for_in
    if comprehension and isinstance(trail[start], cst.ClassDef):
        return "no walrus may stand in a comprehension of a class body"
    if any(isinstance(node, cst.Annotation) for node in trail[start:]):
        return "no walrus may stand in an annotation"
    return ""
