"""Who writes a store: one process at a time, known to the others by name.

DuckDB locks the file while a connection is open that may write, and nobody else can read it. A writer that
only computes for a while closes that connection (`Store.share`) and stays the only writer by a lock of its
own, on ``STORE.lock``, which is there only while somebody writes. The file says who that is. Where the system
has no such locks (Windows, some network folders), nothing is shared, and DuckDB's lock does all.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from sentgen.errors import NotFoundError, StoreError

T = TypeVar("T")
logger = logging.getLogger(__name__)

_BETWEEN, _BEFORE_SAYING = 0.05, 1.0
#: Tries of a writer: whoever asks who holds the lock holds it for a moment.
_TRIES = 10


class InUseError(StoreError):
    """Another process has the store; it may be free in a moment."""


@dataclass(slots=True)
class Manners:
    """What this process does about a store that is in use, and what it calls itself.

    Attributes:
        wait: seconds to wait for a store.
        command: what others are told of it while it writes.
    """

    wait: float = 0.0
    command: str = ""


#: The command line sets it; a library does not wait unless it is told to.
manners = Manners()


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has the lock: process, command, since when (by the clock), and whether it wants to write."""

    process: int
    command: str
    since: float
    writing: bool

    def __str__(self) -> str:
        return f"{self.command} (process {self.process}), for {max(0, time.time() - self.since):.0f} s"


class WriteLock:
    """The lock of a writer; several of one process share it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor, self._users = path, descriptor, 1
        command = manners.command or Path(sys.argv[0]).name or "python"
        self._holder = Holder(os.getpid(), command, time.time(), writing=True)

    @property
    def is_shareable(self) -> bool:
        """Whether others may read meanwhile: nobody else in this process writes, and the lock is one."""
        return self._descriptor >= 0 and self._users == 1

    def say(self, *, writing: bool) -> None:
        """Tell others whether this process writes, or wants to, or leaves the store to readers for now."""
        self._holder = Holder(self._holder.process, self._holder.command, self._holder.since, writing)
        if self._descriptor >= 0:
            text = json.dumps(asdict(self._holder)).encode()
            with suppress(OSError):  # a full disk keeps nobody from writing less
                os.pwrite(self._descriptor, text.ljust(os.fstat(self._descriptor).st_size), 0)

    def release(self) -> None:
        """Let go of it."""
        with _guard:
            self._users -= 1
            if self._users:
                return
            _held.pop(self._path, None)
            if self._descriptor >= 0:
                # Removed first: who opens it from now on makes a new one, and who has it open sees that.
                self._path.unlink(missing_ok=True)
                # Said, since a child of this process may have the descriptor, too.
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
                os.close(self._descriptor)


_held: dict[Path, WriteLock] = {}
#: Entered again where garbage is collected that holds a lock.
_guard = threading.RLock()


def take(path: Path) -> WriteLock:
    """Become the writer of a store.

    Raises:
        InUseError: another process is.
    """
    place = _place(path)
    with _guard:
        if lock := _held.get(place):
            lock._users += 1
            return lock
        lock = _held[place] = WriteLock(place, _descriptor(place, path))
        lock.say(writing=True)
        return lock


def _descriptor(place: Path, store: Path) -> int:
    """Return the locked file, or -1 where there are no such locks."""
    if fcntl is None:
        return -1
    tries = 0
    while True:
        try:
            found = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return -1  # what is wrong with the folder is said by whoever opens the store
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Removed in between by the one who had it.
            if os.fstat(found).st_ino == _inode(place):
                return found
        except OSError as error:
            os.close(found)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return -1
            tries += 1
            if tries == _TRIES:
                raise in_use(store) from None
            time.sleep(_BETWEEN / _TRIES)
        else:
            os.close(found)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def _place(path: Path) -> Path:
    # Of the file itself: two names of one store must not have two locks.
    return Path(f"{os.path.realpath(path)}.lock")


def holder(path: Path) -> Holder | None:
    """Return the writer of a store, if another process is; a file that a killed one has left is removed."""
    place = _place(path)
    if fcntl is None or place in _held:
        return None
    try:
        with place.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return Holder(**json.loads(file.read()))
            if os.fstat(file.fileno()).st_ino == _inode(place):
                place.unlink()
    except (OSError, ValueError, TypeError):  # gone, being written, or in a folder that is not ours
        pass
    return None


def in_use(path: Path, message: str = "") -> InUseError:
    """Say who has a store; ``message`` is DuckDB's, which names a process."""
    who: Holder | str | None = holder(path)
    if who is None:
        found = re.search(r"PID (\d+)", message)
        who = f"number {found[1]}" if found else ""
    told = f", {who}" if who else ""
    return InUseError(
        f"{path}: the store is in use by another process{told};"
        " wait until it ends (--wait SECONDS), or use a copy of the file"
    )


def no_store(path: Path) -> NotFoundError:
    """Say that there is no store, and who makes one or how."""
    if who := holder(path):
        return NotFoundError(f"{path}: no store here yet; {who}, makes it: wait until it ends")
    return NotFoundError(f"{path}: no store here; make one with: sentgen ingest PATH --corpus NAME")


def refuse_if_wanted(path: Path) -> None:
    """Give a writer that wants the file its turn, or readers might keep it away for good.

    Raises:
        InUseError: there is one.
    """
    found = holder(path)
    if found and found.writing:
        raise in_use(path)


def waited(path: Path, work: Callable[[], T], *, seconds: float | None = None) -> T:
    """Do what needs the store, again and again while another process has it.

    Args:
        path: the store.
        work: what to do.
        seconds: how long to try; as `manners` say if ``None``.

    Raises:
        InUseError: the other process still has it.
    """
    began, told = time.monotonic(), False
    limit = manners.wait if seconds is None else seconds
    while True:
        try:
            return work()
        except InUseError as error:
            gone = time.monotonic() - began
            if gone >= limit:
                raise
            if gone >= _BEFORE_SAYING and not told:
                logger.warning("waiting: %s", str(error).partition("; wait")[0])
                told = True
        time.sleep(_BETWEEN)
