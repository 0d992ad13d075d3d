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

    def __init__(
        self,
        context: CodemodContext,
        line: int,
        column: int | None = None,
        end_line: int | None = None,
        end_column: int | None = None,
        **options: object,
    ) -> None:
        super().__init__(context)
        self.start = (line, column)
        self.end = (end_line, end_column)
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
        arg_parser.add_argument("--end-line", type=int, default=None, help="line of its last character")
        arg_parser.add_argument(
            "--end-column",
            type=int,
            default=None,
            help="column of its last character; of several that begin together the shortest is meant without it",
        )

    @abstractmethod
    def step(self, span: Span) -> Step:
        """The step for the construct at a span, with what the command line said."""

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """Carry out the step; a construct that is missing, ambiguous or not rewritable fails with the reason."""
        from codemods.rewriting import Rewriter

        rewriter = Rewriter(tree.code)
        result = rewriter.apply([self.step(self._place(rewriter.tree))])
        return cst.parse_module(result, config=tree.config_for_parsing)

    def _place(self, tree: Tree) -> Span:
        (line, column), (end_line, end_column) = self.start, self.end
        found = [
            span
            for span in tree.starting_at(line, None if column is None else column - 1, type(self).accepts)
            if end_line in (None, span.end_line) and end_column in (None, span.end_column)
        ]
        if not found:
            raise ValueError(f"no {self.what} begins at line {line}" + (f", column {column}" if column else ""))
        columns = sorted({span.column + 1 for span in found})
        if len(columns) > 1:
            choice = ", ".join(str(start) for start in columns)
            raise ValueError(f"several begin at line {line}: choose one with --column (one of {choice})")
        return found[0]

    def text(self, name: str) -> str:
        """An option given as text, "" where it was not given."""
        value = self.options.get(name)
        return "" if value is None else str(value)

    def flag(self, name: str) -> bool:
        """An option that is on or off."""
        return bool(self.options.get(name))
