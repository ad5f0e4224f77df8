"""Files that are written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sentgen import temporary
from sentgen.errors import InputError


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing beside its place; it takes its place, and that of an old one, at the end.

    Raises:
        InputError: the file cannot be written there.
    """
    try:
        with temporary.aside(path) as draft, draft.open("xb") as sink:
            yield sink
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason}); choose another file", path=str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        InputError: the file cannot be written there.
    """
    with whole_file(path) as sink:
        sink.write(text.encode("utf-8"))
