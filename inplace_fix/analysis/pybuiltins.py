"""Python's own functions, containers and standard library, as far as values flow through them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from inplace_fix.analysis import indexing, iteration
from inplace_fix.analysis.containers import dict_method, list_method
from inplace_fix.analysis.machine import MOST_ROUNDS, Machine
from inplace_fix.analysis.tensors import operate
from inplace_fix.analysis.values import (
    NONE,
    Class,
    Const,
    DictValue,
    Extern,
    Function,
    Instance,
    ListValue,
    Module,
    Native,
    Optimizer,
    Super,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from inplace_fix.analysis.calls import Arguments

Handler = Callable[[Machine, "Arguments", ast.AST], Value]


def call(m: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call a built-in function or type."""
    handler = FUNCTIONS.get(name)
    return handler(m, arguments, node) if handler else Unknown(number=name in NUMBERS)


NUMBERS = frozenset(
    [
        "int",
        "float",
        "bool",
        "str",
        "len",
        "abs",
        "round",
        "min",
        "max",
        "any",
        "all",
        "ord",
        "hash",
        "id",
        "repr",
        "print",
        "format",
        "pow",
        "divmod",
    ]
)


def _len(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.first()
    if isinstance(value, ListValue) and value.exact:
        return Const(len(value.cells))
    if isinstance(value, Module) and value.exact and value.container:
        return Const(len(value.children))
    return Unknown(number=True)


def _range(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    numbers = [v.value for v, _ in arguments.positional if isinstance(v, Const) and isinstance(v.value, int)]
    if len(numbers) == len(arguments.positional) and numbers and not (len(numbers) == 3 and numbers[2] == 0):
        span = range(*numbers)
        if len(span) <= MOST_ROUNDS + 1:
            return iteration.listed(m, [Const(i) for i in span])
        return iteration.listed(m, [Unknown(number=True) for _ in range(MOST_ROUNDS)], exact=False)
    return iteration.listed(m, [Unknown(number=True) for _ in range(MOST_ROUNDS)], exact=False)


def _zip(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    columns = [iteration.items(m, value, node) for value, _ in arguments.positional]
    rounds = min((len(column) for column in columns), default=0)
    columns = [iteration.shortened(column, rounds) for column in columns]
    exact = all(isinstance(v, ListValue) and v.exact for v, _ in arguments.positional)
    return iteration.listed(
        m, [iteration.listed(m, [column[i] for column in columns], "tuple") for i in range(rounds)], exact=exact
    )


def _enumerate(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.first()
    found = iteration.items(m, value, node)
    exact = (isinstance(value, ListValue) and value.exact) or (isinstance(value, Module) and value.exact)
    pairs: list[Value] = []
    for number, item in enumerate(found):
        index: Value = Const(number) if exact else Unknown(number=True)
        pairs.append(iteration.listed(m, [index, item], "tuple"))
    return iteration.listed(m, pairs, exact=exact)


def _items(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """list(x), tuple(x), iter(x), sorted(x), reversed(x)..."""
    if not arguments.positional:
        return iteration.listed(m, [])
    value = arguments.first()
    if isinstance(value, Unknown) and value.tensor is None:
        return Unknown(value.label, number=value.number, parts=value.parts)
    return iteration.listed(m, iteration.items(m, value, node), exact=isinstance(value, ListValue) and value.exact)


def _tuple(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    result = _items(m, arguments, node)
    if isinstance(result, ListValue):
        result.kind = "tuple"
    return result


def _reversed(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    result = _items(m, arguments, node)
    if isinstance(result, ListValue):
        result.cells = result.cells[::-1]
    return result


def _dict(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    result = DictValue()
    for value, _ in arguments.positional:
        if isinstance(value, ListValue):
            for cell in value.cells:
                pair = cell.latest()
                if isinstance(pair, ListValue) and len(pair.cells) == 2:
                    indexing.set_item(
                        m, result, pair.cells[0].latest() or Unknown(), pair.cells[1].latest() or Unknown()
                    )
        elif isinstance(value, DictValue):
            indexing.update(m, result, value)
    for name, (value, _) in arguments.keywords.items():
        indexing.set_item(m, result, Const(name), value)
    return result


def _map(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call as call_value

    function = arguments.first()
    columns = [iteration.items(m, value, node) for value, _ in arguments.positional[1:]]
    rounds = min((len(column) for column in columns), default=0)
    results = [call_value(m, function, Args([(c[i], None) for c in columns]), node) for i in range(rounds)]
    return iteration.listed(m, results, exact=False)


def _sum(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    values = iteration.items(m, arguments.first(), node)
    start = arguments.get(1, "start")
    total: Value = start if start is not None else Const(0)
    for value in values:
        total = operate(m, "+", [(total, None), (value, None)], node)
    return total


def _isinstance(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    value, kind = arguments.first(), arguments.get(1, "classinfo")
    if isinstance(kind, Extern) and kind.name in ("torch.Tensor", "torch.nn.Parameter"):
        if isinstance(value, Tensor):
            return Const(True) if kind.name == "torch.Tensor" else Unknown(number=True)
        if isinstance(value, (Const, ListValue, DictValue, Instance, Module)):
            return Const(False)
    if isinstance(kind, Extern) and kind.name.startswith("builtins.") and isinstance(value, (Tensor, Module, Instance)):
        return Const(False)
    if isinstance(kind, Extern) and isinstance(value, Module) and value.name.startswith("torch.nn."):
        if value.name == kind.name:
            return Const(True)
        if not kind.name.endswith((".Module", "_ConvNd", "_BatchNorm", "_NormBase", "_DropoutNd")):
            return Const(False)
    if isinstance(kind, Extern) and isinstance(value, Instance) and not isinstance(value.cls, Extern):
        from inplace_fix.analysis.modules import outer_bases

        return (
            Const(kind.name in outer_bases(value.cls))
            if kind.name.startswith("torch.nn.") and kind.name != "torch.nn.Module"
            else Unknown(number=True)
        )
    if isinstance(kind, Class) and isinstance(value, Instance):
        return Const(True) if value.cls is kind else Unknown(number=True)
    if isinstance(kind, (Class, Extern)) and isinstance(value, Const) and value.value is None:
        return Const(False)
    return Unknown(number=True)


def _getattr(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis import attributes

    name = arguments.get(1, "name")
    if isinstance(name, Const) and isinstance(name.value, str) and isinstance(node, ast.Call):
        owner = arguments.first()
        target = ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Load()), node)
        target.end_lineno, target.end_col_offset = node.end_lineno, node.end_col_offset
        default = arguments.get(2, "default")
        if default is not None and isinstance(owner, (Instance, Module)) and attributes.cell(owner, name.value) is None:
            return default
        return attributes.get(m, owner, name.value, target)
    return Unknown()


def _setattr(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    from inplace_fix.analysis import attributes

    name, value = arguments.get(1, "name"), arguments.get(2, "value")
    if isinstance(name, Const) and isinstance(name.value, str) and value is not None and isinstance(node, ast.Call):
        target = ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Store()), node)
        attributes.set_(m, arguments.first(), name.value, value, target)
    return NONE


def _super(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    frame = m.frame
    if frame is None or not m.active:
        return Unknown()
    owner = m.active[-1].owner
    parameters = [a.arg for a in m.active[-1].node.args.args]
    cell = frame.cells.get(parameters[0]) if parameters else None
    instance = cell.latest() if cell is not None else None
    if owner is None or not isinstance(instance, Instance):
        return Unknown()
    return Super(instance, owner)


def _next(m: Machine, arguments: Arguments, node: ast.AST) -> Value:
    found = iteration.items(m, arguments.first(), node)
    return found[0] if found else Unknown()


FUNCTIONS: dict[str, Handler] = {
    "len": _len,
    "range": _range,
    "zip": _zip,
    "enumerate": _enumerate,
    "list": _items,
    "set": _items,
    "frozenset": _items,
    "iter": _items,
    "sorted": _items,
    "tuple": _tuple,
    "reversed": _reversed,
    "dict": _dict,
    "map": _map,
    "sum": _sum,
    "isinstance": _isinstance,
    "getattr": _getattr,
    "setattr": _setattr,
    "super": _super,
    "next": _next,
}


def library(m: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """collections, functools, itertools, asyncio."""
    from inplace_fix.analysis.calls import Arguments as Args

    short = name.rsplit(".", 1)[-1]
    if short in ("OrderedDict", "defaultdict", "Counter"):
        return _dict(
            m,
            Args([p for p in arguments.positional if isinstance(p[0], (ListValue, DictValue))], arguments.keywords),
            node,
        )
    if short in ("deque", "chain"):
        if short == "chain":
            found: list[Value] = []
            for value, _ in arguments.positional:
                found += iteration.items(m, value, node)
            return iteration.listed(m, found)
        return _items(m, arguments, node)
    if short in ("wraps", "lru_cache", "dataclass", "cache"):
        return Native(short, lambda m, inner, node: _decorated(short, inner.first()))
    if short in ("gather", "run", "create_task", "wait_for"):
        if short == "gather":
            return iteration.listed(m, [value for value, _ in arguments.positional])
        return arguments.first()
    if short == "product":
        return Unknown()
    if short == "sleep":
        return NONE
    return Unknown()


def _decorated(name: str, value: Value) -> Value:
    from dataclasses import replace

    return replace(value, cached=True) if name in ("lru_cache", "cache") and isinstance(value, Function) else value


def method(m: Machine, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of a container, of a constant, or through ``super()``."""
    if isinstance(owner, Super):
        from inplace_fix.analysis import modules

        return modules.method(m, owner.instance, name, arguments, node)
    if isinstance(owner, ListValue):
        return list_method(m, owner, name, arguments, node)
    if isinstance(owner, DictValue):
        return dict_method(m, owner, name, arguments, node)
    if isinstance(owner, Extern):
        from inplace_fix.analysis import externs

        return externs.call(m, f"{owner.name}.{name}", arguments, node)
    return Unknown(number=isinstance(owner, Const))


def unknown_method(m: Machine, owner: Unknown, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of something unknown. A gradient scaler's ``step(optimizer)`` steps the optimizer."""
    from inplace_fix.analysis import optimizers
    from inplace_fix.analysis.calls import Arguments as Args
    from inplace_fix.analysis.calls import call_unknown

    stepped = arguments.first()
    if name == "step" and isinstance(stepped, Optimizer):
        return optimizers.call_method(m, stepped, "step", Args(), node)
    if name == "scale" and len(arguments.positional) == 1 and isinstance(stepped, Tensor):
        return stepped
    return call_unknown(m, owner, arguments)
