"""Locks, room and open files, in Linux; and what other systems do instead, forced or played."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import pytest

from sentgen.schema.durability import write_lock
from sentgen.system import files


class Msvcrt:
    """Locks of bytes as Windows has them: of a file that is open, from where it is read."""

    LK_UNLCK, LK_NBLCK = 0, 2

    def __init__(self) -> None:
        #: Who has which byte of which file.
        self.locked: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, size: int) -> None:
        """Lock a byte, or let go of it."""
        assert size == 1
        byte = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR)
        if mode == self.LK_UNLCK:
            assert self.locked.pop(byte) == descriptor
        elif byte in self.locked:
            raise PermissionError(13, "Permission denied")
        else:
            self.locked[byte] = descriptor


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Msvcrt:
    """As if this were Windows: its locks, closed with the file, and nothing removed that is open."""
    msvcrt, close, unlink = Msvcrt(), os.close, Path.unlink

    def closing(descriptor: int) -> None:
        close(descriptor)
        msvcrt.locked = {byte: who for byte, who in msvcrt.locked.items() if who != descriptor}

    def removing(path: Path, missing_ok: bool = False) -> None:
        with pytest.MonkeyPatch.context() as linux:
            linux.setattr(sys, "platform", "linux")
            is_open = path.exists() and files.descriptors_of(path)
        if is_open:
            raise PermissionError(13, "The process cannot access the file")
        unlink(path, missing_ok)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(os, "close", closing)
    monkeypatch.setattr(Path, "unlink", removing)
    return msvcrt


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file."""
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    return path


@contextmanager
def opened(path: Path, how: int = os.O_RDWR) -> Iterator[int]:
    """A descriptor of a file, closed at the end."""
    descriptor = os.open(path, how)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def locks_exclude_each_other(path: Path) -> None:
    """One descriptor has it; the next one gets it when it is let go, or waits."""
    with opened(path) as first, opened(path) as second:
        files.lock(first)
        with pytest.raises((BlockingIOError, PermissionError)):
            files.lock(second)
        assert files.read_at(second, 3, 0) == b"012"
        letting_go = threading.Timer(0.2, files.unlock, [first])
        letting_go.start()
        began = time.monotonic()
        files.lock(second, wait=True)
        assert time.monotonic() - began > 0.1
        letting_go.join()


def test_locks(path: Path) -> None:
    locks_exclude_each_other(path)


def test_locks_of_windows(path: Path, windows: Msvcrt) -> None:
    """A byte behind the text is locked: others may read what is written there."""
    locks_exclude_each_other(path)
    assert not windows.locked, "closed"


def test_a_file_is_locked_before_it_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    made = files.make_locked(path, b"mine")
    with opened(path) as other, pytest.raises(BlockingIOError):
        files.lock(other)
    assert path.read_bytes() == b"mine"
    with pytest.raises(FileExistsError):
        files.make_locked(path, b"another's")
    files.remove_locked(made, path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_where_a_file_has_its_name_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    """As in macOS, and in file systems of Linux where a file needs one: it is empty, and nobody's yet."""

    def link(*_: object, **__: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "link", link)
    path = tmp_path / "lock"
    made = files.make_locked(path, b"mine")
    assert path.read_bytes() == b""
    with opened(path) as other:
        files.lock(other)
    with pytest.raises(FileExistsError):
        files.make_locked(path, b"mine")
    os.close(made)


def test_a_writer_in_windows(tmp_path: Path, windows: Msvcrt) -> None:
    """One at a time, known to the others by name; its file goes with it, and a killed one's with the next."""
    store, place = tmp_path / "a.duckdb", tmp_path / "a.duckdb.lock"
    lock = write_lock.WriteLock.take(store)
    assert write_lock._try_to_lock(place, last=True) is None
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setattr(write_lock, "_held", {})
        found = write_lock.holder(store)
        assert found is not None
        assert found.process == os.getpid()
    lock.release()
    assert list(tmp_path.iterdir()) == []

    place.write_bytes(found.packed())  # as a kill leaves it
    assert write_lock.holder(store) is None
    write_lock.WriteLock.take(store).release()
    assert list(tmp_path.iterdir()) == []


def test_who_opens_a_lock_that_is_let_go_has_it(path: Path, windows: Msvcrt) -> None:
    """In Windows, it stays, for whoever has it open removes it."""
    with opened(path) as other:
        made = os.open(path, os.O_RDWR)
        files.lock(made)
        files.remove_locked(made, path)
        files.lock(other)
        assert path.exists()


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == 'reads'); print(flush=True); sys.stdin.read()"


