"""Names the parts of a target that must not be evaluated twice, such as the index of ``xs[next(it)]``."""

from __future__ import annotations

import libcst as cst

from codemods.plan import Plan
from codemods.syntax import alone, pure


def settled(
    plan: Plan, target: cst.BaseAssignTargetExpression | cst.BaseExpression
) -> tuple[list[cst.BaseSmallStatement], cst.BaseExpression]:
    """Assignments to fresh names, and the target over these names, so that it can be evaluated twice.

    Everything is bound in the order in which the target evaluates it. Where only an index has effects, the container
    is bound too unless it is a plain name, since the index's effects could rebind an attribute.
    """
    statements: list[cst.BaseSmallStatement] = []

    def keep(node: cst.BaseExpression, wish: str) -> cst.BaseExpression:
        name = plan.fresh_name(wish)
        statements.append(cst.Assign([cst.AssignTarget(cst.Name(name))], alone(node, plan.tree.code(node))))
        return cst.Name(name)

    if pure(target):
        return [], target
    if isinstance(target, cst.Attribute):
        return statements, target.with_changes(value=keep(target.value, "owner"))
    if not isinstance(target, cst.Subscript):
        return statements, keep(target, "value")
    elements = []
    base = target.value if isinstance(target.value, cst.Name) else keep(target.value, "owner")
    for element in target.slice:
        inner = element.slice
        if isinstance(inner, cst.Index) and not pure(inner):
            inner = inner.with_changes(value=keep(inner.value, "index"))
        elif isinstance(inner, cst.Slice):
            bounds = {"lower": inner.lower, "upper": inner.upper, "step": inner.step}
            kept = {key: keep(bound, key) for key, bound in bounds.items() if bound is not None and not pure(bound)}
            inner = inner.with_changes(**kept)
        elements.append(element.with_changes(slice=inner))
    return statements, target.with_changes(value=base, slice=elements)
