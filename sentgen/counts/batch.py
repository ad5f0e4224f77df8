"""What every ingestion does: batches in bounds, one writer, and the rows of corpus, source and rejections."""

from __future__ import annotations

import shutil
from pathlib import Path

from sqlalchemy import Connection, Row, insert, select

from sentgen.counts.writer import SourceTally, Writer
from sentgen.errors import Rejection
from sentgen.schema import Store
from sentgen.schema import corpus as tables
from sentgen.schema.store import next_id, now

#: Small sources share a transaction until it holds so many tokens or lasts so many seconds.
BATCH_TOKENS = 2_000_000
BATCH_SECONDS = 10.0

#: Share of the memory limit that counting may take; DuckDB has its own (`database_share`).
COUNTING_SHARE = 0.35
DATABASE_SHARE = 0.4


def spill_folder(store: Store) -> Path:
    """Return where counting spills what memory does not hold."""
    return Path(f"{store.path}.runs")


def clear_spilled(store: Store) -> None:
    """Remove what a killed process spilled: the writer of a store is alone, nobody else uses it."""
    shutil.rmtree(spill_folder(store), ignore_errors=True)


def open_writer(connection: Connection, store: Store, corpus: Row[tuple[object, ...]]) -> Writer:
    """Return a writer for a corpus, in the transaction of the connection."""
    return Writer(
        connection,
        corpus.id,
        corpus.lowercase,
        corpus.max_order,
        corpus.function_heads,
        int(store.memory_limit * COUNTING_SHARE / DATABASE_SHARE),
        spill_folder(store),
    )


def find_corpus(connection: Connection, name: str) -> Row[tuple[object, ...]] | None:
    """Return the row of a corpus, if there is one."""
    return connection.execute(select(tables.corpus).where(tables.corpus.c.name == name)).first()


def add_corpus(
    connection: Connection,
    name: str,
    *,
    kind: str,
    licence: str | None,
    order: int,
    lowercase: bool = False,
    tags: str = "xpos",
    function_heads: bool = True,
) -> Row[tuple[object, ...]]:
    """Make a corpus and return its row."""
    values = {
        "id": next_id(connection, tables.corpus),
        "name": name,
        "kind": kind,
        "licence": licence,
        "lowercase": lowercase,
        "max_order": order,
        "tags": tags,
        "function_heads": function_heads,
        "created_at": now(),
    }
    connection.execute(insert(tables.corpus), values)
    return connection.execute(select(tables.corpus).where(tables.corpus.c.id == values["id"])).one()


def add_source(
    connection: Connection, corpus_id: int, tally: SourceTally, *, form: str, version: str, digest: str
) -> None:
    """Store a source with what it has yielded.

    Args:
        connection: the transaction.
        corpus_id: the corpus that it belongs to.
        tally: its number, its path and its figures.
        form: name of the format, as its reader calls it.
        version: version of the reader.
        digest: SHA-256 of its bytes.
    """
    row = {
        "id": tally.id,
        "corpus_id": corpus_id,
        "path": tally.path,
        "sha256": digest,
        "format": form,
        "reader_version": version,
        "sentences": tally.sentences,
        "tokens": tally.tokens,
        "rejected": tally.rejected,
        "cyclic": tally.cyclic,
        "empty_nodes": tally.empty_nodes,
        "ingested_at": now(),
    }
    connection.execute(insert(tables.source), row)


def rejection_row(corpus_id: int, rejection: Rejection) -> dict[str, object]:
    """Return what was refused as a row, without the time."""
    return {
        "corpus_id": corpus_id,
        "path": rejection.path,
        "line": rejection.line,
        "sent_id": rejection.sent_id,
        "check_name": rejection.check,
        "message": rejection.message,
    }
