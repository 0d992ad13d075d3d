"""In-place writes: every spelling of one, and what was true of the receiver just before."""

from __future__ import annotations

import ast

from inplace_fix.analysis import arrays, attributes, indexing, names
from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition, both, compatible
from inplace_fix.analysis.facts import Form, Node, Observation, Site, Write
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.peek import peek
from inplace_fix.analysis.tensors import (
    Call,
    apply,
    as_tensor,
    nodes_of,
    operate,
    overload,
    requires_of,
    tensors_of,
)
from inplace_fix.analysis.values import (
    Choice,
    Const,
    DictValue,
    Instance,
    ListValue,
    Module,
    Storage,
    Tensor,
    Tri,
    Unknown,
    Value,
    choice,
    options,
)
from inplace_fix.catalog.model import Kind, Op

SYMBOLS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
PLACES = (ast.Name, ast.Attribute, ast.Subscript)


def perform(
    m: Machine,
    call: Call,
    guard: Condition,
    tensor: Tensor,
    node: Node | None,
    operands: tuple[Tensor, ...],
    receiver: ast.expr | None,
    certainty: Tri,
) -> Write | None:
    """Note a write to ``tensor`` and let the memory carry its history from now on."""
    if not compatible(m.condition, guard) or m.frame is None:
        return None
    condition = both(m.condition, guard)
    if certainty is Tri.MAYBE:
        condition = {**condition, ("flag", id(call.made or call.op)): 1}
    op = call.op
    leaf = tensor.leaf and tensor.storage.history is None
    write = Write(
        m.now(),
        condition,
        call.form,
        m.site(call.node),
        m.statement,
        receiver,
        tensor,
        op,
        m.frame,
        cell_of(m, receiver),
        m.grad,
        m.inference,
        silent=op.silent or not tensor.versioned,
        made=call.made if isinstance(call.made, Site) else None,
        operands=operands,
        level=m.level,
        requires=requires_of(tensor),
        leaf=leaf,
        view=tensor.view,
        random=op.random,
        scalar_given_first=call.scalar_first,
        flag_position=call.flag_position if call.made is not None else op.position(op.flag) if op.flag else None,
    )
    if op.kind is Kind.FLAG:
        flagged(m, write)
        return None
    for storage, _ in tensor.storages():
        storage.writes.append(write)
    m.facts.writes.append(write)
    if node is not None and not refused(write) and (op.differentiable or requires_of(tensor) is not Tri.NO):
        record(m, tensor, node)
    if tensor.scalar is True and any(other.scalar is False for other in operands):
        m.observe("scalar-grows", call.node, write=write)
    return write


def refused(write: Write) -> bool:
    """Whether PyTorch refuses the write for the leaf it goes to, so that it never comes to pass."""
    base = write.tensor.base or write.tensor
    return write.grad is True and write.requires is Tri.YES and base.leaf and write.tensor.shares_graph


def record(m: Machine, tensor: Tensor, node: Node) -> None:
    """Make a recorded write part of the graph of every alias."""
    inputs = dict.fromkeys((*node.inputs, *nodes_of(tensor)))
    inputs.pop(node, None)
    node.inputs = tuple(inputs)
    for storage, _ in tensor.storages():
        storage.history = node


def flagged(m: Machine, write: Write) -> None:
    """An operation that changes autograd flags only: requires_grad_, detach_."""
    op, tensor = write.op, write.tensor
    assert op is not None
    if not op.differentiable and tensor.view and tensor.view != "same":
        m.facts.observations.append(Observation("detach-view", write.site, write=write))
    detach(m, tensor)


def detach(m: Machine, tensor: Tensor) -> None:
    """Take a tensor out of its graph."""
    tensor.node, tensor.requires, tensor.leaf = None, Tri.NO, False
    tensor.storage.history = None


