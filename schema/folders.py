"""Folders that sentgen makes and removes again, which have a mark, and drafts, which have names of their own.

Other programs may write files beside them, under any name: nothing without the mark is removed.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sentgen import temporary
from sentgen.errors import StoreError
from sentgen.system.files import BINARY, sync_folder
from sentgen.system.files import remove as remove_file

#: A file in each folder that is removed with all that is in it.
MARK = ".sentgen"
_TEXT = "Made by sentgen, which removes this folder with all that is in it.\n"
_DRAFT = re.compile(r"\.sentgen-[0-9a-f]{32}\.tmp")


def make(folder: Path, *, lasting: bool = False) -> None:
    """Make a folder with the mark, or use one that has it.

    The folder is removed with the process, unless it is ``lasting``, for another process to go on with.

    Raises:
        StoreError: there is a file of this name, or a folder without the mark that is not empty.
    """
    with suppress(FileExistsError):
        folder.mkdir(parents=True, exist_ok=True)
    if not is_ours(folder):
        if not folder.is_dir() or any(folder.iterdir()):
            raise in_the_way(folder)
        (folder / MARK).write_text(_TEXT, "ascii", newline="\n")
    if not lasting:
        temporary.hold(folder, lambda path: remove(Path(path)))


def in_the_way(path: Path) -> StoreError:
    """Return the error that a file or folder that sentgen did not write has a name that is needed."""
    return StoreError(f"{path}: in the way, and sentgen did not write it; move it, or remove it")


def is_ours(folder: Path) -> bool:
    """Say whether a folder has the mark."""
    return (folder / MARK).is_file()


def remove(folder: Path) -> None:
    """Remove a folder that has the mark with all its files; leave other folders as they are."""
    temporary.let_go(folder)
    if not is_ours(folder):
        return
    with suppress(OSError):
        # The mark is removed last, so that a process that goes on after a kill still finds it.
        for path in [path for path in folder.iterdir() if path.name != MARK]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(FileNotFoundError):
                    remove_file(path)
        if is_empty(folder):
            sync_folder(folder)  # after a power cut, one without a mark would be in the way
            (folder / MARK).unlink()
            folder.rmdir()


@contextmanager
def for_drafts(folder: Path) -> Iterator[Path]:
    """Yield an empty folder, which is removed afterwards; files of a killed process in it are removed, too.

    Raises:
        StoreError: there is a file of this name, or a folder without the mark that is not empty.
    """
    remove(folder)
    make(folder)
    sync_folder(folder)  # the mark is on the disk before a draft is
    try:
        yield folder
    finally:
        remove(folder)


def is_empty(folder: Path) -> bool:
    """Say whether a folder holds nothing, or nothing but the mark."""
    return all(path.name == MARK for path in folder.iterdir())


@contextmanager
def draft(folder: str | Path) -> Iterator[tuple[BinaryIO, str]]:
    """Open a new file under a temporary name, and yield it with its path; the caller renames it."""
    path = os.path.join(folder, f".sentgen-{uuid.uuid4().hex}.tmp")
    with temporary.held(path, os.unlink):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY, 0o600)
        with os.fdopen(descriptor, "w+b") as file:
            yield file, path


def is_draft(name: str) -> bool:
    """Return whether a name is one of those that `draft` gives.

    >>> is_draft(".sentgen-00000000000000000000000000000000.tmp"), is_draft(".sentgen-notes.tmp")
    (True, False)
    """
    return _DRAFT.fullmatch(name) is not None
