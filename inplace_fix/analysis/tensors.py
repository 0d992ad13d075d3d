"""Operations on tensors: what the catalog says of one, carried out on abstract values."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from inplace_fix.analysis import autograd, dtypes, evident
from inplace_fix.analysis.conditions import ALWAYS, Cell, Condition
from inplace_fix.analysis.facts import Form, Node
from inplace_fix.analysis.generic import GENERIC_NAMES
from inplace_fix.analysis.machine import Machine
from inplace_fix.analysis.operands import (
    Call,
    Operand,
    as_tensor,
    is_tensor,
    nodes_of,
    promote,
    requires_of,
    tensors_of,
)
from inplace_fix.analysis.saving import save_inputs, save_results, save_tensor
from inplace_fix.analysis.values import (
    NONE,
    Const,
    DictValue,
    ListValue,
    Tensor,
    Tri,
    Unknown,
    Value,
    choice,
    options,
)
from inplace_fix.catalog.model import Op, Result

PLAIN_VALUES = (Result.VALUE, Result.NONE)
VIEW_WORDS = {
    Result.VIEW: "view",
    Result.VIEWS: "multi",
    Result.SINGLE_VIEWS: "view",
    Result.EXPANDED: "expanded",
    Result.OVERLAPPING: "overlapping",
    Result.VIEW_OR_FRESH: "view",
}


def operate(m: Machine, symbol: str, operands: Sequence[Operand], node: ast.AST) -> Value:
    """A Python operator; something unknown comes out where no operand is known to be a tensor."""
    op = m.catalog.method(symbol) if symbol.isalpha() else m.catalog.operator(symbol)
    evident.combined(m, (value for value, _ in operands), node)
    if op is None or not any(as_tensor(m, value) is not None for value, _ in operands):
        return Unknown(number=all(isinstance(v, Const) or (isinstance(v, Unknown) and v.number) for v, _ in operands))
    if isinstance(operands[0][0], (Const, ListValue)):
        reflected = m.catalog.operator("r" + symbol)
        op, operands = (reflected, operands[::-1]) if reflected else (op, operands)
    op = overload(m, op, operands, {})
    bound = dict(zip(op.params, operands, strict=False))
    result = apply(m, Call(op, bound, node))
    if symbol in ("<", "<=", ">", ">=", "==", "!=") and isinstance(result, Tensor):
        result.dtype = "bool"
    return result


def method(
    m: Machine,
    owner: Value,
    name: str,
    positional: list[Operand],
    keywords: dict[str, Operand],
    node: ast.AST,
    receiver: ast.expr | None = None,
    scalar_first: bool = False,
) -> Value:
    """Call a method of a tensor (or of something that this very call shows to be one)."""
    op = m.catalog.method(name)
    if op is None:
        return Unknown()
    for _, part in options(owner):
        if isinstance(part, Unknown) and part.tensor is None and name not in GENERIC_NAMES:
            promote(m, part, sure=True)
        elif isinstance(part, Unknown) and part.tensor is not None and op.in_place and name not in GENERIC_NAMES:
            part.tensor.sure = True
    if not tensors_of(m, owner) and not isinstance(owner, ListValue):
        return Unknown()
    form = Form.METHOD
    op = overload(m, op, [(owner, receiver), *positional], keywords)
    bound = bind(op, [(owner, receiver), *positional], keywords)
    call = Call(op, bound, node, form, receiver, scalar_first=scalar_first, sources=[(owner, receiver), *positional])
    return apply(m, call)


def bind(op: Op, positional: list[Operand], keywords: dict[str, Operand]) -> dict[str, Operand]:
    """Arguments by parameter name; what a variadic parameter takes is gathered in a list."""
    bound: dict[str, Operand] = {}
    gathered: list[Operand] = []
    for name, operand in zip(op.named(len(positional)), positional, strict=False):
        if name == op.variadic and not isinstance(operand[0], (ListValue, DictValue)):
            gathered.append(operand)
        else:
            bound[name] = operand
    if gathered:
        cells = []
        for value, _ in gathered:
            cell = Cell("item", "[...]")
            cell.write(ALWAYS, value, 0)
            cells.append(cell)
        bound[op.variadic] = (ListValue(cells, "tuple"), gathered[0][1])
    bound.update(keywords)
    return bound


def overload(m: Machine, op: Op, positional: Sequence[Operand], keywords: Mapping[str, Operand]) -> Op:
    """The overload that a call means, as far as its arguments tell."""
    if not op.overloads:
        return op
    return m.catalog.choose(
        op,
        [is_tensor(value) for value, _ in positional],
        {name: is_tensor(value) for name, (value, _) in keywords.items()},
    )


def apply(m: Machine, call: Call) -> Value:
    """Carry out an operation: record its node and saves, do its write, give its result."""
    op = call.op
    out = call.bound.get("out") if op.out else None
    writes_flag = _in_place(m, call)
    if op.result in PLAIN_VALUES and not op.writes and out is None:
        return NONE if op.result is Result.NONE else Unknown(number=True)
    operands = _operands(m, call)
    requires = _requires(m, call, operands)
    node = None
    if m.grad is not False and requires is not Tri.NO and (op.differentiable or call.own):
        inputs = tuple(dict.fromkeys(n for ts in operands.values() for _, t in ts for n in nodes_of(t)))
        node = Node(op.name, m.site(call.node), inputs, requires, m.condition, m.now())
    if writes_flag is not Tri.NO and op.writes:
        return _apply_in_place(m, call, operands, node, writes_flag)
    if node is not None:
        save_inputs(m, call, op.saves, operands, node)
    if out is not None and not (isinstance(out[0], Const) and out[0].value is None):
        return _apply_out(m, call, operands, node, out)
    result = _result(m, call, operands, node, requires)
    if node is not None:
        save_results(m, call, op.saves, result, node)
        m.live.append(node)
    evident.given(m, result, call.node)
    return result


def _in_place(m: Machine, call: Call) -> Tri:
    if call.in_place is not None:
        return call.in_place
    op = call.op
    if not op.flag:
        return Tri.YES if op.writes else Tri.NO
    given = call.bound.get(op.flag)
    if given is None:
        return Tri.YES if op.flag_default else Tri.NO
    if isinstance(given[0], Const):
        return Tri.YES if given[0].value else Tri.NO
    return Tri.MAYBE


def _operands(m: Machine, call: Call) -> dict[str, list[tuple[Condition, Tensor]]]:
    """The tensors behind each parameter; what the operation can differentiate or saves must be a tensor."""
    op = call.op
    tensorlike = {*op.differentiable, *(s.what for s in op.saves), *op.writes}
    first = op.params[0] if op.params else ""
    operands: dict[str, list[tuple[Condition, Tensor]]] = {}
    for param, (value, expression) in call.bound.items():
        if expression is not None and isinstance(value, Const):
            m.unit.numbers.add(expression)
        for _, part in options(value):
            if isinstance(part, Unknown) and part.tensor is None and not part.number and param in tensorlike:
                if (
                    param == first
                    or param in op.writes
                    or (not op.name.startswith("torch.Tensor.__") and param not in ("other", "exponent", "value"))
                ):
                    promote(m, part, sure=True)
                else:
                    promote(m, part, sure=False)
        found = tensors_of(m, value)
        if found:
            operands[param] = found
    for param, value in call.own.items():
        found = tensors_of(m, value)
        if found:
            operands[param] = found
    for found in operands.values() if op.differentiable else ():
        for _, tensor in found:
            autograd.used(m, tensor, call.node)
    return operands


def _requires(m: Machine, call: Call, operands: dict[str, list[tuple[Condition, Tensor]]]) -> Tri:
    sources = [pair for param, found in operands.items() if param in call.op.differentiable for pair in found]
    result = Tri.NO
    for _, tensor in sources:
        if tensor.sure or tensor.node is not None:  # what is hardly known to be a tensor proves no gradient
            result = max(result, requires_of(tensor))
    return evident.requires(m, result, sources, call.node)


def _apply_in_place(
    m: Machine,
    call: Call,
    operands: dict[str, list[tuple[Condition, Tensor]]],
    node: Node | None,
    certainty: Tri,
) -> Value:
    from inplace_fix.analysis.writes import perform

    op = call.op
    rules = op.inplace_saves if op.flag else op.saves
    if node is not None:
        # what an in-place operation saves of the receiver is a copy of its own; the catalog lists only what is visible
        save_inputs(m, call, rules, operands, node)
    written: list[tuple[Condition, Tensor]] = []
    others = tuple(t for param, ts in operands.items() if param not in op.writes for _, t in ts)
    for param in op.writes:
        argument = call.bound.get(param, (NONE, None))[1]
        receiver = call.receiver if call.receiver is not None and argument is None else argument
        # statistics that batch norm updates take no part in the graph, unlike its input
        recorded = node if not op.differentiable or param in op.differentiable else None
        for guard, tensor in operands.get(param, ()):
            perform(m, call, guard, tensor, recorded, others, receiver if param not in call.own else None, certainty)
            written.append((guard, tensor))
    target = call.bound.get(op.writes[0])
    if op.name.startswith("torch._foreach"):
        return NONE
    if target is None:
        # the write goes to the module's own tensors; the call still has a result of its own
        result = _result(m, call, operands, node, _requires(m, call, operands))
        if node is not None:
            save_inputs(m, call, op.saves, operands, node)
            save_results(m, call, op.saves, result, node)
            m.live.append(node)
        return result
    if node is not None:
        for guard, tensor in written:
            for rule in rules:
                if rule.what.startswith("result"):
                    save_tensor(m, call, rule, node, guard, tensor, None, Tri.YES)
        m.live.append(node)
    return target[0] if op.result is not Result.NONE else NONE


def _apply_out(
    m: Machine,
    call: Call,
    operands: dict[str, list[tuple[Condition, Tensor]]],
    node: Node | None,
    out: Operand,
) -> Value:
    from inplace_fix.analysis.writes import perform

    others = tuple(t for param, ts in operands.items() if param != "out" for _, t in ts)
    call = Call(call.op, call.bound, call.node, Form.OUT, out[1])
    for guard, tensor in tensors_of(m, out[0]):
        perform(m, call, guard, tensor, None, others, out[1], Tri.YES)
    return out[0]


def _result(
    m: Machine,
    call: Call,
    operands: dict[str, list[tuple[Condition, Tensor]]],
    node: Node | None,
    requires: Tri,
) -> Value:
    """The result as the catalog relates it to the first operand."""
    op = call.op
    if op.result in PLAIN_VALUES:
        return NONE if op.result is Result.NONE else Unknown(number=True)
    first = op.params[0] if op.params else ""
    sources = operands.get(first) or next(iter(operands.values()), [])
    requires = requires if m.grad is not False else Tri.NO
    sure = all(t.sure for _, t in sources)
    if op.result is Result.SAME and sources:
        return call.bound[first][0] if first in call.bound else choice(list(sources))
    if (op.result in (Result.FRESH, Result.ARRAY) and not (op.result is Result.ARRAY and sources)) or not sources:
        count = op.results if op.results or not op.overloads else 1
        made = [_fresh(m, call, node, requires, sure, operands) for _ in range(max(count, 1))]
        if count == 1:
            return made[0]
        for further in made[1:] if call.module else ():
            further.bundle = True
        return _several(m, list(made), op)
    shared = [(guard, _shared(m, call, tensor, node, requires)) for guard, tensor in sources]
    if op.result in (Result.VIEWS, Result.SINGLE_VIEWS):
        parts = []
        for _ in range(2):
            again = [(guard, _shared(m, call, tensor, node, requires)) for guard, tensor in sources]
            parts.append(choice(list(again)))
        return _several(m, parts, op, exact=False)
    if op.results > 1 or op.results == 0:
        each = []
        for param_value in sources:
            each.append(choice([(param_value[0], _shared(m, call, param_value[1], node, requires))]))
        return _several(m, each, op, exact=op.results != 0 or len(each) > 1)
    return choice(list(shared))


def _several(m: Machine, values: list[Value] | list[Tensor], op: Op, exact: bool = True) -> ListValue:
    cells = []
    for value in values:
        cell = Cell("item", "[...]")
        cell.write(ALWAYS, value, m.tick)
        cells.append(cell)
    return ListValue(cells, "tuple", exact)


def _fresh(
    m: Machine,
    call: Call,
    node: Node | None,
    requires: Tri,
    sure: bool,
    operands: dict[str, list[tuple[Condition, Tensor]]],
) -> Tensor:
    tensor = m.fresh(call.node, requires=requires if node is not None else Tri.NO)
    tensor.node = node
    tensor.sure = sure
    if any(t.role == "batched" for found in operands.values() for _, t in found):
        tensor.role = "batched"  # made from a batched value, and batched like it
    tensor.storage.blank = not call.op.differentiable and not call.op.writes
    tensor.contiguous = True if not operands or all(t.contiguous for ts in operands.values() for _, t in ts) else None
    asked = call.bound.get("requires_grad")
    if asked is not None and not (isinstance(asked[0], Const) and not asked[0].value):
        tensor.requires, tensor.leaf = (Tri.YES if isinstance(asked[0], Const) else Tri.MAYBE), True
    dtypes.of_result(call.op, call.bound, operands, tensor)
    return tensor


def _shared(m: Machine, call: Call, source: Tensor, node: Node | None, requires: Tri) -> Tensor:
    """A tensor that looks at the memory of another, wholly or perhaps."""
    relation = call.op.result
    may = relation in (Result.VIEW_OR_FRESH, Result.SAME_OR_FRESH)
    if op_joins(call):
        return _fresh(m, call, node, requires, source.sure, {"": [(ALWAYS, source)]})
    if may and source.contiguous and not _converts(call):
        may = False
    viewed = evident.is_view(m, call.node) if relation is Result.VIEW_OR_FRESH else None
    if viewed is False:
        return _fresh(m, call, node, requires, source.sure, {"": [(ALWAYS, source)]})
    may = may and viewed is None
    if relation is Result.SAME_OR_FRESH and not may:
        return source
    result = Tensor(
        source.storage,
        source.maybe,
        node=node or source.node,
        requires=max(source.requires, requires) if source.shares_graph else source.requires,
        view=VIEW_WORDS.get(relation, source.view),
        base=source.base or source,
        made=m.site(call.node) if m.frame is not None else None,
        made_tick=m.now(),
        sure=source.sure,
        shares_graph=source.shares_graph,
        versioned=source.versioned,
        dtype=source.dtype,
        parameter=False,
        role=source.role,
        unique=source.unique,
    )
    result.leaf = False
    if source.view == "multi" and relation is not Result.DETACHED:
        result.view = "multi"
    elif source.view in ("expanded", "overlapping") and result.view == "view":
        result.view = source.view if relation is not Result.VIEW else "view"
    if relation in (Result.DETACHED, Result.UNVERSIONED, Result.ARRAY):
        result.node, result.requires, result.shares_graph = None, Tri.NO, False
        result.view, result.base, result.leaf = "", None, False
        result.owner = source
        if relation is not Result.DETACHED:
            result.versioned = False
        result.array = relation is Result.ARRAY
    if relation is Result.SAME_OR_FRESH:
        result.view, result.base, result.leaf = source.view, source.base, source.leaf
    if may:
        other = m.fresh(call.node)
        result.maybe = (*source.maybe, other.storage)
    if relation is Result.VIEW_OR_FRESH and not may:
        result.contiguous = True
    dtypes.of_result(call.op, call.bound, {}, result)
    return result


def op_joins(call: Call) -> bool:
    """Whether the operands of a variadic operation are joined, so that the result is nobody's view (einsum of two)."""
    if call.op.result is not Result.VIEW_OR_FRESH or call.op.variadic not in call.op.differentiable:
        return False
    held = call.bound.get(call.op.variadic, (NONE, None))[0]
    return isinstance(held, ListValue) and len(held.cells) > 1


def _converts(call: Call) -> bool:
    """Whether a call that may return the same object was asked for something that can change it."""
    return call.op.result is Result.SAME_OR_FRESH and (len(call.bound) > 1 or dtypes.converts(call.op))
