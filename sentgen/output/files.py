"""Files that are written whole or not at all."""

from __future__ import annotations

import os
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
    # In the same folder: a rename does not cross file systems.
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        with temporary.held(draft, os.unlink):
            with draft.open("xb") as sink:
                yield sink
            os.replace(draft, path)
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
