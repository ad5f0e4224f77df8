"""Writes the files that users name: whole or not at all, where that is possible."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from errno import EACCES, EISDIR
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sentgen import temporary
from sentgen.errors import InputError
from sentgen.system import files as system_files

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing.

    A regular file is written under another name, and replaces the old file at the end, with its mode and
    owner; if the path is a link, its target is replaced. Devices, pipes, ``/dev/stdout`` and the like are
    written directly.

    Raises:
        InputError: the file cannot be written there.
    """
    try:
        with _open(path) as sink:
            yield sink
    except BrokenPipeError:  # the reader has seen enough
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason}); choose another file", path=str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Write a text; see `whole_file`.

    Raises:
        InputError: the file cannot be written there.
    """
    with whole_file(path) as sink:
        sink.write(text.encode("utf-8"))


def _open(path: Path) -> AbstractContextManager[IO[bytes]]:
    if (descriptor := system_files.descriptor_named(path)) is not None:
        with suppress(OSError, ValueError):  # closed, or full; flushed so that earlier prints come first
            sys.stdout.flush()
        return io.BufferedWriter(_Stream(os.dup(descriptor), "w"))
    try:
        old = os.stat(path)
    except FileNotFoundError:  # also of a link whose target does not exist yet
        return _open_replacement(Path(os.path.realpath(path)), None)
    if stat.S_ISREG(old.st_mode):
        return _open_replacement(Path(os.path.realpath(path)), old)
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    return io.BufferedWriter(_Stream(path, "w"))


@contextmanager
def _open_replacement(path: Path, old: os.stat_result | None) -> Iterator[IO[bytes]]:
    """Open a draft in the same folder as a regular or new file, which it replaces at the end."""
    if old is not None and not system_files.may_be_written(path, old):
        raise PermissionError(EACCES, os.strerror(EACCES))
    # The draft is private until it gets the mode of the old file.
    opener = partial(os.open, mode=0o666 if old is None else 0o600)
    with temporary.aside(path) as draft, open(draft, "xb", opener=opener) as sink:
        if old is not None:
            system_files.take_over(sink.fileno(), old)
        yield sink


class _Stream(io.FileIO):
    """A device or a pipe, without seeking; its position is the number of bytes written."""

    _place = 0

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        return self._place

    def write(self, data: ReadableBuffer, /) -> int:
        written = super().write(data) or 0
        self._place += written
        return written
