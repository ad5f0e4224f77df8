"""The ways in and out of a store."""

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
    """A transaction may append far more than fits in memory: Arrow holds no rows that were appended."""
    rows = 200_000
    with Store(tmp_path / "s.duckdb", create=True) as store, store.begin() as connection:
        before = pa.total_allocated_bytes()
        for number in range(4):
            ids = pa.array(np.arange(rows, dtype=np.int32).tolist(), pa.int32())
            append(connection, "word", pa.table({"id": ids, "form": pa.array([f"{number}"] * rows)}))
            del ids

        assert pa.total_allocated_bytes() - before < 4 * rows


def test_rows_in_order_are_written_on_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when they are committed: on a busy machine that took twice the CPU time on two threads."""
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

    # DuckDB writes a log, whose checkpoint at the end keeps blocks, too.
    assert (told[0], set(told[1:])) == ((1,), {(2,)})


def test_what_is_compiled_for_a_store_is_there_for_the_next(tmp_path: Path) -> None:
    """Which has an engine of its own, and answers with its own rows."""
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
    """A failed transaction takes no statement; all threads come back, and the error stays itself."""
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
    """What was asked for was refused, and needs no store; a link to where it would be stays."""
    path = tmp_path / "made.duckdb"
    if link:
        (tmp_path / "link.duckdb").symlink_to(path)
    with pytest.raises(StoreError), Store(tmp_path / "link.duckdb" if link else path, create=True):
        raise StoreError("no such file")

    assert [file.name for file in tmp_path.iterdir()] == (["link.duckdb"] if link else [])


def written(path: Path, how: str) -> None:
    """Write a word to a store, if that is asked for, and end with an error."""
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
    """Whatever error comes after."""
    path = tmp_path / "s.duckdb"
    if how == "was there":
        Store(path, create=True).close()
    with pytest.raises(StoreError):
        written(path, how)

    with Store(path) as store, store.connect() as connection:
        there = raw(connection).execute("select count(*) from word where id = 4").fetchone()
    assert there == ((0,) if how == "was there" else (1,))
