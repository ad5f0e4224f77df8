"""Files: locks, space on the disk, folders that are synced, open descriptors, modes and owners.

`sentgen.schema.durability` runs this without any package, too: nothing but the standard library is imported
at the top.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

#: Windows would write CR LF for each LF.
BINARY: int = getattr(os, "O_BINARY", 0)
#: Whether a file that DuckDB writes can be read meanwhile, be it in the same process: not in Windows.
READ_WHILE_WRITTEN = sys.platform != "win32"

#: In Windows nobody else can read bytes that are locked: this one lies behind all that a lock file says.
_LOCKED_BYTE = 1 << 30
_BETWEEN = 0.05
#: Seconds in which the first byte must come through a pipe that is named as a file.
FIRST_BYTE = 15.0
#: Seconds for which a file may be looked at by others before it is replaced or removed.
_PATIENCE = 1.0
_BLOCK = bytes(1 << 20)


def lock(descriptor: int, *, wait: bool = False) -> None:
    """Lock a file until it is closed, for this descriptor alone and its copies in children of this process.

    Raises:
        BlockingIOError, PermissionError: another descriptor has the lock, and ``wait`` was not asked for.
        OSError: there are no locks here, as in some network folders.
    """
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                break
            except PermissionError:
                if not wait:
                    raise
            time.sleep(_BETWEEN)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def unlock(descriptor: int) -> None:
    """Let go of a lock, also where a child of this process has a copy of the descriptor."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)


def make_locked(path: Path, content: bytes, *, mode: int = 0o666) -> int:
    """Make a file for a lock; in Linux it is locked and has its content before it has a name.

    Elsewhere it is empty at first, and neither.

    Raises:
        FileExistsError: there is such a file.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # not all file systems can do it
            descriptor = os.open(path.parent, os.O_RDWR | os.O_TMPFILE, mode)
            try:
                lock(descriptor)
                os.write(descriptor, content)
                # With a folder, which an absolute path does without, Python follows the link.
                os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor)
                return descriptor
            except BaseException:
                os.close(descriptor)
                raise
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY, mode)


def is_mine(path: Path) -> bool:
    """Say whether a file or folder is this user's; in Windows, others cannot reach the folder it lies in."""
    if sys.platform == "win32":
        return True
    return path.lstat().st_uid == os.getuid()


def open_to_read(path: str | Path) -> io.BufferedReader:
    """Open a file for reading; of a pipe, wait `FIRST_BYTE` for the first byte, or its end.

    Raises:
        TimeoutError: nothing came.
        OSError: the file cannot be opened.
    """
    if sys.platform == "win32":
        return open(path, "rb")
    import select

    # Else opening it would wait for one who writes to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            # One that nobody has opened for writing yet says that it is at its end, but not to `poll`.
            waiting = select.poll()
            waiting.register(descriptor, select.POLLIN)
            if not waiting.poll(FIRST_BYTE * 1000):
                message = f"nothing came through it in {FIRST_BYTE:g} seconds; start what writes to it first"
                raise TimeoutError(errno.ETIMEDOUT, message, str(path))
        os.set_blocking(descriptor, True)
        return io.BufferedReader(io.FileIO(descriptor))
    except BaseException:
        os.close(descriptor)
        raise


def read_text(path: str | Path) -> str:
    """Return the text of a file in UTF-8, opened so, with plain line ends.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError: the text is not UTF-8.
    """
    with io.TextIOWrapper(open_to_read(path), encoding="utf-8") as file:
        return file.read()


def remove_locked(descriptor: int, path: Path) -> None:
    """Remove a file that is locked here, and close it."""
    if sys.platform == "win32":
        # What is open cannot be removed. Who opens it in between has it locked, and removes it.
        os.close(descriptor)
        with suppress(PermissionError):
            path.unlink(missing_ok=True)
        return
    # Removed first: who opens it from now on makes a new one, and who has it open sees that.
    path.unlink(missing_ok=True)
    unlock(descriptor)
    os.close(descriptor)


