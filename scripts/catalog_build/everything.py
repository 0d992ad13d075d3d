"""The whole catalog from the installed torch: functions and methods, modules, attributes, operators."""

from __future__ import annotations

import sys

import torch

from inplace_fix.catalog.model import Catalog, Op
from scripts.catalog_build import calls, entries, gradients, modules, operators, written
from scripts.catalog_build.surface import callables


def build() -> Catalog:
    """Measure everything; takes minutes."""
    surface = callables()
    known = calls.collect(surface, written.lines())
    ops: dict[str, Op] = {}
    for name, function in surface.items():
        for op in entries.entries(name, function, known.get(name, [])):
            ops[op.name] = gradients.measured(op)
    print(f"{sum(name in known for name in surface)} of {len(surface)} callables measured", file=sys.stderr)
    return Catalog(
        torch.__version__.partition("+")[0], ops, modules.build(), operators.attributes(), operators.OPERATORS
    )
