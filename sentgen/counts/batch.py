"""What every ingestion does: batches in bounds, one writer, and the rows of corpus, source and rejections."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Protocol, Self

from sqlalchemy import Connection, Row, insert, select

from sentgen.corpus.sources import place_of
from sentgen.counts.draft import Draft
from sentgen.counts.shares import COUNTING_SHARE as COUNTING_SHARE
from sentgen.counts.shares import DATABASE_SHARE as DATABASE_SHARE
from sentgen.counts.spill import NgramCounter
from sentgen.counts.writer import USUAL, SourceTally, Writer
from sentgen.errors import Rejection
from sentgen.schema import Store, folders
from sentgen.schema.store import now
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables.fidelity import source_layout

#: Small sources share a transaction until it holds so many tokens or lasts so many seconds.
BATCH_TOKENS = 2_000_000
BATCH_SECONDS = 10.0


class CorpusLike(Protocol):
    """What a writer has to know of a corpus: its row, or what will be its row."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def lowercase(self) -> bool:
        """Whether forms are lower-cased."""

    @property
    def max_order(self) -> int:
        """The highest order of n-grams that is counted."""

    @property
    def function_heads(self) -> bool:
        """Whether function words head their phrases."""


@dataclass(slots=True)
class BatchSummary:
    """What a batch, or a whole ingestion, did."""

    corpus: str
    unchanged: int = 0
    sentences: int = 0
    seconds: float = 0.0
    rejections: list[Rejection] = field(default_factory=list, repr=False)

    def add(self, batch: Self) -> None:
        """Add what a batch did, once it is committed."""
        for one in fields(self):
            if one.name != "corpus":
                setattr(self, one.name, getattr(self, one.name) + getattr(batch, one.name))


def spill_folder(store: Store) -> Path:
    """Return where counting spills what memory does not hold."""
    return Path(f"{store.path}.runs")


def clear_spilled(store: Store) -> None:
    """Remove what a killed process spilled: the writer of a store is alone, nobody else uses it."""
    folders.remove(spill_folder(store))


def open_writer(connection: Connection, store: Store, corpus: CorpusLike, *, drafts: bool = False) -> Writer:
    """Return a writer for a corpus, in the transaction of the connection, or (``drafts``) before it."""
    folder = spill_folder(store)
    return Writer(
        connection,
        corpus.id,
        corpus.lowercase,
        corpus.max_order,
        corpus.function_heads,
        _counting_memory(store),
        folder,
        Draft(folder) if drafts else None,
    )


def open_counter(store: Store, corpus: Row[tuple[object, ...]]) -> NgramCounter:
    """Return an empty counter of the n-grams of a corpus."""
    return NgramCounter(highest=corpus.max_order, memory=_counting_memory(store), folder=spill_folder(store))


def _counting_memory(store: Store) -> int:
    # The store's limit is DuckDB's share already.
    return int(store.memory_limit * COUNTING_SHARE / DATABASE_SHARE)


def find_corpus(connection: Connection, name: str) -> Row[tuple[object, ...]] | None:
    """Return the row of a corpus, if there is one."""
    return connection.execute(select(tables.corpus).where(tables.corpus.c.name == name)).first()


def add_source(
    connection: Connection, corpus_id: int, tally: SourceTally, *, form: str, version: str, digest: str
) -> None:
    """Store a source with what it has yielded.

    Args:
        connection: the transaction.
        corpus_id: the corpus that it belongs to.
        tally: its number, its name and its figures.
        form: name of the format, as its reader calls it.
        version: version of the reader.
        digest: SHA-256 of its bytes.
    """
    row = {
        "id": tally.id,
        "corpus_id": corpus_id,
        "path": place_of(tally.name),
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
    if tally.layout != USUAL:
        layout = {"corpus_id": corpus_id, "source_id": tally.id} | asdict(tally.layout)
        connection.execute(insert(source_layout), layout)


def rejection_row(corpus_id: int, rejection: Rejection) -> dict[str, object]:
    """Return what was refused as a row, without the time."""
    return {
        "corpus_id": corpus_id,
        "path": place_of(rejection.path),
        "line": rejection.line,
        "sent_id": rejection.sent_id,
        "check_name": rejection.check,
        "message": rejection.message,
    }
