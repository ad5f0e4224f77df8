"""Who writes a store: one process at a time, known to the others by name.

DuckDB locks the file while a connection is open that may write, and nobody else can read it. A writer that
only computes for a while closes that connection (`Store.downgrade_to_read`) and stays the only writer by a
lock of its own, on ``STORE.lock``, which is there only while somebody writes. The file says who that is.
Where there are no such locks (some network folders), nothing is shared, and DuckDB's lock does all.
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

_BETWEEN, _BEFORE_SAYING = 0.05, 1.0
#: Tries of a writer: whoever asks who holds the lock holds it for a moment.
_TRIES = 10
#: Bytes of the file that are looked at; what it says has one line.
_LONGEST = 1 << 16


class InUseError(StoreError):
    """Another process has the store; it may be free in a moment."""


@dataclass(slots=True)
class LockPolicy:
    """What this process does about a store that is in use, and what it calls itself.

    Attributes:
        wait: seconds to wait for a store.
        command: what others are told of it while it writes.
    """

    wait: float = 0.0
    command: str = ""


#: The command line sets it; a library does not wait unless it is told to.
lock_policy = LockPolicy()


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has the lock: process, command, since when (by the clock), and whether it wants to write."""

    process: int
    command: str
    since: float
    writing: bool

    def __str__(self) -> str:
        return f"{self.command} (process {self.process}), for {max(0, time.time() - self.since):.0f} s"

    def packed(self) -> bytes:
        """Return what the file says."""
        return json.dumps(asdict(self)).encode()


