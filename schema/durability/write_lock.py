"""The lock of the one process that may write a store; others can see which process that is.

DuckDB locks the file while a connection is open that may write, and nobody else can read it. A writer that
only computes for a while closes that connection (`Store.downgrade_to_read`) and stays the only writer by a
lock of its own, on the file ``STORE.lock``, which exists only while somebody writes and names the writer.
Where the system has no such locks (some network folders), DuckDB's lock is the only one, and readers wait.
"""

from __future__ import annotations

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

from sentgen import temporary
from sentgen.errors import NotFoundError, StoreError, spell
from sentgen.schema import folders
from sentgen.system import files, processes

T = TypeVar("T")
logger = logging.getLogger(__name__)

#: Seconds between two tries, and until a user is told that a command waits.
_RETRY_SECONDS, _SILENT_SECONDS = 0.05, 1.0
#: Tries of a writer: a process that looks up the holder (`holder`) locks the file for a moment.
_TRIES = 10
#: Bytes that are read of the lock file, which has one line.
_MOST_BYTES = 1 << 16


class InUseError(StoreError):
    """Another process has the store; it may be free in a moment."""


@dataclass(slots=True)
class LockPolicy:
    """How long this process waits for a store that is in use, and how others see it while it writes.

    Attributes:
        wait: seconds to wait for a store.
        command: name of the running command, which other processes show.
    """

    wait: float = 0.0
    command: str = ""


#: The command line sets it; a library does not wait unless it is told to.
lock_policy = LockPolicy()


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has the lock.

    Attributes:
        process: its id.
        command: name of its command.
        since: when it took the lock, in seconds since 1970.
        writing: whether it writes or is about to; if not, others may read the store.
    """

    process: int
    command: str
    since: float
    writing: bool

    def __str__(self) -> str:
        return f"{self.command} (process {self.process}), for {max(0, time.time() - self.since):.0f} s"

    def packed(self) -> bytes:
        """Return the content of the lock file, JSON."""
        return json.dumps(asdict(self)).encode()


class WriteLock:
    """The lock of a writer; several stores that one process opens for writing share it."""

    def __init__(self, path: Path, descriptor: int, *, is_ours: bool) -> None:
        self._path, self._descriptor, self._users = path, descriptor, 1
        #: Whether sentgen has made the file; an empty file may be the lock of another program.
        self._is_ours = is_ours
        if is_ours:
            temporary.hold(path, os.unlink)
        self._holder = _this_process()

    @property
    def is_shareable(self) -> bool:
        """Whether others may read meanwhile: no other store of this process writes, and a file is locked."""
        return self._descriptor >= 0 and self._users == 1

    def announce(self, *, writing: bool) -> None:
        """Write into the file whether this process writes, or leaves the store to readers for now."""
        self._holder = Holder(self._holder.process, self._holder.command, self._holder.since, writing)
        if self._descriptor >= 0:
            with suppress(OSError):  # a full disk must not stop a writer that frees space
                size = os.fstat(self._descriptor).st_size
                files.write_at(self._descriptor, self._holder.packed().ljust(size), 0)

    def release(self) -> None:
        """Give up one use of the lock, and unlock the file after the last."""
        with _guard:
            self._users -= 1
            if self._users:
                return
            if _held.get(self._path) is self:
                del _held[self._path]
            if self._descriptor >= 0:
                if self._is_ours:
                    temporary.let_go(self._path)
                    files.remove_locked(self._descriptor, self._path)
                    self._descriptor = -1
                    return
                os.ftruncate(self._descriptor, 0)
                files.unlock(self._descriptor)
                self.give_up()

    def give_up(self) -> None:
        """Close the file without unlocking it, for the process that shares it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @classmethod
    def take(cls, path: Path) -> WriteLock:
        """Become the writer of a store.

        Raises:
            InUseError: another process is the writer.
            StoreError: a file of another program has the name of the lock.
        """
        lock_path = _lock_path(path)
        with _guard:
            if lock := _held.get(lock_path):
                lock._users += 1
                return lock
            descriptor, is_ours = _open_locked(lock_path, path)
            lock = _held[lock_path] = cls(lock_path, descriptor, is_ours=is_ours)
            lock.announce(writing=True)
            return lock


_held: dict[Path, WriteLock] = {}
#: Reentrant: garbage collection inside of it may release a lock.
_guard = threading.RLock()


def _leave_to_parent() -> None:
    """Forget, in a child of `os.fork`, the locks of its parent, which it would release when it ends."""
    global _guard
    _guard = threading.RLock()  # a thread that was not forked may hold the old one
    for lock in _held.values():
        lock.give_up()
    _held.clear()


