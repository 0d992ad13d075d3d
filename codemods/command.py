"""What the forms' LibCST commands share: positions on the command line, one step carried out on one file.

Run a form as ``python -m libcst.tool codemod -x --no-format codemods.drop_flag.DropFlagCommand --line 12 FILE``.
"""

from __future__ import annotations

import argparse
from abc import abstractmethod

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext

from codemods.places import Accepts, Tree
from codemods.steps import Span, Step


class StepCommand(CodemodCommand):
    """A command that rewrites the one construct of its kind that begins at a line (and column) of a file."""

    accepts: Accepts
    what: str

    def __init__(self, context: CodemodContext, line: int, column: int | None, **options: object) -> None:
        super().__init__(context)
        self.line = line
        self.column = column
        self.options = options

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """The place of the construct; the commands add what their step needs besides."""
        arg_parser.add_argument("--line", type=int, required=True, help="line of the construct, counted from 1")
        arg_parser.add_argument(
            "--column",
            type=int,
            default=None,
            help="column of its first character, counted from 1; needed where several begin on the line",
        )

    @abstractmethod
    def step(self, span: Span) -> Step:
        """The step for the construct at a span, with what the command line said."""

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """Carry out the step; a construct that is missing, ambiguous or not rewritable fails with the reason."""
        from codemods.rewriting import rewrite_tree

        column = None if self.column is None else self.column - 1
        places = Tree(tree)
        found = places.starting_at(self.line, column, type(self).accepts)
        if not found:
            raise ValueError(f"no {self.what} begins at line {self.line}")
        if len(found) > 1 and column is None:
            columns = ", ".join(str(start) for start in sorted({span.column + 1 for span in found}))
            raise ValueError(f"several begin at line {self.line}: choose one with --column (one of {columns})")
        # Of a chain of calls that begin together, the first link is the innermost and ends first.
        return rewrite_tree(places, [self.step(found[0])])

    def text(self, name: str) -> str:
        """An option given as text, "" where it was not given."""
        value = self.options.get(name)
        return "" if value is None else str(value)

    def flag(self, name: str) -> bool:
        """An option that is on or off."""
        return bool(self.options.get(name))
