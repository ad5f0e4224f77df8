"""What goes with the process: files and folders that are removed when it ends, if not before.

A block that makes one removes it. What is held here goes, too, where no block comes to its end: by Ctrl-C,
which ends a command where it stands, and where an object that has one is never closed.
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

#: A file in each folder of a process, which has it locked as long as it lives.
MARK = ".sentgen-process"
_TEXT = b"Made by sentgen, which removes this folder when the process that made it has ended.\n"
_SPOOL = ".spool"
_IS_SPOOL = re.compile(rf"sentgen-[0-9a-f]{{16}}{re.escape(_SPOOL)}")
#: How each is removed, in the order in which they were made.
_held: dict[str, Callable[[str], object]] = {}


def hold(path: str | os.PathLike[str], remove: Callable[[str], object]) -> None:
    """Remove a file or folder when the process ends, unless it is let go before."""
    _held[os.path.abspath(path)] = remove


def let_go(path: str | os.PathLike[str]) -> None:
    """Leave a file or folder to the caller, who removes, renames or keeps it."""
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


class Spool:
    """A file for what can be read only once, as long as this object lives; no other user can read it.

    It is locked meanwhile. What a killed process has left is not, and goes when the next one is made.
    """

    def __init__(self) -> None:
        # As below.
        import tempfile
        import weakref
        from pathlib import Path

        sweep()
        path = Path(tempfile.gettempdir(), f"sentgen-{os.urandom(8).hex()}{_SPOOL}")
        descriptor = files.make_locked(path, b"", mode=0o600)
        self.path, self._descriptor = str(path), descriptor

        def drop(path: str) -> None:
            os.close(descriptor)  # Windows removes nothing that is open
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
    """Remove what killed processes of this user have left: folders and spools that nobody has locked."""
    import shutil
    import tempfile
    from pathlib import Path

    for path in Path(tempfile.gettempdir()).glob("sentgen-*"):
        with suppress(OSError):  # another's, or in use
            if path.is_symlink() or not files.is_mine(path):
                continue
            if _IS_SPOOL.fullmatch(path.name):
                require_left(path)
                path.unlink()
            elif (path / MARK).stat().st_size:
                require_left(path / MARK)
                shutil.rmtree(path, ignore_errors=True)


def require_left(path: Path) -> None:
    """Raise `OSError` if somebody has a file locked."""
    descriptor = os.open(path, os.O_RDWR | files.BINARY)
    try:
        files.lock(descriptor)
    finally:
        os.close(descriptor)


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