class WriteLock:
    """The lock of a writer; several of one process share it."""

    def __init__(self, path: Path, descriptor: int, *, is_ours: bool) -> None:
        self._path, self._descriptor, self._users = path, descriptor, 1
        #: Whether sentgen has made the file; an empty one may be the lock of another program.
        self._is_ours = is_ours
        if is_ours:
            temporary.hold(path, os.unlink)
        self._holder = _this_process()

    @property
    def is_shareable(self) -> bool:
        """Whether others may read meanwhile: nobody else in this process writes, and the lock is one."""
        return self._descriptor >= 0 and self._users == 1

    def announce(self, *, writing: bool) -> None:
        """Tell others whether this process writes, or wants to, or leaves the store to readers for now."""
        self._holder = Holder(self._holder.process, self._holder.command, self._holder.since, writing)
        if self._descriptor >= 0:
            with suppress(OSError):  # a full disk keeps nobody from writing less
                size = os.fstat(self._descriptor).st_size
                files.write_at(self._descriptor, self._holder.packed().ljust(size), 0)

    def release(self) -> None:
        """Let go of it."""
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
        """Close the file, and leave the lock to whoever else has it open."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


_held: dict[Path, WriteLock] = {}
#: Entered again where garbage is collected that holds a lock.
_guard = threading.RLock()


def _leave_to_parent() -> None:
    """Forget, in a child of `os.fork`, the locks of its parent, which it would let go of when it ends."""
    global _guard
    _guard = threading.RLock()  # a thread that is not here may have had it
    for lock in _held.values():
        lock.give_up()
    _held.clear()


processes.after_fork(_leave_to_parent)


def take(path: Path) -> WriteLock:
    """Become the writer of a store.

    Raises:
        InUseError: another process is the writer.
        StoreError: a file of another program has the name of the lock.
    """
    lock_path = _place(path)
    with _guard:
        if lock := _held.get(lock_path):
            lock._users += 1
            return lock
        descriptor, is_ours = _descriptor(lock_path, path)
        lock = _held[lock_path] = WriteLock(lock_path, descriptor, is_ours=is_ours)
        lock.announce(writing=True)
        return lock


def _descriptor(lock_path: Path, store: Path) -> tuple[int, bool]:
    """Return the locked file, or -1 where there are no such locks, and whether sentgen has made it."""
    for tries in range(_TRIES):
        try:
            locked = _try(lock_path, last=tries == _TRIES - 1)
        except OSError:
            return -1, False  # what is wrong with the folder is said by whoever opens the store
        if locked:
            return locked
        time.sleep(_BETWEEN / _TRIES)
    raise in_use(store)


def _try(lock_path: Path, *, last: bool) -> tuple[int, bool] | None:
    """Do it once; return nothing if another process has the file, or may be about to have it."""
    try:
        descriptor, is_new = files.make_locked(lock_path, _this_process().packed()), True
    except FileExistsError:
        try:
            descriptor, is_new = os.open(lock_path, os.O_RDWR | files.BINARY), False
        except FileNotFoundError:  # removed in between by the one who had it, or a link that leads nowhere
            return None
    taken = -1
    try:
        content = files.read_at(descriptor, _LONGEST, 0).strip(b"\0")
        if content and _holder(content) is None:
            raise folders.in_the_way(lock_path)
        with suppress(BlockingIOError, PermissionError):
            files.lock(descriptor)
            # Empty: its maker may be about to lock it. Another file: it was removed by the one who had it.
            if (is_new or content or last) and os.fstat(descriptor).st_ino == _inode(lock_path):
                taken = descriptor
        return (taken, is_new or bool(content)) if taken >= 0 else None
    finally:
        if taken < 0:
            os.close(descriptor)


def _this_process() -> Holder:
    command = lock_policy.command or Path(sys.argv[0]).name or "python"
    return Holder(os.getpid(), command, time.time(), writing=True)


def _holder(content: bytes) -> Holder | None:
    """Return who has written a file, if it is one of ours."""
    try:
        return Holder(**json.loads(content))
    except (ValueError, TypeError):
        return None


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
    lock_path = _place(path)
    if lock_path in _held:
        return None
    try:
        with lock_path.open("rb") as file:
            # Another's, or empty while it is made: neither is locked here, nor removed.
            if (named := _holder(file.read(_LONGEST).strip(b"\0"))) is None:
                return None
            try:
                files.lock(file.fileno())
            except OSError:
                return named
            if os.fstat(file.fileno()).st_ino == _inode(lock_path):
                lock_path.unlink()
    except OSError:  # gone, in a folder that is not ours, or open here, as Windows has it: the next writer's
        pass
    return None


def in_use(path: Path, message: str = "") -> InUseError:
    """Say who has a store; ``message`` is DuckDB's, which names a process."""
    who: Holder | str | None = holder(path)
    if who is None:
        pids = re.findall(r"\(PID (\d+)\)", message)  # the last one: paths come before it
        who = f"number {pids[-1]}" if pids else ""
    named = f", {who}" if who else ""
    return InUseError(
        f"{path}: the store is in use by another process{named};"
        f" wait until it ends ({spell('wait')} SECONDS), or use a copy of the file"
    )


def no_store(path: Path) -> NotFoundError:
    """Say that there is no store, and who makes one or how."""
    if who := holder(path):
        return NotFoundError(f"{path}: no store here yet; {who}, makes it: wait until it ends")
    return NotFoundError(f"{path}: no store here; make one with: sentgen ingest PATH --corpus NAME")


def refuse_if_wanted(path: Path) -> None:
    """Give a writer that wants the file its turn, or readers might keep it away for good.

    Raises:
        InUseError: a writer wants the store.
    """
    writer = holder(path)
    if writer and writer.writing:
        raise in_use(path)


def wait_for(path: Path, work: Callable[[], T], *, seconds: float | None = None) -> T:
    """Do what needs the store, again and again while another process has it.

    Args:
        path: the store.
        work: what to do.
        seconds: how long to try; as `lock_policy` say if ``None``.

    Raises:
        InUseError: the other process still has it.
    """
    began, announced = time.monotonic(), False
    limit = lock_policy.wait if seconds is None else seconds
    while True:
        try:
            return work()
        except InUseError as error:
            gone = time.monotonic() - began
            if gone >= limit:
                raise
            if gone >= _BEFORE_SAYING and not announced:
                logger.warning("waiting: %s", str(error).partition("; wait")[0])
                announced = True
        time.sleep(_BETWEEN)
