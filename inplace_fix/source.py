"""Source files as text and back: encoding, byte order mark and line ends survive; a write is whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import re
import stat
import tempfile
import tokenize
from dataclasses import dataclass, field
from pathlib import Path


class SourceError(Exception):
    """A file that cannot be read or written as asked; ``message`` says why and what to do, without the file's name."""

    def __init__(self, path: Path, message: str, line: int | None = None) -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
        self.path = path
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text, without its byte order mark and with its own line ends, and what is needed to write it back."""

    path: Path
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    data: bytes = field(default=b"", repr=False)

    def encode(self, text: str) -> bytes:
        """The bytes that another text has in this file. Raises SourceError where the encoding cannot say it."""
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise SourceError(
                self.path,
                f"the new text holds {character!r}, which the file's encoding {self.encoding} cannot express; "
                "save the file as UTF-8 first",
                1 + len(re.findall(r"\r\n|\r|\n", text[: error.start])),
            ) from None


def read_source(path: Path) -> Source:
    """Read a Python file as Python would: byte order mark and encoding comment (PEP 263), else UTF-8."""
    return decode(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file; a pipe or a device is refused, since reading it could wait for ever."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise SourceError(path, "is no regular file")
        return path.read_bytes()
    except OSError as error:
        raise SourceError(path, f"cannot be read: {reason(error)}") from None


def decode(data: bytes, path: Path) -> Source:
    """Decode the bytes of a Python file. Raises SourceError for null bytes and wrong or unknown encodings."""
    null = data.find(b"\0")
    if null >= 0:
        raise SourceError(path, "holds null bytes, so it is no Python source", _line_at(data, null))
    encoding = _encoding(data, path)
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(bom) :]
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        raise SourceError(
            path,
            f"byte {body[error.start]:#04x} is not valid {encoding}; name the file's encoding in its first line, "
            "for example `# -*- coding: latin-1 -*-`, or save it as UTF-8",
            _line_at(body, error.start),
        ) from None
    return Source(path, text, encoding, bom, data)


def write_text(path: Path, old: str, new: str) -> None:
    """Put ``new`` into a file that was read as ``old``: every byte of the unchanged parts stays.

    Raises SourceError, and leaves the file as it is, where it changed since it was read, cannot be replaced, or is in
    an encoding that does not give back its own bytes.
    """
    source = read_source(path)
    if source.text != old:
        raise SourceError(path, "changed on disk since it was read, so it was left alone; run the command again")
    if source.encode(old) != source.data:
        raise SourceError(path, f"its encoding {source.encoding} does not survive a round trip; save it as UTF-8 first")
    replace_file(path, source.encode(new))


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file's bytes whole or not at all, keeping its mode; a symbolic link stays and its target is replaced.

    The bytes go to a temporary file beside the target and to the disk before they take its name. A file without write
    permission is refused, although renaming over it would work.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _writable_mode(target)
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise SourceError(path, f"cannot be written: {reason(error)}; it was left as it was") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(name, stat.S_IMODE(mode.st_mode))
            _keep_owner(name, mode)
        else:
            os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        raise SourceError(path, f"cannot be written: {reason(error)}; it was left as it was") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
    _sync_folder(target.parent)


def reason(error: OSError) -> str:
    """The system's words for an error, without the file name that the caller names anyway."""
    return (error.strerror or str(error)).lower()


def _encoding(data: bytes, path: Path) -> str:
    # the cookie may stand in a file whose lines end in CR alone, which readline would take for one line
    head = b"\n".join(re.split(rb"\r\n|\r|\n", data[:4096])[:3]) + b"\n"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(head).readline)
    except SyntaxError as error:
        words = str(error)
        if "invalid or missing encoding" in words:  # the head itself is no UTF-8: decoding says where
            return "utf-8"
        if "encoding problem" in words:
            words = "the byte order mark says UTF-8, the encoding comment says otherwise"
        raise SourceError(path, f"{words}; Python cannot read it either", 1) from None
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _line_at(data: bytes, offset: int) -> int:
    return 1 + len(re.findall(rb"\r\n|\r|\n", data[:offset]))


def _writable_mode(target: Path) -> os.stat_result | None:
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is no regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    return found


def _keep_owner(name: str, wanted: os.stat_result) -> None:
    if hasattr(os, "chown"):
        made = os.stat(name)
        if (made.st_uid, made.st_gid) != (wanted.st_uid, wanted.st_gid):
            with contextlib.suppress(OSError):  # only root may give files away
                os.chown(name, wanted.st_uid, wanted.st_gid)


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current


def _sync_folder(folder: Path) -> None:
    # the new name survives a power cut only once the folder is on the disk; not every file system can
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
