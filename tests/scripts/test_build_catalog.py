"""Building and checking the data file."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_fix.catalog import Catalog, Kind, ModuleFacts, Op, Result, Save, load, reader
from scripts.catalog_build import encode


def test_the_shipped_file_is_what_encoding_the_catalog_gives() -> None:
    assert encode.text_of(load()) == reader.DATA.read_text(encoding="utf-8")


def test_what_was_written_is_read_back() -> None:
    op = Op(
        "torch.f_",
        params=("x", "y"),
        result=Result.SAME,
        saves=(Save("x", ("y",)), Save("y", (), False), Save("result")),
        writes=("x",),
        kind=Kind.VALUE_CAST,
        given=("x",),
        required=("x",),
        source="op_db",
    )
    plain = Op("torch.nn.M", params=("input",))
    facts = ModuleFacts("torch.nn.M", ("p", "inplace"), ("weight",), (), plain, plain, 1)
    written = Catalog("1.2.3", {op.name: op}, {facts.name: facts}, {"T": Result.VIEW}, {"+": op.name})
    read = reader.parse(encode.text_of(written))
    assert (dict(read.ops), dict(read.modules)) == (dict(written.ops), dict(written.modules))
    assert (read.attributes, read.operators, read.torch_version) == ({"T": Result.VIEW}, {"+": "torch.f_"}, "1.2.3")


def test_each_entry_is_a_line_and_the_order_does_not_matter() -> None:
    first, second = Op("torch.a"), Op("torch.b", params=("x",))
    one = encode.text_of(Catalog("1", {"torch.a": first, "torch.b": second}, {}, {}, {}))
    other = encode.text_of(Catalog("1", {"torch.b": second, "torch.a": first}, {}, {}, {}))
    assert one == other
    assert '"torch.b":{"params":["x"]}' in one.splitlines()


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A build that measures nothing and gives the shipped catalog, with a data file of its own."""
    pytest.importorskip("torch")
    pytest.importorskip("expecttest")
    from scripts.catalog_build import everything

    monkeypatch.setattr(everything, "build", load)
    data = tmp_path / "data.json"
    monkeypatch.setattr(reader, "DATA", data)
    return data


def test_a_build_writes_the_file(built: Path) -> None:
    from scripts import build_catalog

    assert build_catalog.main([]) == 0
    assert built.read_text(encoding="utf-8") == encode.text_of(load())


def test_a_check_passes_on_an_equal_file_and_writes_nothing(built: Path) -> None:
    from scripts import build_catalog

    built.write_text(encode.text_of(load()), encoding="utf-8")
    assert build_catalog.main(["--check"]) == 0


def test_a_check_fails_on_another_file_and_says_what_to_run(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from scripts import build_catalog

    built.write_text("{}", encoding="utf-8")
    assert build_catalog.main(["--check"]) == 1
    assert "scripts/build_catalog.py" in capsys.readouterr().err
    assert built.read_text(encoding="utf-8") == "{}"