processes.after_fork(_leave_to_parent)


def _open_locked(lock_path: Path, store: Path) -> tuple[int, bool]:
    """Open and lock the file; return its descriptor, and whether sentgen has made it.

    The descriptor is -1 where the system has no such locks.

    Raises:
        InUseError: another process has the lock.
    """
    for attempt in range(_TRIES):
        try:
            locked = _try_to_lock(lock_path, last=attempt == _TRIES - 1)
        except OSError:
            return -1, False  # opening the store tells what is wrong with the folder
        if locked:
            return locked
        time.sleep(_RETRY_SECONDS / _TRIES)
    raise in_use(store)


def _try_to_lock(lock_path: Path, *, last: bool) -> tuple[int, bool] | None:
    """Try once to lock the file; return nothing if another process has it, or may be about to lock it."""
    try:
        descriptor, is_new = files.make_locked(lock_path, _this_process().packed()), True
    except FileExistsError:
        try:
            descriptor, is_new = os.open(lock_path, os.O_RDWR | files.BINARY), False
        except FileNotFoundError:  # removed in between by the process that had it, or a broken link
            return None
    locked = False
    try:
        content = files.read_at(descriptor, _MOST_BYTES, 0).strip(b"\0")
        if content and _parse_holder(content) is None:
            raise folders.in_the_way(lock_path)
        with suppress(BlockingIOError, PermissionError):
            files.lock(descriptor)
            # An empty file may soon be locked by its maker; of another inode, the holder removed the file.
            locked = (is_new or bool(content) or last) and os.fstat(descriptor).st_ino == _inode(lock_path)
        return (descriptor, is_new or bool(content)) if locked else None
    finally:
        if not locked:
            os.close(descriptor)


def _this_process() -> Holder:
    command = lock_policy.command or Path(sys.argv[0]).name or "python"
    return Holder(os.getpid(), command, time.time(), writing=True)


def _parse_holder(content: bytes) -> Holder | None:
    """Return the process that wrote a lock file; nothing if the file is not one of ours."""
    try:
        return Holder(**json.loads(content))
    except (ValueError, TypeError):
        return None


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def _lock_path(path: Path) -> Path:
    # Links are resolved: two names of one store must not have two locks.
    return Path(f"{os.path.realpath(path)}.lock")


def holder(path: Path) -> Holder | None:
    """Return the other process that writes a store, if any; the file that a killed one left is removed."""
    lock_path = _lock_path(path)
    if lock_path in _held:
        return None
    try:
        with lock_path.open("rb") as file:
            # The file of another program, or an empty one that is being made, is neither locked nor removed.
            if (writer := _parse_holder(file.read(_MOST_BYTES).strip(b"\0"))) is None:
                return None
            try:
                files.lock(file.fileno())
            except OSError:
                return writer
            if os.fstat(file.fileno()).st_ino == _inode(lock_path):
                lock_path.unlink()
    except OSError:  # gone, in a folder of others, or (Windows) open here: the next writer removes it
        pass
    return None


def in_use(path: Path, message: str = "") -> InUseError:
    """Return the error that another process has a store; ``message`` is DuckDB's, which has its id."""
    writer: Holder | str | None = holder(path)
    if writer is None:
        pids = re.findall(r"\(PID (\d+)\)", message)  # the last one: paths come before it
        writer = f"number {pids[-1]}" if pids else ""
    which = f", {writer}" if writer else ""
    return InUseError(
        f"{path}: the store is in use by another process{which};"
        f" wait until it ends ({spell('wait')} SECONDS), or use a copy of the file"
    )


def no_store(path: Path) -> NotFoundError:
    """Return the error that there is no store; the message says which process makes one, or how to."""
    if writer := holder(path):
        return NotFoundError(f"{path}: no store here yet; {writer}, makes it: wait until it ends")
    return NotFoundError(f"{path}: no store here; make one with: sentgen ingest PATH --corpus NAME")


def wait_for(path: Path, work: Callable[[], T], *, seconds: float | None = None) -> T:
    """Call a function that needs the store, again and again while another process has the store.

    Args:
        seconds: how long to try; ``None`` for the ``wait`` of `lock_policy`.

    Returns:
        What the function returns.

    Raises:
        InUseError: another process has the store at the end of this time, too.
    """
    began, announced = time.monotonic(), False
    limit = lock_policy.wait if seconds is None else seconds
    while True:
        try:
            return work()
        except InUseError as error:
            waited = time.monotonic() - began
            if waited >= limit:
                raise
            if waited >= _SILENT_SECONDS and not announced:
                logger.warning("waiting: %s", str(error).partition("; wait")[0])
                announced = True
        time.sleep(_RETRY_SECONDS)
