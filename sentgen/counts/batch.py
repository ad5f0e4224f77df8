"""Ingestion in batches: draft sources while others read the store, then store a batch in one transaction."""

from __future__ import annotations

import gc
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Generic, Self, TypeVar

from sqlalchemy import Connection

from sentgen.counts.ngrams import NgramCounter
from sentgen.counts.settings import CountedCorpus, Settings
from sentgen.counts.writer import Writer
from sentgen.errors import Rejection
from sentgen.schema import Store, folders
from sentgen.schema.engine import COUNTING_SHARE, DATABASE_SHARE
from sentgen.schema.store import next_id
from sentgen.schema.tables import corpus as tables

#: Small sources share a transaction up to this many tokens and seconds.
BATCH_TOKENS = 2_000_000
BATCH_SECONDS = 10.0
#: New objects after which garbage is collected; with the default, that takes a tenth of the time.
_OBJECTS = 100_000
#: The largest file, in bytes, that counts as small.
_SMALL = 1 << 20


@dataclass(slots=True)
class BatchSummary:
    """Figures of a batch, or of a whole ingestion."""

    corpus: str
    unchanged: int = 0
    sentences: int = 0
    seconds: float = 0.0
    rejections: list[Rejection] = field(default_factory=list, repr=False)

    def add(self, batch: Self) -> None:
        """Add the figures of a batch that was committed."""
        for attribute in fields(self):
            if attribute.name != "corpus":
                setattr(self, attribute.name, getattr(self, attribute.name) + getattr(batch, attribute.name))


Item = TypeVar("Item")
Done = TypeVar("Done", bound=BatchSummary)


class Batch(ABC, Generic[Item, Done]):
    """The items of one transaction: drafted first, with a connection for reading, then written at once.

    Args:
        connection: a connection for reading the store, to which no other process writes.
        done: collects the figures of the batch.
    """

    def __init__(self, connection: Connection, store: Store, settings: Settings, done: Done) -> None:
        self.settings, self.done = settings, done
        self.corpus = CountedCorpus.of_settings(connection, settings)
        self.writer = Writer(connection, self.corpus, new_counter(store, self.corpus))
        self.next_source = next_id(connection, tables.source)
        #: Number of tokens that are drafted.
        self.tokens = 0

    @abstractmethod
    def read(self, connection: Connection, item: Item) -> None:
        """Draft an item."""

    @abstractmethod
    def write(self, connection: Connection) -> None:
        """Store all that was drafted, in the transaction of the connection."""

    def make_corpus(self, connection: Connection) -> None:
        """Store the corpus, if it is new."""
        if not self.corpus.stored:
            CountedCorpus.add(connection, self.settings, self.corpus.id)

    def close(self) -> None:
        """Remove drafts from the disk."""
        self.writer.close()


def ingest_batches(
    store: Store,
    items: Iterator[Item],
    begin: Callable[[Connection], Batch[Item, Done]],
    total: Done,
    *,
    small: bool = False,
) -> None:
    """Read items into batches, and store each batch in one transaction: all of it, or nothing.

    Others may read the store until there is something to write.

    Args:
        items: sources, or other items that are stored as a whole.
        total: the figures of each batch are added to it once the batch is stored.
        small: whether reading the first batch takes less time than giving the store to readers meanwhile.
    """
    # There is one writer: files in this folder were spilled by a process that was killed.
    folders.remove(spill_folder(store))
    with _rarely_collected():
        pending = next(items, None)
        while pending is not None:
            if not small:
                store.downgrade_to_read()
            small = False
            with ExitStack() as drafts:
                with store.connect() as connection:
                    batch = drafts.enter_context(closing(begin(connection)))
                    pending = _read(batch, connection, pending, items)
                # Rows keep their order in the file, as queries skip row groups by it (docs/design.md).
                with store.begin(in_order=True) as connection:
                    batch.write(connection)
            # After the commit, so that nothing is reported that was rolled back.
            total.add(batch.done)


def _read(
    batch: Batch[Item, Done], connection: Connection, first: Item, items: Iterator[Item]
) -> Item | None:
    """Draft items until there is enough for a transaction; return the next one."""
    began = time.monotonic()
    pending: Item | None = first
    while pending is not None:
        batch.read(connection, pending)
        # Before the test of size: the next batch begins with this item.
        pending = next(items, None)
        if batch.tokens >= BATCH_TOKENS or time.monotonic() - began > BATCH_SECONDS:
            break
    batch.writer.flush()
    return pending


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Collect garbage less often, as the many columns of sentences have no cycles."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def is_small(paths: Sequence[str]) -> bool:
    """Return whether reading a path takes less time than giving the store to readers meanwhile."""
    try:
        return len(paths) == 1 and Path(paths[0]).is_file() and Path(paths[0]).stat().st_size < _SMALL
    except (OSError, ValueError):
        return False


def spill_folder(store: Store) -> Path:
    """Return the folder to which an ingestion spills what memory does not hold."""
    return Path(f"{store.path}.runs")


def new_counter(store: Store, corpus: CountedCorpus) -> NgramCounter:
    """Return a counter of the n-grams of a corpus."""
    # The memory limit of the store is the share of DuckDB.
    memory = int(store.memory_limit * COUNTING_SHARE / DATABASE_SHARE)
    return NgramCounter(highest=corpus.max_order, memory=memory, folder=spill_folder(store))