def cell_of(m: Machine, receiver: ast.expr | None) -> Cell | None:
    """The place from which a receiver expression was read, None for a temporary."""
    if isinstance(receiver, ast.NamedExpr):
        receiver = receiver.target
    if isinstance(receiver, ast.Name):
        return names.lookup(m, receiver.id)
    if isinstance(receiver, ast.Attribute):
        owner = peek(m, receiver.value)
        return attributes.cell(owner, receiver.attr) if owner is not None else None
    if isinstance(receiver, ast.Subscript):
        owner = peek(m, receiver.value)
        index = receiver.slice
        if isinstance(index, ast.Constant):
            return indexing.cell(owner, index.value) if owner is not None else None
    return None


def augmented(m: Machine, node: ast.AugAssign) -> None:
    """``target op= value``: in place for tensors (never for ``@=``), a new binding for everything immutable."""
    from inplace_fix.analysis.expressions import evaluate
    from inplace_fix.analysis.statements import assign

    target = node.target
    symbol = SYMBOLS[type(node.op)]
    if isinstance(target, ast.Subscript):
        owner, index = evaluate(m, target.value), evaluate(m, target.slice)
        old = indexing.get_item(m, owner, index, target)
    else:
        owner = evaluate(m, target.value) if isinstance(target, ast.Attribute) else None
        old = attributes.get(m, owner, target.attr, target) if owner is not None else names.load(m, target)  # type: ignore[arg-type]
        index = None
    value = evaluate(m, node.value)
    array = arrays.array_of(old if index is None else owner or old)
    if array is not None:
        write_array(m, array, target.value if isinstance(target, ast.Subscript) else target, node)
        return
    tensor = as_tensor(m, old)
    op = m.catalog.operator(symbol + "=")
    if isinstance(target, ast.Subscript) and as_tensor(m, owner or old) is not None and op is not None:
        augmented_store(m, node, target, owner, index, old, value, op)  # type: ignore[arg-type]
        return
    if tensor is None or op is None:
        if isinstance(old, (ListValue, DictValue)):
            indexing.extend(m, old, value, node)
            return
        result = operate(m, symbol, [(old, target), (value, node.value)], node)  # type: ignore[arg-type]
        if isinstance(old, Unknown) and not old.number and not isinstance(result, Tensor):
            return  # an object that may well have changed in place: the name still means it
        rebind(m, node, result)
        return
    results: list[tuple[Condition, Value]] = []
    for guard, part in options(old):
        with m.under(guard) as possible:
            if not possible:
                continue
            receiver = part.tensor if isinstance(part, Unknown) else part
            if isinstance(receiver, Tensor) and (
                isinstance(part, Tensor) or receiver.sure or isinstance(part, Unknown)
            ):
                operands = [(part, target), (value, node.value)]
                chosen = overload(m, op, operands, {})  # type: ignore[arg-type]
                call = Call(chosen, dict(zip(chosen.params, operands, strict=False)), node, Form.AUGMENTED, target)
                apply(m, call)
                results.append((guard, part))
            else:
                results.append((guard, operate(m, symbol, [(part, target), (value, node.value)], node)))  # type: ignore[arg-type]
    if any(a is not b for (_, a), (_, b) in zip(results, options(old), strict=False)):
        assign(m, target, choice(results), node)
    elif isinstance(target, ast.Attribute):
        written_attribute(m, node, owner, target, tensor)


def rebind(m: Machine, node: ast.AugAssign, value: Value) -> None:
    """Bind the target of an augmented assignment to a new value."""
    from inplace_fix.analysis.statements import assign

    assign(m, node.target, value, node)


def written_attribute(
    m: Machine, node: ast.AugAssign, owner: Value | None, target: ast.Attribute, tensor: Tensor
) -> None:
    """``x.T += v`` writes and then fails: the view attribute cannot be set."""
    if owner is not None and as_tensor(m, owner) is not None and target.attr in m.catalog.attributes:
        if target.attr != "data":
            m.observe("view-attribute", node, certain=True)
    elif isinstance(owner, Instance) and target.attr not in owner.attributes:
        cell = Cell("attribute", f"{m.unit.segment(target.value)}.{target.attr}")
        cell.write(m.condition, tensor, m.now())
        owner.attributes[target.attr] = cell


