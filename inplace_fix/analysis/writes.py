"""In-place writes: every spelling of one, and what was true of the receiver just before."""

from __future__ import annotations

import ast

from inplace_fix.analysis import arrays, attributes, evident, indexing, names
from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition, both, compatible
from inplace_fix.analysis.facts import Form, Node, Observation, Site, Write
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import Call, as_tensor, nodes_of, requires_of, tensors_of
from inplace_fix.analysis.peek import peek
from inplace_fix.analysis.tensors import apply
from inplace_fix.analysis.values import (
    Const,
    Storage,
    Tensor,
    Tri,
    Unknown,
    Value,
    options,
)
from inplace_fix.catalog.model import Kind, Op


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
        evident.grad_mode(m, call.node),
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
    if not tensor.shares_graph:
        # what is detached takes up a history of its own; whoever shares its memory does not
        tensor.node, tensor.requires = node, max(tensor.requires, node.requires)
        return
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


def store(m: Machine, target: ast.Subscript, value: Value, node: ast.stmt | ast.expr) -> None:
    """``owner[index] = value``: a write where the owner is a tensor or an array, a slot's binding in a container."""
    from inplace_fix.analysis.expressions import evaluate

    owner = evaluate(m, target.value)
    index = evaluate(m, target.slice)
    evident.written(m, owner, target, node)
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
        any((a and not b) or (b and not a) for a, b in open_ends)
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
    left = [e for e in target.elts if isinstance(e, ast.Subscript)]
    right = [e for e in node.value.elts if isinstance(e, ast.Subscript)]
    if not len(left) == len(right) == len(target.elts) == len(node.value.elts):
        return
    texts = [ast.dump(e.slice) for e in left], [ast.dump(e.slice) for e in right]
    bases = {ast.dump(e.value).replace("Store()", "Load()") for e in (*left, *right)}
    if len(bases) != 1 or sorted(texts[0]) != sorted(texts[1]) or texts[0] == texts[1]:
        return
    owner = peek(m, left[0].value)
    tensor = as_tensor(m, owner) if owner is not None else None
    indices = [peek(m, e.slice) for e in left]
    if tensor is not None and tensor.sure and not any(i is None or indexing.is_advanced(m, i) for i in indices):
        m.observe("row-swap", node, certain=not tensor.array and tensor.scalar is not True)
