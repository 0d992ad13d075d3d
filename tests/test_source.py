"""Reading and writing source files to the byte."""

from __future__ import annotations

import codecs
import os
import stat
import sys
from pathlib import Path

import pytest

from inplace_fix import source
from inplace_fix.source import SourceError, decode, read_source, replace_file, write_text

HERE = Path("x.py")

KEPT = {
    "plain": b"a = 1\n",
    "no line end at the end": b"a = 1",
    "empty": b"",
    "CRLF": b"a = 1\r\nb = 2\r\n",
    "CR": b"a = 1\rb = 2\r",
    "mixed line ends and a form feed": b"a = 1\r\n\x0cb = 2\nc = 3\r",
    "byte order mark": codecs.BOM_UTF8 + b"a = 1\n",
    "byte order mark and cookie": codecs.BOM_UTF8 + b"# coding: utf-8\na = 1\n",
    "latin-1": b"# -*- coding: latin-1 -*-\na = '\xe9\xff'\n",
    "cookie in the second line": b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\na = '\x80'\n",
    "cookie in a file with CR": b"# coding: latin-1\ra = '\xe9'\r",
    "east asian": "# coding: euc-jp\na = 'テンソル'\n".encode("euc-jp"),
    "utf-8": "α = 'é 𝔘'\n".encode(),
}


@pytest.mark.parametrize("data", KEPT.values(), ids=KEPT.keys())
def test_every_byte_of_an_untouched_file_comes_back(data: bytes) -> None:
    read = decode(data, HERE)
    assert read.encode(read.text) == data


@pytest.mark.parametrize("data", KEPT.values(), ids=KEPT.keys())
def test_a_changed_line_leaves_the_other_bytes(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_bytes(data)
    old = read_source(file).text
    write_text(file, old, old + "added = 1\n")
    assert file.read_bytes() == data + b"added = 1\n"


def test_the_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode(codecs.BOM_UTF8 + b"a\n", HERE).text == "a\n"


@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        (b"a = 1\nb = '\xe9'\n", "not valid utf-8", 2),
        (b"a = 1\r\rb = '\xe9'", "not valid utf-8", 3),
        (b"\xe9 = 1\n", "not valid utf-8", 1),
        (b"a = 1\n\0", "null bytes", 2),
        (b"# coding: martian\n", "unknown encoding: martian", 1),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "byte order mark says UTF-8", 1),
        ("a = 1\n".encode("utf-16"), "null bytes", 1),
    ],
)
def test_what_python_cannot_read_is_refused_with_line_and_reason(data: bytes, words: str, line: int) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        decode(data, HERE)
    assert caught.value.line == line


def test_a_character_that_the_encoding_lacks_is_refused_with_its_line() -> None:
    read = decode(b"# coding: latin-1\na = 1\n", HERE)
    with pytest.raises(SourceError, match="cannot express") as caught:
        read.encode(read.text + "b = 'Ω'\n")
    assert caught.value.line == 3


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        read_source(tmp_path / "none.py")
    with pytest.raises(SourceError, match="no regular file"):
        read_source(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.py")
    with pytest.raises(SourceError, match="no regular file"):
        read_source(tmp_path / "p.py")


def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("a = 2\n")
    with pytest.raises(SourceError, match="changed on disk"):
        write_text(file, "a = 1\n", "a = 3\n")
    assert file.read_text() == "a = 2\n"


def test_an_encoding_that_does_not_give_back_its_bytes_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    data = b"# coding: utf-7\na = '+AOk-'\nb = '+AGE-'\n"  # +AGE- is a needless spelling of an ASCII letter
    file.write_bytes(data)
    old = read_source(file).text
    with pytest.raises(SourceError, match="round trip"):
        write_text(file, old, old + "c = 1\n")
    assert file.read_bytes() == data


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_mode_bits_stay(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("a\n")
    file.chmod(0o751)
    replace_file(file, b"b\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert file.read_text() == "b\n"


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "sub" / "real.py", tmp_path / "link.py"
    target.parent.mkdir()
    target.write_text("a\n")
    link.symlink_to(target)
    replace_file(link, b"b\n")
    assert link.is_symlink()
    assert target.read_text() == "b\n"


def test_a_failed_write_leaves_the_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.py"
    file.write_text("a\n")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(source.os, "fsync", full)
    with pytest.raises(SourceError, match="no space left on device; it was left as it was"):
        replace_file(file, b"b\n")
    assert file.read_text() == "a\n"
    assert os.listdir(tmp_path) == ["m.py"]


def test_an_interrupted_write_leaves_the_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.py"
    file.write_text("a\n")

    def stop(*paths: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(source.os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        replace_file(file, b"b\n")
    assert file.read_text() == "a\n"
    assert os.listdir(tmp_path) == ["m.py"]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_file_that_may_not_be_written_is_refused_by_name(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "m.py"
    file.write_text("a\n")
    if what == "file":  # permissions do not bind root, so the system's answer is played
        monkeypatch.setattr(source.os, "access", lambda path, mode: False)
    else:

        def refuse(**wanted: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(source.tempfile, "mkstemp", refuse)
    with pytest.raises(SourceError, match="cannot be written") as caught:
        replace_file(file, b"b\n")
    assert caught.value.path == file
    assert file.read_text() == "a\n"
