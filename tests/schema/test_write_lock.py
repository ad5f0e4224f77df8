"""The lock of a writer, and when other processes may read the store."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from sentgen.errors import NotFoundError, StoreError
from sentgen.schema import Store, readonly
from sentgen.schema.durability import write_lock
from sentgen.schema.durability.write_lock import lock_policy
from sentgen.schema.tables.corpus import word

#: A program that runs each line of Python that it reads, and reports the result.
OTHER = """
import sys
from sqlalchemy import text
from sentgen.schema import Store
from sentgen.schema.durability import write_lock
write_lock.lock_policy.command = "sentgen ingest"
path = sys.argv[1]
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


class Other:
    """A process that runs lines of Python on the store."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def does(self, line: str) -> None:
        """Run a line in the process, and wait until it is done."""
        assert self.process.stdin
        assert self.process.stdout
        print(line, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "done\n"


@contextmanager
def other(path: Path) -> Iterator[Other]:
    """Another process, which is ended after the test."""
    one = Other(path)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


def count(store: Store) -> int:
    """Return the number of words in a store."""
    with store.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(word)).scalar_one())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An empty store."""
    Store(tmp_path / "store.duckdb", create=True).close()
    return tmp_path / "store.duckdb"


def test_others_read_what_is_shared(path: Path) -> None:
    """Others read commits, and none can write; errors name the writer; the lock file is removed at the end."""
    with other(path) as one:
        one.does("store = Store(path); store.downgrade_to_read(unless_small=True)")
        with pytest.raises(StoreError, match="in use by another process, sentgen ingest"):
            Store(path, read_only=True)
        one.does("import sentgen.schema.store; sentgen.schema.store._FEW = 0")
        one.does("store.downgrade_to_read(unless_small=True)")
        with Store(path, read_only=True) as store:
            before = count(store)
        assert readonly.query(path, "select count(*) as n from word").table.to_pylist() == [{"n": before}]
        with pytest.raises(
            StoreError, match=rf"sentgen ingest \(process {one.process.pid}\), for \d+ s; wait"
        ):
            Store(path)
        one.does("with store.begin() as c: c.execute(text(\"insert into word values (1000, 'new')\"))")
        with pytest.raises(StoreError, match="in use by another process, sentgen ingest"):
            Store(path, read_only=True)
        one.does("store.downgrade_to_read()")
        with Store(path, read_only=True) as store:
            assert count(store) == before + 1
        one.does("store.close()")

    assert sorted(path.parent.iterdir()) == [path]
    Store(path).close()


def test_a_writer_waits_for_readers(path: Path) -> None:
    """A writer waits for readers, and later readers wait for the writer."""
    with other(path) as one, Store(path) as store:
        store.downgrade_to_read()
        one.does("reader = Store(path, read_only=True)")
        ending = threading.Timer(0.5, lambda: one.does("reader.close()"))
        ending.start()
        began = time.monotonic()
        with store.begin() as connection:
            assert time.monotonic() - began > 0.3
            connection.execute(insert(word).values(id=1000, form="new"))
        ending.join()
        assert count(store) > 0


def test_readers_leave_a_writer_its_turn(path: Path) -> None:
    """While a writer waits for a reader, further readers are refused, or there might always be one."""
    with Store(path, read_only=True), other(path) as one:
        lock = "lock = write_lock.WriteLock.take(__import__('pathlib').Path(path))"
        one.does(lock)
        with pytest.raises(StoreError, match="sentgen ingest"):
            Store(path, read_only=True)
        one.does("lock.announce(writing=False)")
        Store(path, read_only=True).close()


