"""Temporary files and folders, which are removed at the end of the process, if not before.

A block that makes one removes it. The files held here are also removed if the block does not reach its end,
as Ctrl-C ends a command at any point, or if the object with the file is never closed.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from sentgen.system import files, processes

if TYPE_CHECKING:
    from pathlib import Path

#: Name of a file in each temporary folder, which its process keeps locked.
MARK = ".sentgen-process"
_TEXT = b"Made by sentgen, which removes this folder when the process that made it has ended.\n"
_SPOOL = ".spool"
_IS_SPOOL = re.compile(rf"sentgen-[0-9a-f]{{16}}{re.escape(_SPOOL)}")
#: Functions that remove the held files and folders, by path, in the order in which they were made.
_held: dict[str, Callable[[str], object]] = {}


def hold(path: str | os.PathLike[str], remove: Callable[[str], object]) -> None:
    """Remove a file or folder at the end of the process, unless `let_go` is called before."""
    _held[os.path.abspath(path)] = remove


def let_go(path: str | os.PathLike[str]) -> None:
    """Stop holding a file or folder, which the caller removes, renames or keeps."""
    _held.pop(os.path.abspath(path), None)


@contextmanager
def held(path: str | os.PathLike[str], remove: Callable[[str], object]) -> Iterator[None]:
    """Remove a file or folder at the end of the block, also after an error."""
    hold(path, remove)
    try:
        yield
    finally:
        remove_held(os.path.abspath(path))


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Yield the path of a draft next to a file, which replaces the file if the block succeeds."""
    # In the same folder, as a rename cannot cross file systems.
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    with held(draft, os.unlink):
        yield draft
        files.replace(draft, path)


@contextmanager
def folder(prefix: str = "sentgen-") -> Iterator[Path]:
    """Make a private folder for the block."""
    path = folder_of_process(prefix)
    try:
        yield path
    finally:
        remove_held(str(path))


def folder_of_process(prefix: str, suffix: str = "") -> Path:
    """Make a private folder that is removed at the end of the process."""
    # Imported here, as this module is imported before Ctrl-C is handled, which should not be delayed.
    import shutil
    import tempfile
    from pathlib import Path

    locked: list[int] = []

    def remove(path: str) -> None:
        while locked:  # Windows cannot remove open files
            os.close(locked.pop())
        shutil.rmtree(path, ignore_errors=True)

    while True:
        path = Path(tempfile.gettempdir(), f"{prefix}{os.urandom(8).hex()}{suffix}")
        # Held before it is made, as a signal in between would leave it behind.
        hold(path, remove)
        try:
            path.mkdir(0o700)
        except FileExistsError:  # another's
            let_go(path)
        else:
            _mark(path, locked)
            return path


def _mark(folder: Path, locked: list[int]) -> None:
    """Write and lock the mark; it stays empty without locks, as in network folders, and `sweep` skips it."""
    with suppress(OSError):
        locked.append(files.make_locked(folder / MARK, _TEXT))
        if not os.fstat(locked[0]).st_size:
            files.lock(locked[0])
            os.write(locked[0], _TEXT)


class Spool:
    """A private file for a copy of a stream, which exists as long as this object.

    The file is locked. Files left by killed processes are not, and are removed when the next one is made.
    """

    def __init__(self) -> None:
        # Imported here for the reason given in `folder_of_process`.
        import tempfile
        import weakref
        from pathlib import Path

        sweep()
        path = Path(tempfile.gettempdir(), f"sentgen-{os.urandom(8).hex()}{_SPOOL}")
        descriptor = files.make_locked(path, b"", mode=0o600)
        self.path, self._descriptor = str(path), descriptor

        def drop(path: str) -> None:
            os.close(descriptor)  # Windows cannot remove open files
            os.unlink(path)

        hold(path, drop)
        weakref.finalize(self, remove_held, os.path.abspath(path))

    def write(self, block: bytes) -> int:
        """Write all of a block; return its size."""
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        return len(block)


def sweep() -> None:
    """Remove folders and spools that killed processes of this user have left, which are not locked."""
    import shutil
    import tempfile
    from pathlib import Path

    for path in Path(tempfile.gettempdir()).glob("sentgen-*"):
        with suppress(OSError):  # of another user, or in use
            if path.is_symlink() or not files.is_mine(path):
                continue
            if _IS_SPOOL.fullmatch(path.name):
                require_left(path)
                path.unlink()
            elif (path / MARK).stat().st_size:
                require_left(path / MARK)
                shutil.rmtree(path, ignore_errors=True)


def require_left(path: Path) -> None:
    """Raise `OSError` if a process has locked the file."""
    descriptor = os.open(path, os.O_RDWR | files.BINARY)
    try:
        files.lock(descriptor)
    finally:
        os.close(descriptor)


def remove_all() -> None:
    """Remove all held files and folders, the newest first."""
    for path in reversed(list(_held)):
        remove_held(path)


def remove_held(path: str) -> None:
    """Remove a file or folder now, by its absolute path, if it is still held."""
    # Only once, as the thread that ends the process may be removing it already.
    if remove := _held.pop(path, None):
        with suppress(OSError):
            remove(path)


atexit.register(remove_all)
# A child of `os.fork` must not remove the files of its parent.
processes.after_fork(_held.clear)
