"""What sentgen makes and removes again: folders with a mark, and drafts with a name that nobody else gives.

Beside them may lie what others wrote, under whatever name: nothing without the mark is removed.
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
    """Make a folder and mark it, or take one that was made so.

    It goes with the process, unless ``lasting`` says that another one may go on with what is in it.

    Raises:
        StoreError: there is a folder that was not, with something in it, or a file.
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
    """Say that another's file or folder has a name that is needed."""
    return StoreError(f"{path}: in the way, and sentgen did not write it; move it, or remove it")


def is_ours(folder: Path) -> bool:
    """Say whether a folder has the mark."""
    return (folder / MARK).is_file()


def remove(folder: Path) -> None:
    """Remove a folder that has the mark with all that is in it; leave any other one as it is."""
    temporary.let_go(folder)
    if not is_ours(folder):
        return
    with suppress(OSError):
        # The mark goes last: killed in between, the next one can still tell.
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
    """Give an empty folder, which is removed afterwards; what a killed process left in it goes.

    Raises:
        StoreError: the folder was not made so and has something in it, or is a file.
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
    """Open a new file for what gets its name once it is written, with its path until then."""
    path = os.path.join(folder, f".sentgen-{uuid.uuid4().hex}.tmp")
    with temporary.held(path, os.unlink):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY, 0o600)
        with os.fdopen(descriptor, "w+b") as file:
            yield file, path


def is_draft(name: str) -> bool:
    """Say whether a file is called as `draft` calls them.

    >>> is_draft(".sentgen-00000000000000000000000000000000.tmp"), is_draft(".sentgen-notes.tmp")
    (True, False)
    """
    return _DRAFT.fullmatch(name) is not None