def test_who_waits_gets_the_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process waits as long as its setting says; the log names the process that it waits for."""
    with other(path) as one:
        one.does("store = Store(path)")
        threading.Timer(0.3, lambda: one.does("store.close()")).start()
        Store(path, wait=20).close()
        one.does("store = Store(path)")
        threading.Timer(0.3, lambda: one.does("store.close()")).start()
        monkeypatch.setattr(lock_policy, "wait", 20.0)
        readonly.query(path, "select 1")
        one.does("store = Store(path)")
        began = time.monotonic()
        with pytest.raises(StoreError, match="in use"):
            Store(path, wait=0.2)
        assert time.monotonic() - began >= 0.2


def test_the_lock_of_a_killed_writer_is_nobodys(path: Path) -> None:
    """The lock file of a killed writer stays until the next process, which is not hindered by it."""
    with other(path) as one:
        one.does("store = Store(path); store.downgrade_to_read()")
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.wait()

    assert Path(f"{path}.lock").exists()
    Store(path, read_only=True).close()
    assert sorted(path.parent.iterdir()) == [path]
    Store(path).close()
    assert sorted(path.parent.iterdir()) == [path]


def test_two_writers_of_one_process_share_nothing(path: Path) -> None:
    """Two writers in a process share one DuckDB database; the lock is released with the last."""
    with Store(path) as first:
        second = Store(path)
        first.downgrade_to_read()
        with first.begin() as connection:
            connection.execute(insert(word).values(id=1000, form="new"))
        second.close()
        assert count(first) > 0
        with other(path) as one:
            one.does("assert write_lock.holder(__import__('pathlib').Path(path)).writing")
            first.downgrade_to_read()
            one.does("Store(path, read_only=True).close()")


def test_nothing_is_shared_while_it_is_read(path: Path) -> None:
    """A store with an open connection is not shared, as the connection would lose its database."""
    with Store(path) as store, store.connect() as connection:
        store.downgrade_to_read()
        assert connection.execute(select(func.count()).select_from(word)).scalar_one() > 0
        with other(path) as one:
            one.does("assert write_lock.holder(__import__('pathlib').Path(path)).writing")


def test_a_store_that_nobody_closes_is_let_go(path: Path) -> None:
    """A store that is not closed releases its lock when it is garbage-collected."""
    store = Store(path)
    del store
    gc.collect()

    with other(path) as one:
        one.does("Store(path).close()")


def test_a_link_has_the_lock_of_its_store(path: Path, tmp_path: Path) -> None:
    """A store and a link to it have one lock."""
    link = tmp_path / "link.duckdb"
    link.symlink_to(path)
    with other(path) as one:
        one.does("store = Store(path); store.downgrade_to_read()")
        with pytest.raises(StoreError, match="sentgen ingest"):
            Store(link)


def test_a_reader_hears_who_fills_an_empty_store(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A reader of an empty store is told which process writes to it; a store with data gives no message."""
    with other(path) as one:
        one.does("store = Store(path); store.downgrade_to_read()")
        Store(path, read_only=True).close()
        assert f"nothing is stored yet: sentgen ingest (process {one.process.pid}), for " in caplog.text
        one.does(
            "with store.begin() as c: c.execute(text(\"insert into corpus by name select 1 as id, 'a' as name, 'corpus'"
            " as kind, 1 as max_order, 'xpos' as tags, false as lowercase, false as function_heads, now()::timestamp as created_at\"))"
        )
        one.does("store.downgrade_to_read()")
        caplog.clear()
        Store(path, read_only=True).close()

    assert caplog.text == ""


def test_a_store_that_is_not_there_yet_names_who_makes_it(path: Path) -> None:
    path.unlink()
    with other(path) as one:
        one.does("import pathlib; lock = write_lock.WriteLock.take(pathlib.Path(path))")
        with pytest.raises(NotFoundError, match=r"no store here yet; sentgen ingest \(process \d+\), for"):
            Store(path, read_only=True)


def test_a_child_that_ends_leaves_its_parent_the_lock(path: Path) -> None:
    """A child of `os.fork` runs the parent's finalizers at its end, which must not release the parent's lock."""
    store = Store(path)
    store.downgrade_to_read()
    child = os.fork()
    if not child:
        # The child ends as a program does: with its finalizers, but without those of pytest.
        store._let_go()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

    assert Path(f"{path}.lock").exists()
    with other(path) as one:
        one.does("assert write_lock.holder(__import__('pathlib').Path(path)).writing is False")
    store.close()
    assert sorted(path.parent.iterdir()) == [path]


def test_a_child_does_not_write_in_the_name_of_its_parent(path: Path) -> None:
    """A child of `os.fork` needs the lock itself, as any other process does."""
    lock = write_lock.WriteLock.take(path)
    child = os.fork()
    if not child:
        try:
            write_lock.WriteLock.take(path)
        except StoreError:
            os._exit(7)
        os._exit(0)
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        lock.release()


def test_a_lock_of_another_program_is_left_alone(path: Path) -> None:
    """An empty lock file of another program stays empty; one with content is refused unchanged."""
    place = Path(f"{path}.lock")
    place.touch()
    Store(path).close()
    Store(path, read_only=True).close()
    assert place.read_bytes() == b""
    place.write_text("mine")
    Store(path, read_only=True).close()
    with pytest.raises(StoreError, match=r"\.lock: in the way, and sentgen did not write it"):
        Store(path)
    assert place.read_text() == "mine"
    place.unlink()
    place.symlink_to(path.with_name("nowhere"))
    with pytest.raises(StoreError, match="in use"):
        Store(path)
    assert place.is_symlink()


def test_a_lock_says_whose_it_is_as_soon_as_it_has_a_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed meanwhile leaves no empty file, which would count as another program's."""

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    place = Path(f"{path}.lock")
    with monkeypatch.context() as patch:
        patch.setattr(write_lock.WriteLock, "__init__", killed)
        with pytest.raises(Killed):
            Store(path)

    assert json.loads(place.read_bytes())["process"] == os.getpid()
    assert write_lock.holder(path) is not None, "locked by the descriptor that is left"
