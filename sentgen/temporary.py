"""What goes with the process: files and folders that are removed when it ends, if not before.

A block that makes one removes it. What is held here goes, too, where no block comes to its end: by Ctrl-C,
which ends a command where it stands, and where an object that has one is never closed.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from sentgen.system import files, processes

if TYPE_CHECKING:
    from pathlib import Path

#: A file in each folder of a process, which has it locked as long as it lives.
MARK = ".sentgen-process"
_TEXT = b"Made by sentgen, which removes this folder when the process that made it has ended.\n"
#: How each is removed, in the order in which they were made.
_held: dict[str, Callable[[str], object]] = {}


def hold(path: str | os.PathLike[str], remove: Callable[[str], object]) -> None:
    """Remove a file or folder when the process ends, unless it is let go before."""
    _held[os.path.abspath(path)] = remove


def let_go(path: str | os.PathLike[str]) -> None:
    """Leave a file or folder to whoever removes, renames or keeps it."""
    _held.pop(os.path.abspath(path), None)


@contextmanager
def held(path: str | os.PathLike[str], remove: Callable[[str], object]) -> Iterator[None]:
    """Remove a file or folder at the end of the block, however that comes."""
    hold(path, remove)
    try:
        yield
    finally:
        remove_held(os.path.abspath(path))


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Give a name to write to beside a file; when all went well, it takes the place of the file."""
    # In the same folder: a rename does not cross file systems.
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    with held(draft, os.unlink):
        yield draft
        files.replace(draft, path)


@contextmanager
def folder(prefix: str = "sentgen-") -> Iterator[Path]:
    """Make a folder that nobody else can read, for the block."""
    path = folder_of_process(prefix)
    try:
        yield path
    finally:
        remove_held(str(path))


def folder_of_process(prefix: str, suffix: str = "") -> Path:
    """Make such a folder for as long as the process runs."""
    # Here: this module is imported before a command takes care of Ctrl-C, which should be soon.
    import shutil
    import tempfile
    from pathlib import Path

    locked: list[int] = []

    def remove(path: str) -> None:
        while locked:  # Windows removes nothing that is open
            os.close(locked.pop())
        shutil.rmtree(path, ignore_errors=True)

    while True:
        path = Path(tempfile.gettempdir(), f"{prefix}{os.urandom(8).hex()}{suffix}")
        # Before it is there: a signal in between would leave it.
        hold(path, remove)
        try:
            path.mkdir(0o700)
        except FileExistsError:  # another's
            let_go(path)
        else:
            _mark(path, locked)
            return path


def _mark(folder: Path, locked: list[int]) -> None:
    """Write the mark; without a lock, as in some network folders, it stays empty, and nobody sweeps."""
    with suppress(OSError):
        locked.append(files.make_locked(folder / MARK, _TEXT))
        if not os.fstat(locked[0]).st_size:
            files.lock(locked[0])
            os.write(locked[0], _TEXT)


def sweep() -> None:
    """Remove the folders of killed processes of this user: those with a mark that nobody has locked."""
    import shutil
    import tempfile
    from pathlib import Path

    for folder in Path(tempfile.gettempdir()).glob("sentgen-*"):
        with suppress(OSError):
            if folder.is_symlink() or (os.name != "nt" and folder.stat().st_uid != os.getuid()):
                continue
            descriptor = os.open(folder / MARK, os.O_RDWR)
            try:
                files.lock(descriptor)
                dead = os.fstat(descriptor).st_size > 0
            finally:
                os.close(descriptor)
            if dead:
                shutil.rmtree(folder, ignore_errors=True)


def remove_all() -> None:
    """Remove all that is held, the newest first."""
    for path in reversed(list(_held)):
        remove_held(path)


def remove_held(path: str) -> None:
    """Remove now what is held under an absolute path, unless that was done or it was let go."""
    # Once: a thread that ends the process may be at it already.
    if remove := _held.pop(path, None):
        with suppress(OSError):
            remove(path)


atexit.register(remove_all)
# They are the parent's, which goes on with them when a child of `os.fork` ends.
processes.after_fork(_held.clear)
