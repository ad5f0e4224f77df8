"""The log of an ingestion, cut anywhere: a transaction is restored completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from large_texts import ROW_GROUP, write_pairs, write_treebank

from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.models import build
from sentgen.schema import Store, engine, metadata
from sentgen.schema.durability import block_journal
from sentgen.schema.durability.duckdb_faults import log_of
from sentgen.schema.engine import raw

pytestmark = pytest.mark.slow
MEMORY = 2**30
#: A log that only announces a checkpoint of its store has fewer bytes; 97 were seen.
MARKER = 128
ROWS = ", ".join(f"(select count(*) from {table.name})" for table in metadata.sorted_tables)

State = tuple[int, ...]


@dataclass(frozen=True)
class Crashed:
    """A store with a log of four transactions, and how many rows each table had before and after each."""

    path: Path
    log: bytes
    states: list[State]
    sources: tuple[Path, Path]

    def cut(self, length: int) -> None:
        """Cut the log to its first bytes."""
        log_of(self.path).write_bytes(self.log[:length])

    def cuts(self) -> list[int]:
        """Return the lengths to test: every 1/200 of the log, and each of its last 64 bytes."""
        size = len(self.log)
        return sorted({size * part // 200 for part in range(201)} | set(range(size - 64, size)))


def rows_of(store: Store) -> State:
    """Return the number of rows of each table."""
    with store.connect() as connection:
        return tuple(raw(connection).execute(f"select {ROWS}").fetchone() or ())


def found(path: Path) -> State:
    """Return the number of rows of each table that a reader finds; the log stays."""
    opened = engine.open_engine(path, read_only=True, memory_limit=MEMORY, threads=1)
    try:
        with opened.connect() as connection:
            return tuple(raw(connection).execute(f"select {ROWS}").fetchone() or ())
    finally:
        opened.dispose()


def logged(patched: pytest.MonkeyPatch) -> None:
    """Make commits write the log, as DuckDB does by default."""
    patched.setattr(engine, "WITHOUT_LOG", {"checkpoint_threshold": "1TB"})


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crashed]:
    """A store of tokens, n-grams and trees, of pairs, and of a model, each with more than one row group."""
    folder = tmp_path_factory.mktemp("torn")
    path = folder / "torn.duckdb"
    sources = write_treebank(folder / "t.conllu", 10_000), write_pairs(folder / "p.jsonl", 20, words=200)
    Store(path, create=True).close()
    with pytest.MonkeyPatch.context() as patched:
        logged(patched)
        # Sharing closes the file, at which DuckDB would apply the log to it.
        patched.setattr(Store, "downgrade_to_read", lambda store, **_: None)
        with Store(path, memory_limit=MEMORY) as store:
            with store.connect() as connection:
                raw(connection).execute("pragma disable_checkpoint_on_shutdown")
            states = [rows_of(store)]
            ingest(store, [str(sources[0])], Settings("trees"))
            states.append(rows_of(store))
            ingest_pairs(store, [str(sources[1])], "pairs")
            states.append(rows_of(store))
            build(store, "lm", ["trees"], order=3)
            states.append(rows_of(store))
    yield Crashed(path, log_of(path).read_bytes(), states, sources)
    shutil.rmtree(folder)


def test_the_log_is_one_of_large_transactions(crashed: Crashed) -> None:
    """The transactions are so large that DuckDB wrote most rows of all three into the file, not into the log."""
    last = dict(zip((table.name for table in metadata.sorted_tables), crashed.states[-1], strict=True))

    assert len({*crashed.states}) == 4
    for table in ("token", "ngram_2", "ngram_3", "dependency_event", "posting", "model_ngram"):
        assert last[table] > ROW_GROUP, table


def test_every_cut_leaves_whole_transactions(crashed: Crashed, nightly: bool) -> None:
    """A reader finds the state after some transaction, a later one for a longer log."""
    seen = []
    cuts = [*crashed.cuts()]
    for length in cuts if nightly else [*cuts[:-1:14], cuts[-1]]:
        crashed.cut(length)
        seen.append(crashed.states.index(found(crashed.path)))

    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2, 3}


def test_a_large_transaction_leaves_no_log(
    crashed: Crashed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No data are written to the log; 2.0.1 only announces its checkpoints there."""
    path = tmp_path / "store.duckdb"
    logs: list[Path] = []
    kept = block_journal.keep

    def keep(duck: duckdb.DuckDBPyConnection, store: Path) -> None:
        """Keep the log of each commit under a second name."""
        kept(duck, store)
        logs.append(tmp_path / f"log {len(logs)}")
        log_of(path).touch()
        os.link(log_of(path), logs[-1])

    # The file is not opened again either, which would remove a log.
    monkeypatch.setattr(Store, "downgrade_to_read", lambda store, **_: None)
    with Store(path, create=True, memory_limit=MEMORY) as store:
        monkeypatch.setattr(block_journal, "keep", keep)
        ingest(store, [str(crashed.sources[0])], Settings("trees"))
        ingest_pairs(store, [str(crashed.sources[1])], "pairs")
        build(store, "lm", ["trees"], order=3)
        monkeypatch.undo()
        assert rows_of(store) == crashed.states[-1]
    assert len(logs) >= 3
    assert [size for log in logs if (size := log.stat().st_size) > MARKER] == []
    assert len(crashed.log) > 100 * MARKER  # of the same work where it is logged
