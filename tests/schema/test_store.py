"""Opening, writing and closing a store."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sqlalchemy import select
from sqlalchemy.engine.interfaces import CacheStats

from sentgen.errors import StoreError
from sentgen.schema import Store
from sentgen.schema.durability import block_journal
from sentgen.schema.store import append, raw
from sentgen.schema.tables.corpus import word


def test_appended_rows_are_let_go_within_the_transaction(tmp_path: Path) -> None:
    """A transaction may append far more than fits into memory: appended rows are released at once."""
    rows = 200_000
    with Store(tmp_path / "s.duckdb", create=True) as store, store.begin() as connection:
        before = pa.total_allocated_bytes()
        for number in range(4):
            ids = pa.array(np.arange(rows, dtype=np.int32).tolist(), pa.int32())
            append(connection, "word", pa.table({"id": ids, "form": pa.array([f"{number}"] * rows)}))
            del ids

        assert pa.total_allocated_bytes() - before < 4 * rows


def test_rows_in_order_are_written_on_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread also makes the commit, which on two threads of a busy machine took twice the CPU time."""
    threads, told = "select current_setting('threads')", []
    kept = block_journal.keep

    def told_at_commit(duck: duckdb.DuckDBPyConnection, path: Path) -> None:
        told.append(duck.execute(threads).fetchone())
        kept(duck, path)

    with Store(tmp_path / "s.duckdb", create=True, threads=2) as store:
        monkeypatch.setattr(block_journal, "keep", told_at_commit)
        with store.begin(in_order=True) as connection:
            raw(connection).execute("insert into word values (4, 'four')")
        with store.connect() as connection:
            told.append(raw(connection).execute(threads).fetchone())

    # DuckDB writes a log, whose checkpoint at the end backs up blocks, too.
    assert (told[0], set(told[1:])) == ((1,), {(2,)})


def test_what_is_compiled_for_a_store_is_there_for_the_next(tmp_path: Path) -> None:
    """A second store reuses compiled statements; it has its own engine, and returns its own rows."""
    found = []
    for form in ("one", "two"):
        with Store(tmp_path / f"{form}.duckdb", create=True) as store:
            with store.begin() as connection:
                raw(connection).execute("insert into word values (4, ?)", [form])
            with store.connect() as connection:
                answer = connection.execute(select(word.c.form).where(word.c.id == 4))
                found.append((answer.scalar(), answer.context.cache_hit))

    assert [form for form, _ in found] == ["one", "two"]
    assert found[1][1] is CacheStats.CACHE_HIT


def test_an_error_on_one_thread_is_what_it_was(tmp_path: Path) -> None:
    """After an error, all threads are restored, though the failed transaction takes no statement; the error stays."""
    threads = "select current_setting('threads')"
    with Store(tmp_path / "s.duckdb", create=True) as store:
        with store.connect() as connection:
            before = raw(connection).execute(threads).fetchone()
        with (
            pytest.raises(StoreError, match="full of words"),
            store.begin(in_order=True) as connection,
        ):
            raw(connection).execute("select error('full of words')")

        with store.connect() as connection:
            assert raw(connection).execute(threads).fetchone() == before


@pytest.mark.usefixtures("made_stores")
@pytest.mark.parametrize("link", [False, True])
def test_a_new_store_goes_if_nothing_was_written_before_an_error(tmp_path: Path, link: bool) -> None:
    """An error before the first write removes a new store, but not a link to its place."""
    path = tmp_path / "made.duckdb"
    if link:
        (tmp_path / "link.duckdb").symlink_to(path)
    with pytest.raises(StoreError), Store(tmp_path / "link.duckdb" if link else path, create=True):
        raise StoreError("no such file")

    assert [file.name for file in tmp_path.iterdir()] == (["link.duckdb"] if link else [])


def written(path: Path, how: str) -> None:
    """Write a word to a store, unless ``how`` says otherwise, and end with an error."""
    insert = "insert into word values (4, 'four')"
    with Store(path, create=True) as store:
        if how == "begin":
            with store.begin() as connection:
                raw(connection).execute(insert)
        elif how == "second":
            with store.second() as duck:
                duck.execute(insert)
        raise StoreError("no such file")


@pytest.mark.usefixtures("made_stores")
@pytest.mark.parametrize("how", ["begin", "second", "was there"])
def test_a_store_stays_that_was_written_or_not_made_here(tmp_path: Path, how: str) -> None:
    """A store that existed before, or that was written to, stays after an error."""
    path = tmp_path / "s.duckdb"
    if how == "was there":
        Store(path, create=True).close()
    with pytest.raises(StoreError):
        written(path, how)

    with Store(path) as store, store.connect() as connection:
        there = raw(connection).execute("select count(*) from word where id = 4").fetchone()
    assert there == ((0,) if how == "was there" else (1,))
