"""Interrupted commits that have half overwritten a block which the previous state needs as well."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sentgen.errors import StoreError
from sentgen.schema import Store, engine
from sentgen.schema.durability import block_journal, block_restore
from sentgen.schema.durability.duckdb_faults import log_of
from sentgen.schema.store import raw
from sentgen.system import files

BLOCK, FIRST = 1 << 18, 12_288
PAGE = 4096


def words(path: Path) -> int:
    with Store(path, read_only=True) as store, store.connect() as connection:
        return int(raw(connection).execute("select count(*) from word").fetchone()[0])  # type: ignore[index]


@pytest.fixture
def committed(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, bytes, bytes]:
    """The file before a commit that overwrites shared blocks, the file after it, and the journal."""
    with Store(path) as store, store.begin() as connection:  # so that shared blocks have room
        raw(connection).execute("delete from word where id > 30")
    kept: list[bytes] = []

    def keep(duck: duckdb.DuckDBPyConnection, store: Path) -> None:
        original(duck, store)
        kept.append(block_journal.journal_of(store).read_bytes())

    original = block_journal.keep
    monkeypatch.setattr(block_journal, "keep", keep)
    for first in (1000, 2000, 3000):  # 1.4 writes the whole catalog into free blocks at first
        before = path.read_bytes()
        with Store(path) as store, store.begin() as connection:
            raw(connection).execute(
                f"insert into word select {first} + range, 'w' || {first} + range from range(500)"
            )
        found = before, path.read_bytes(), kept[-1]
        if shared(*found):
            return found
    raise AssertionError("no commit wrote over a block that it shares")


def rewritten(before: bytes, after: bytes) -> list[int]:
    """Return the offsets of blocks of the previous state that the commit has overwritten."""
    places = range(FIRST, min(len(before), len(after)), BLOCK)  # free blocks at the end are cut off
    return [at for at in places if before[at : at + BLOCK] != after[at : at + BLOCK]]


def shared(before: bytes, after: bytes, journal: bytes) -> list[int]:
    """Return the offsets of overwritten blocks that the previous state needs and the journal has."""
    found = block_restore.Journal.unpack(journal)
    assert found is not None
    kept = {FIRST + block.number * BLOCK for block in found.blocks}
    return [at for at in rewritten(before, after) if at in kept]


def tear(before: bytes, after: bytes, at: int, pages: int) -> bytes:
    """Return the file as a kill leaves it that interrupts the writing of a block after some pages."""
    return before[:at] + after[at : at + pages * PAGE] + before[at + pages * PAGE :]


def test_torn_blocks_are_put_back(path: Path, committed: tuple[bytes, bytes, bytes], nightly: bool) -> None:
    """DuckDB alone cannot open such a file; with the journal, it is as before the commit."""
    before, after, journal = committed
    path.write_bytes(before)
    expected = words(path)
    needed = shared(before, after, journal)
    unreadable = 0
    for at in rewritten(before, after):
        for pages in (1, 2, 7, 40, 63) if nightly else (7,):
            path.write_bytes(tear(before, after, at, pages))
            try:
                duckdb.connect(str(path), read_only=True).close()
            except duckdb.Error:
                unreadable += 1
            block_journal.journal_of(path).write_bytes(journal)
            assert words(path) == expected
            assert path.read_bytes()[at : at + BLOCK] == before[at : at + BLOCK] or at not in needed
            assert not block_journal.journal_of(path).exists()

    assert unreadable


def test_a_journal_of_a_commit_that_ended_is_removed(
    path: Path, committed: tuple[bytes, bytes, bytes]
) -> None:
    """The header has changed: the blocks in the journal belong to a state that is not needed any more."""
    _, after, journal = committed
    block_journal.journal_of(path).write_bytes(journal)

    words(path)

    assert path.read_bytes() == after
    assert not block_journal.journal_of(path).exists()


@pytest.mark.parametrize("size", [0, 20, 1000, -1])
def test_a_journal_that_is_not_whole_is_removed(
    path: Path, committed: tuple[bytes, bytes, bytes], size: int
) -> None:
    """A kill interrupted the writing of the journal: the commit had not begun."""
    before, _, journal = committed
    path.write_bytes(before)
    block_journal.journal_of(path).write_bytes(journal[:size])

    words(path)

    assert path.read_bytes() == before
    assert not block_journal.journal_of(path).exists()


def test_another_file_in_this_place_is_left_alone(path: Path, committed: tuple[bytes, bytes, bytes]) -> None:
    """The journal of a store does not change a backup in its place whose header has the same number."""
    before, _, journal = committed
    found = block_restore.Journal.unpack(journal)
    assert found is not None
    block = found.blocks[0]
    part = next(n for n in range(block_restore.PARTS) if block.used >> n & 1)
    at = FIRST + block.number * found.size + 8 + part * 4088 + 100
    other = before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :]
    path.write_bytes(other)
    block_journal.journal_of(path).write_bytes(journal)

    with suppress(StoreError):  # this file is damaged
        words(path)

    assert path.read_bytes() == other
    assert not block_journal.journal_of(path).exists()


def test_a_store_in_use_is_left_alone(path: Path, committed: tuple[bytes, bytes, bytes]) -> None:
    """The journal of a process that is committing belongs to it."""
    _, after, journal = committed
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "open\n"
        block_journal.journal_of(path).write_bytes(journal)
        with pytest.raises(StoreError, match="in use by another process"):
            Store(path)

        assert block_journal.journal_of(path).read_bytes() == journal
        holder.stdin.close()
    assert path.read_bytes() == after


def test_put_back_in_a_process_of_its_own(path: Path, committed: tuple[bytes, bytes, bytes]) -> None:
    """Blocks are restored, too, if the store is or may be open in this process."""
    before, after, journal = committed
    at = shared(before, after, journal)[0]
    path.write_bytes(tear(before, after, at, 2))
    block_journal.journal_of(path).write_bytes(journal)

    assert block_journal.alone(block_journal.RESTORE, str(path), str(block_journal.journal_of(path))) == ""

    assert path.read_bytes() == before
    assert not block_journal.journal_of(path).exists()
    assert "No such file" in block_journal.alone(
        block_journal.RESTORE, str(path.with_name("none")), str(path)
    )
    assert block_journal.alone("import os; os._exit(3)") == "it ended with 3"


def test_nothing_is_left_beside_a_store(path: Path) -> None:
    """A commit removes its journal, and keeps DuckDB's lock: another process cannot open the store."""
    code = "import duckdb, sys; duckdb.connect(sys.argv[1])"
    with Store(path) as store:
        with store.begin() as connection:
            raw(connection).execute("insert into word values (5000, 'x')")
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)

    assert "Could not set lock" in done.stderr
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_interrupted_commit_leaves_no_journal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        assert block_journal.journal_of(path).exists()
        raise KeyboardInterrupt

    with Store(path) as store, store.begin() as connection:
        raw(connection).execute("delete from word where id > 30")
    expected = words(path)
    monkeypatch.setattr(engine.DuckDialect, "do_commit", interrupted)
    with pytest.raises(KeyboardInterrupt), Store(path) as store, store.begin() as connection:
        raw(connection).execute("insert into word select 1000 + range, 'w' || range from range(500)")

    assert not block_journal.journal_of(path).exists()
    assert words(path) == expected


