"""The statement behind a site."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import FrameType

import pytest

from inplace_fix.trace.positions import Positions
from inplace_fix.trace.statements import Statements, targets

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="columns are known from Python 3.11 on")


def _look(folder: Path, source: str) -> tuple[ast.stmt | None, frozenset[str]]:
    """The statement in which ``here()`` is called, and the names read by that call."""
    path = folder / "a.py"
    path.write_text(source, encoding="utf-8")
    frames: list[tuple[FrameType, int]] = []

    def here(*values: object) -> int:
        frame = sys._getframe(1)
        frames.append((frame, frame.f_lasti))
        return 1

    exec(compile(source, str(path), "exec"), {"here": here})
    frame, lasti = frames[0]
    site = Positions("/nowhere").at(frame.f_code, lasti)
    statements = Statements()
    return statements.of(site), statements.names_read(site)


@pytest.mark.parametrize(
    ("source", "kind", "bound"),
    [
        ("x = here()", ast.Assign, {"x"}),
        ("a, (b, *c) = here(), (here(), 3)", ast.Assign, {"a", "b", "c"}),
        ("x = 0\nx += here()", ast.AugAssign, {"x"}),
        ("x: int = here()", ast.AnnAssign, {"x"}),
        ("if (y := here()):\n    pass", ast.If, {"y"}),
        ("é = 'ß'; x = here()", ast.Assign, {"x"}),
        ("def f():\n    return here()\nf()", ast.Return, set()),
        ("for i in range(here()):\n    pass", ast.For, {"i"}),
        ("here()", ast.Expr, set()),
    ],
)
def test_a_statement_and_what_it_binds(source: str, kind: type[ast.stmt], bound: set[str], tmp_path: Path) -> None:
    statement, _ = _look(tmp_path, source)
    assert isinstance(statement, kind)
    assert targets(statement) == bound


def test_the_names_of_an_expression_are_its_own(tmp_path: Path) -> None:
    _, names = _look(tmp_path, "a = b = c = 1\nd = here(a, b) + c")
    assert names == {"here", "a", "b"}


def test_a_source_that_is_not_there_has_no_statement() -> None:
    code = compile("x = 1", "/nowhere/a.py", "exec")
    assert Statements().of(Positions("/nowhere/torch").at(code, 0)) is None
