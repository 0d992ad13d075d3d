"""Whose code a frame is, and where in the source an instruction lies."""

from __future__ import annotations

import site
import sys
import sysconfig
from pathlib import Path
from types import FrameType

import pytest

from inplace_fix.nouns import Span
from inplace_fix.trace.positions import LIBRARY, OWN, SKIPPED, Positions, Site, Spans, digest

TORCH = "/nowhere/torch"


def _code(source: str, filename: str) -> dict[str, object]:
    names: dict[str, object] = {"sys": sys}
    exec(compile(source, filename, "exec"), names)
    return names


def _frame(
    filename: str, source: str = "def here(act=None):\n    return act() if act else sys._getframe()\n"
) -> FrameType:
    frame = _code(source, filename)["here"]()  # type: ignore[operator]
    assert isinstance(frame, FrameType)
    return frame


@pytest.mark.parametrize(
    ("filename", "kind"),
    [
        ("train.py", OWN),
        ("/project/pack/model.py", OWN),
        ("<ipython-input-3-abc>", OWN),
        ("<string>", SKIPPED),
        ("<frozen importlib._bootstrap>", SKIPPED),
        (f"{TORCH}/nn/modules/linear.py", SKIPPED),
        ("/nowhere/torchvision/ops.py", OWN),
        (str(Path(sysconfig.get_paths()["stdlib"]) / "functools.py"), SKIPPED),
        (str(Path(sysconfig.get_paths()["purelib"]) / "timm" / "model.py"), LIBRARY),
        ("/usr/lib/python3/dist-packages/timm/model.py", LIBRARY),
        (str(Path(__file__).parents[2] / "inplace_fix" / "trace" / "writes.py"), SKIPPED),
    ],
)
def test_a_file_is_told_apart(filename: str, kind: int) -> None:
    assert Positions(TORCH).kind(_frame(filename).f_code) == kind


def test_frames_of_torch_are_passed_by() -> None:
    positions = Positions(TORCH)
    torch_code = _code("def call(act):\n    return act()\n", f"{TORCH}/functional.py")
    names = _code("def here(call):\n    return call(sys._getframe)\n", "/project/train.py")
    inner = torch_code["call"]

    frame = names["here"](lambda act: inner(lambda: sys._getframe(1)))  # type: ignore[operator]
    assert frame.f_code.co_filename.startswith(TORCH)
    found = positions.site(frame)
    assert found is not None
    assert found.kind == OWN


def test_a_library_remembers_who_called_it() -> None:
    positions = Positions(TORCH)
    library = _code("def here():\n    return sys._getframe()\n", f"{site.getsitepackages()[0]}/timm/model.py")
    program = _code("def run(call):\n    return call()\n", "/project/train.py")
    caught: list[Site | None] = []
    library["look"] = lambda frame: caught.append(positions.site(frame))
    exec(
        compile("def here():\n    look(sys._getframe())\n", f"{site.getsitepackages()[0]}/timm/model.py", "exec"),
        library,
    )
    program["run"](library["here"])  # type: ignore[operator]
    (found,) = caught
    assert found is not None
    assert found.kind == LIBRARY
    assert [caller.code.co_filename for caller in found.callers] == ["/project/train.py"]


def test_the_same_instruction_is_the_same_site() -> None:
    positions = Positions(TORCH)
    here = _code("def here():\n    return sys._getframe()\n", "/project/a.py")["here"]
    first = positions.site(here())  # type: ignore[operator]
    assert first is positions.site(here())  # type: ignore[operator]
    assert [*positions.all()].count(first) == 1  # type: ignore[arg-type]


def test_code_made_anew_at_each_call_is_not_kept() -> None:
    positions = Positions(TORCH)
    for _ in range(10):
        positions.site(_frame("<string>"))
    assert len(positions._codes) < 10


@pytest.mark.skipif(sys.version_info < (3, 11), reason="columns are known from Python 3.11 on")
def test_columns_count_code_points_in_any_encoding_and_with_any_line_end(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes(
        "# -*- coding: latin-1 -*-\r\ndef here():\r\n    é = 'ß'; return sys._getframe()\r\n".encode("latin-1")
    )
    names: dict[str, object] = {"sys": sys}
    exec(compile(path.read_bytes(), str(path), "exec"), names)
    found = Positions(TORCH).site(names["here"]())  # type: ignore[operator]
    assert found is not None
    assert Spans().place(found).span == Span(3, 13, 3, 35)  # the whole return statement: the frame has ended
    assert Spans().place(found).path == path


def test_without_columns_a_place_is_the_text_of_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def here():\n    return sys._getframe()\n")
    names: dict[str, object] = {"sys": sys}
    exec(compile(path.read_text(), str(path), "exec"), names)
    frame: FrameType = names["here"]()  # type: ignore[operator]
    found = Positions(TORCH).line(frame.f_code, 2)
    assert Spans().place(found).span == Span(2, 4, 2, 26)


def test_a_source_has_the_digest_of_its_bytes_when_it_was_first_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    source = "def here():\n    return sys._getframe()\n"
    path.write_text(source)
    positions = Positions(TORCH)
    positions.site(_frame(str(path), source))
    before = digest(str(path))
    path.write_text("other\n")
    assert positions.sources == {str(path): before}
    assert digest(str(path)) != before
    assert digest(str(tmp_path / "none.py")) == ""