def test_a_store_that_has_failed_for_good_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken database does not even list its shared blocks; an error at that must not keep it open for ever."""

    def failed(*_: object) -> None:
        raise duckdb.FatalException("database has been invalidated")

    store = Store(path)
    log_of(path).touch()
    monkeypatch.setattr(block_journal, "keep", failed)
    store.close()
    monkeypatch.undo()

    Store(path).close()


def test_who_may_not_write_the_store_leaves_its_journal(
    path: Path, committed: tuple[bytes, bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal belongs to a living writer, or does no harm; a store that needs it is refused."""
    before, after, journal = committed
    place = block_journal.journal_of(path)
    place.write_bytes(journal)
    monkeypatch.setattr(os, "access", lambda asked, mode: not (Path(asked) == path and mode == os.W_OK))

    words(path)
    assert place.read_bytes() == journal

    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    at = shared(before, after, journal)[0]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match="in use by another process"):
            words(path)
        holder.stdin.close()
    path.write_bytes(tear(before, after, at, 2))
    with pytest.raises(StoreError, match="a crash left a commit half written, which cannot be taken back"):
        words(path)
    assert place.read_bytes() == journal


def test_the_name_of_a_journal_is_on_the_disk_before_the_commit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both the content of the journal and the folder with its name are synced before the commit."""
    told: list[str] = []
    commit = engine.DuckDialect.do_commit

    def synced(folder: Path) -> None:
        assert block_journal.journal_of(path).exists()
        told.append(f"synced {folder.name == path.parent.name}")

    def committing(*given: Any) -> None:
        told.append("commit")
        commit(*given)

    with Store(path) as store, store.begin() as connection:
        raw(connection).execute("delete from word where id > 30")
    monkeypatch.setattr(files, "sync_folder", synced)
    monkeypatch.setattr(engine.DuckDialect, "do_commit", committing)
    with Store(path) as store, store.begin() as connection:
        raw(connection).execute("insert into word values (5000, 'x')")

    # DuckDB writes a log, whose checkpoint at the end keeps blocks, too.
    until = told.index("commit")
    assert told[until - 1] == "synced True"