@pytest.mark.parametrize(
    ("other", "writable", "refused"),
    [("reads", False, False), ("reads", True, True), ("writes", False, True), ("writes", True, True)],
)
def test_a_database_in_use(tmp_path: Path, other: str, writable: bool, refused: bool) -> None:
    """It is opened as DuckDB would open it."""
    path = tmp_path / "a.duckdb"
    subprocess.run(
        [sys.executable, "-c", HOLD, str(path), "writes"], input=b"", check=True, capture_output=True
    )
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), other], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        found = files.open_alone(str(path), writable=writable)
        assert (found is None) == refused
        if found is not None:
            os.close(found)
        holder.communicate()
    found = files.open_alone(str(path), writable=writable)
    assert found is not None
    os.close(found)


def test_a_database_in_use_in_windows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, nobody can open it."""
    monkeypatch.setattr(sys, "platform", "win32")
    found = files.open_alone(str(path), writable=True)
    assert found is not None
    os.close(found)

    def refuse(*_: object) -> int:
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(os, "open", refuse)
    assert files.open_alone(str(path), writable=True) is None


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_descriptors_of_a_file(path: Path, monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    """By whatever name it was opened; not those of the file that had this name before."""
    monkeypatch.setattr(sys, "platform", platform)
    link = path.with_name("link")
    os.link(path, link)
    with opened(path) as first, opened(link) as second:
        assert sorted(files.descriptors_of(path) or []) == sorted([first, second])
        link.write_bytes(b"")
        path.unlink()
        path.write_bytes(b"")
        assert files.descriptors_of(path) == []


def test_descriptors_that_the_system_does_not_list(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not said that there are none."""
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setattr(sys, "platform", "win32")
        assert files.descriptors_of(path) is None

    def missing(_: str) -> list[str]:
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", missing)
    assert files.descriptors_of(path) is None


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_bytes_at_a_place(path: Path, monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with opened(path) as descriptor:
        files.write_at(descriptor, b"abc", 4)
        assert files.read_at(descriptor, 5, 3) == b"3abc7"
        assert files.read_at(descriptor, 5, 8) == b"89"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    """Of zeros that the disk has; that it has none is told at once."""
    monkeypatch.setattr(sys, "platform", platform)
    size = (1 << 20) + 5
    with (tmp_path / "a").open("wb+", buffering=0) as file:
        files.take_room(file.fileno(), size)
        assert file.read() == (bytes(size) if platform == "linux" else b"")
        assert (tmp_path / "a").read_bytes() == bytes(size)
        assert os.fstat(file.fileno()).st_blocks * 512 >= size
    with open("/dev/full", "wb") as full, pytest.raises(OSError):
        files.take_room(full.fileno(), size)


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_pages_that_are_given_back_keep_what_was_written(
    path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with path.open("rb+") as file, mmap.mmap(file.fileno(), 10) as mapped:
        mapped[0:3] = b"abc"
        files.leave_memory(mapped)
        assert mapped[:] == b"abc3456789"


def test_a_folder_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no such thing: to open a folder would fail there."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    files.sync_folder(tmp_path)
    monkeypatch.setattr(sys, "platform", "win32")
    files.sync_folder(tmp_path)
    assert synced == [tmp_path.stat().st_ino]


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_no_other_file_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """A file that has it stays as it is, also where there are no links."""
    if not links:
        monkeypatch.setattr(os, "link", Mock(side_effect=OSError))
    for name in ("draft", "other"):
        (tmp_path / name).write_text(name)

    files.give_name(tmp_path / "draft", tmp_path / "new")
    with pytest.raises(FileExistsError):
        files.give_name(tmp_path / "other", tmp_path / "new")

    assert (tmp_path / "new").read_text() == "draft"
    assert (tmp_path / "draft").exists() is links