def open_alone(path: str, *, writable: bool) -> int | None:
    """Open the file of a database with DuckDB's own lock; return nothing where another process has it.

    Whoever closes it gives up all locks that this process has on the file, those of DuckDB too.

    Raises:
        OSError: the file cannot be opened.
    """
    how = os.O_RDWR if writable else os.O_RDONLY
    if sys.platform == "win32":
        try:
            # DuckDB has no locks there: what it writes nobody can open, and what it reads nobody can write.
            return os.open(path, how | BINARY)
        except PermissionError:
            return None
    import fcntl

    descriptor = os.open(path, how)
    try:
        fcntl.lockf(descriptor, (fcntl.LOCK_EX if writable else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def descriptors_of(path: Path) -> list[int] | None:
    """Return the descriptors that this process has of a file; nothing where the system does not list them."""
    if sys.platform == "win32":
        return None
    try:
        listed = os.listdir("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    except OSError:
        return None
    descriptors, file = [], path.stat()
    for descriptor in map(int, listed):
        with suppress(OSError):  # it is closed by now
            if os.path.samestat(os.fstat(descriptor), file):
                descriptors.append(descriptor)
    return descriptors


def replace(draft: str | Path, path: str | Path) -> None:
    """Put a file in the place of another of that name, which may be read-only."""
    _patiently(lambda: os.replace(draft, path), path)


def give_name(path: Path, name: Path) -> None:
    """Give a file a name that no other file has; its own goes with it only where there are no links.

    Raises:
        FileExistsError: something has that name.
    """
    try:
        os.link(path, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if name.exists():
            raise FileExistsError(name) from None
        replace(path, name)


def remove(path: str | Path) -> None:
    """Remove a file, which may be read-only."""
    _patiently(lambda: os.unlink(path), path)


def remove_unless_open(path: str | Path) -> bool:
    """Remove a file if Windows does not keep it for somebody who has it open; say whether it did.

    Raises:
        PermissionError: in another system, where that is no reason.
    """
    try:
        remove(path)
    except PermissionError:
        if sys.platform != "win32" or not os.path.exists(path):
            raise
        return False
    return True


def _patiently(do: Callable[[], None], path: str | Path) -> None:
    """Do what Windows refuses while a virus scanner looks at a file, and with a file that is read-only."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            do()
            return
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > until:
                raise
        if os.path.exists(path) and not os.stat(path).st_mode & stat.S_IWRITE:
            os.chmod(path, 0o666)
        time.sleep(_BETWEEN)


def read_at(descriptor: int, size: int, at: int) -> bytes:
    """Return bytes of a file from a place on, wherever it is read otherwise."""
    if sys.platform != "win32":
        return os.pread(descriptor, size, at)
    os.lseek(descriptor, at, os.SEEK_SET)
    return os.read(descriptor, size)


def write_at(descriptor: int, data: bytes, at: int) -> None:
    """Write bytes to a place of a file."""
    if sys.platform != "win32":
        os.pwrite(descriptor, data, at)
        return
    os.lseek(descriptor, at, os.SEEK_SET)
    os.write(descriptor, data)


def take_room(descriptor: int, size: int) -> None:
    """Make a new file so large, of zeros for which there is room on the disk.

    Raises:
        OSError: there is not.
    """
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, 0, size)
        return
    while size > 0:
        size -= os.write(descriptor, _BLOCK[:size])


def leave_memory(file: mmap.mmap) -> None:
    """Give the pages of a mapped file back to the system, where it does not take them by itself."""
    if sys.platform != "win32":
        file.madvise(mmap.MADV_DONTNEED)


def sync_folder(folder: Path) -> None:
    """Have the disk keep what was made or renamed in a folder; Windows does so by itself."""
    if sys.platform == "win32":
        return
    # A new name is a change of the folder: fsync of the file alone does not keep it through a power cut.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


#: Links that lead from one to the next, as Linux bounds them.
_MOST_LINKS = 40


def descriptor_named(path: Path) -> int | None:
    """Return the descriptor of this process that a path names, as ``/dev/stdout`` does; nothing if none.

    It has a place and a mode of writing, which opening the path again would lose.
    """
    if sys.platform == "win32":
        return None
    link = str(path)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(link)
        if name.isascii() and name.isdecimal():
            real = os.path.realpath(folder)
            if real == "/dev/fd" or (real.startswith(f"/proc/{os.getpid()}/") and real.endswith("/fd")):
                return int(name)
        if not os.path.islink(link):
            return None
        link = os.path.join(folder, os.readlink(link))
    return None


def others_may_read(path: Path) -> bool:
    """Say whether users other than its owner may read a file; modes say nothing in Windows."""
    return sys.platform != "win32" and bool(path.stat().st_mode & 0o044)


def may_be_written(path: Path, status: os.stat_result) -> bool:
    """Say whether a file may be written; one that nobody may write to is not to be, by root neither."""
    return bool(status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)) and os.access(path, os.W_OK)


def take_over(descriptor: int, status: os.stat_result) -> None:
    """Give a new file the mode of another, and its owner and group as far as this user may."""
    if sys.platform == "win32":
        return
    # The owner first: a file that changes hands loses parts of its mode.
    for owner in (status.st_uid, -1):
        with suppress(PermissionError):
            os.fchown(descriptor, owner, status.st_gid)
            break
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