def augmented_store(
    m: Machine,
    node: ast.AugAssign,
    target: ast.Subscript,
    owner: Value,
    index: Value,
    old: Value,
    value: Value,
    op: Op,
) -> None:
    """``x[i] op= v``: through a view for basic indices, gather and put back for index tensors."""
    advanced = indexing.is_advanced(m, index)
    bound = dict(zip(op.params, [(old, target), (value, node.value)], strict=False))
    if advanced:
        operate(m, SYMBOLS[type(node.op)], [(old, target), (value, node.value)], node)  # type: ignore[arg-type]
        put = m.catalog.method("__setitem__.advanced")
        if put is not None:
            own = dict(
                zip(put.params, [(owner, target.value), (index, target.slice), (value, node.value)], strict=False)
            )
            before = len(m.facts.writes)
            apply(m, Call(put, own, node, Form.AUGMENTED_STORE, target.value))
            for write in m.facts.writes[before:]:
                write.index_advanced = True
            indexing.check_repeated(m, node, owner, index, value)
        return
    apply(m, Call(op, bound, node, Form.AUGMENTED_STORE, target.value))


def store(m: Machine, target: ast.Subscript, value: Value, node: ast.stmt | ast.expr) -> None:
    """``owner[index] = value``: a write where the owner is a tensor or an array, a slot's binding in a container."""
    from inplace_fix.analysis.expressions import evaluate

    owner = evaluate(m, target.value)
    index = evaluate(m, target.slice)
    for guard, part in options(owner):
        with m.under(guard) as possible:
            if possible:
                _store_in(m, part, index, value, target, node)


def _store_in(
    m: Machine, owner: Value, index: Value, value: Value, target: ast.Subscript, node: ast.stmt | ast.expr
) -> None:
    array = arrays.array_of(owner)
    if array is not None:
        write_array(m, array, target.value, node)
        return
    tensor = owner.tensor if isinstance(owner, Unknown) else owner
    if not isinstance(tensor, Tensor):
        indexing.set_item(m, owner, index, value)
        return
    if not isinstance(index, Const) or not isinstance(index.value, str):
        name = "__setitem__.advanced" if indexing.is_advanced(m, index) else "__setitem__"
        op = m.catalog.method(name)
        if op is None:
            return
        value_node = getattr(node, "value", None)
        bound = dict(zip(op.params, [(owner, target.value), (index, target.slice), (value, value_node)], strict=False))
        whole = (
            node if isinstance(node, ast.Assign) and len(node.targets) == 1 and node.targets[0] is target else target
        )
        before = len(m.facts.writes)
        apply(m, Call(op, bound, whole, Form.STORE, target.value))
        for write in m.facts.writes[before:]:
            write.index_advanced = name.endswith("advanced")
            write.value = value_node
        check_overlap(m, tensor, value, whole)


def write_array(m: Machine, array: Tensor, receiver: ast.expr, node: ast.AST) -> None:
    """A write through NumPy: no version moves, no graph learns of it."""
    op = Op("numpy.ndarray.__setitem__", ("self",), writes=("self",), silent=True)
    perform(m, Call(op, {}, node, Form.ARRAY), ALWAYS, array, None, (), receiver, Tri.YES)


def check_overlap(m: Machine, tensor: Tensor, value: Value, node: ast.AST) -> None:
    """``x[1:] = x[:-1]``: source and target are different windows on one storage."""
    for _, source in tensors_of(m, value):
        if source.storage is tensor.storage and source.view and not source.maybe and isinstance(node, ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Subscript) and isinstance(node.value, ast.Subscript):
                slices = [_has_slice(target.slice), _has_slice(node.value.slice)]
                if (
                    all(slices)
                    and ast.dump(target.slice) != ast.dump(node.value.slice)
                    and _may_overlap(target.slice, node.value.slice)
                ):
                    m.observe("overlap", node)


def _has_slice(index: ast.expr) -> bool:
    return any(isinstance(part, ast.Slice) for part in ast.walk(index))


def _may_overlap(first: ast.expr, second: ast.expr) -> bool:
    """Whether two slice expressions are of the shifted kind (``1:`` and ``:-1``), which overlap whatever the length."""
    if not isinstance(first, ast.Slice) or not isinstance(second, ast.Slice) or first.step or second.step:
        return False
    open_ends = {(first.lower is None, second.upper is None), (second.lower is None, first.upper is None)}
    return (
        any(a and not b or b and not a for a, b in open_ends)
        or (first.upper is None and second.lower is None)
        or (first.lower is None and second.upper is None)
    )


def set_attribute(m: Machine, target: ast.Attribute, value: Value, node: ast.stmt | ast.expr) -> None:
    """``owner.name = value``."""
    from inplace_fix.analysis.expressions import evaluate

    owner = evaluate(m, target.value)
    for guard, part in options(owner):
        with m.under(guard) as possible:
            if not possible:
                continue
            tensor = part.tensor if isinstance(part, Unknown) else part
            if isinstance(tensor, Tensor):
                _set_tensor_attribute(m, tensor, target, value, node)
            else:
                attributes.set_(m, part, target.attr, value, target)


def _set_tensor_attribute(
    m: Machine, tensor: Tensor, target: ast.Attribute, value: Value, node: ast.stmt | ast.expr
) -> None:
    if target.attr == "data":
        swap_data(m, tensor, value, target, node)
    elif target.attr == "grad":
        given = as_tensor(m, value)
        tensor.gradient = given
    elif target.attr == "requires_grad":
        on = not (isinstance(value, Const) and not value.value)
        tensor.requires = (Tri.YES if isinstance(value, Const) else Tri.MAYBE) if on else Tri.NO
        tensor.leaf = tensor.node is None


def swap_data(m: Machine, tensor: Tensor, value: Value, target: ast.Attribute, node: ast.stmt | ast.expr) -> None:
    """``p.data = v``: what a graph saved of the very parameter is read anew in backward."""
    given = as_tensor(m, value)
    op = m.catalog.method("set_")
    assert m.frame is not None
    write = Write(
        m.now(), m.condition, Form.DATA, m.site(node), m.statement, target.value, tensor, op, m.frame,
        cell_of(m, target.value), m.grad, m.inference, silent=True, requires=requires_of(tensor), leaf=tensor.leaf,
    )  # fmt: skip
    m.facts.writes.append(write)
    tensor.storage.writes.append(write)
    if given is None or given.maybe:
        tensor.storage = Storage(tensor.storage.origin, tensor.storage.made, tensor.storage.label)
        return
    if given.storage.origin == "parameter" and tensor.storage is not given.storage and given.owner is not tensor:
        m.shared.append((given.storage, m.site(node), m.tick, None))
    tensor.storage = given.storage


def check_swap(m: Machine, node: ast.Assign) -> None:
    """``x[i], x[j] = x[j], x[i]`` on a tensor: the right-hand sides are views, the first store spoils the second."""
    target = node.targets[0]
    if not (isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)):
        return
    left, right = target.elts, node.value.elts
    if len(left) != len(right) or not all(isinstance(e, ast.Subscript) for e in (*left, *right)):
        return
    texts = [ast.dump(e.slice) for e in left], [ast.dump(e.slice) for e in right]  # type: ignore[attr-defined]
    bases = {ast.dump(e.value).replace("Store()", "Load()") for e in (*left, *right)}  # type: ignore[attr-defined]
    if len(bases) != 1 or sorted(texts[0]) != sorted(texts[1]) or texts[0] == texts[1]:
        return
    owner = peek(m, left[0].value)  # type: ignore[attr-defined]
    tensor = as_tensor(m, owner) if owner is not None else None
    indices = [peek(m, e.slice) for e in left]  # type: ignore[attr-defined]
    if tensor is not None and tensor.sure and not any(i is None or indexing.is_advanced(m, i) for i in indices):
        m.observe("row-swap", node, certain=not tensor.array and tensor.scalar is not True)


__all__ = ["Choice", "Module", "augmented", "check_swap", "perform", "set_attribute", "store"]
