"""Ingest documents with their abstracts: a corpus of kind `pairs`, in bounded batches, every pair once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Row, insert, select, update

from sentgen.corpus.pair_readers import PairFile, PairReader, pair_files
from sentgen.corpus.pair_text import VERSION, PairSettings, RawPair, TokenizedPair
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source, place_of
from sentgen.counts import corpora, segments
from sentgen.counts.batch import (
    BATCH_SECONDS,
    BATCH_TOKENS,
    BatchSummary,
    add_source,
    clear_spilled,
    find_corpus,
    open_writer,
    rejection_row,
)
from sentgen.counts.settings import Settings, add_corpus
from sentgen.counts.writer import SourceTally
from sentgen.errors import InputError, Rejection
from sentgen.schema import Store
from sentgen.schema.store import next_id, now
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables.alignment import pair as pair_table

#: What `corpus.kind` says of a corpus of pairs.
KIND = "pairs"
ON_ERROR = ("raise", "skip")
#: Pairs are searched by words and frequencies; longer n-grams of them are counted on request.
ORDER = 1

#: Called with the name of the file being read, how many of its pairs were seen so far, and the fraction read
#: of all files together.
Progress = Callable[[str, int, float], None]


@dataclass(slots=True)
class PairSummary(BatchSummary):
    """What an ingestion of pairs did."""

    pairs: int = 0
    document_words: int = 0
    abstract_words: int = 0


def ingest_pairs(
    store: Store,
    paths: Sequence[str],
    corpus: str,
    *,
    settings: PairSettings | None = None,
    licence: str | None = None,
    order: int = ORDER,
    on_error: str = "raise",
    progress: Progress | None = None,
) -> PairSummary:
    """Read pairs, and store those that the corpus does not have, a batch a transaction.

    A pair is known by the SHA-256 of its name, its texts and the settings: a second run is a no-op, and a
    killed one loses at most the batch in flight. Both texts become documents of the corpus.

    Args:
        store: where they go.
        paths: see `sentgen.corpus.pair_readers`.
        corpus: name of the corpus, which is made if there is none.
        settings: how pairs are found and how texts become words.
        licence: recorded with a new corpus.
        order: highest order of n-grams to count, in a new corpus.
        on_error: ``raise`` stops at a bad pair, ``skip`` records it and goes on.
        progress: called after every pair.

    Raises:
        InputError: a path, a pair or a setting is wrong.
    """
    new = Settings(corpus, licence=licence, order=order, kind=KIND)
    if on_error not in ON_ERROR:
        raise InputError(f"--on-error {on_error!r} is none of: {', '.join(ON_ERROR)}")
    began = time.monotonic()
    files = pair_files(paths)
    run = _Ingestion(store, new, settings or PairSettings(), on_error == "skip", progress)
    run.size = sum(file.size for file in files)
    run.read(files)
    with store.begin() as connection:
        segments.merge_small(connection, corpora.find(connection, corpus).id)
    run.total.seconds = time.monotonic() - began
    return run.total


class _Ingestion:
    def __init__(
        self,
        store: Store,
        new: Settings,
        settings: PairSettings,
        skip: bool,
        progress: Progress | None,
    ) -> None:
        self.store, self.new, self.settings, self.skip = store, new, settings, skip
        self.progress = progress or (lambda *_: None)
        self.total = PairSummary(new.corpus)
        #: Bytes of all files, and of those that were read.
        self.size = self.finished = 0
        #: Name to hash of the pairs of the corpus, those of the batch in flight included.
        self.known: dict[str, str] | None = None
        self.digests: dict[Source, str] = {}
        clear_spilled(store)

    def read(self, files: Sequence[PairFile]) -> None:
        """Store the pairs of all files, in as many transactions as they need."""
        found = self._found(files)
        more = True
        while more:
            done = PairSummary(self.total.corpus)
            with self.store.begin(in_order=True) as connection:
                more = self._batch(connection, found, done)
            self.total.add(done)

    def _found(self, files: Sequence[PairFile]) -> Iterator[tuple[PairReader, int, RawPair | Rejection]]:
        """Yield what the files hold, each with the reader of its file and its number in it."""
        for file in files:
            reader, number = file.read(self.settings), 0
            for number, one in enumerate(reader, 1):
                yield reader, number, one
            if not number:
                raise InputError("has no pairs", path=file.name)
            self.finished += file.size

    def _batch(
        self,
        connection: Connection,
        found: Iterator[tuple[PairReader, int, RawPair | Rejection]],
        done: PairSummary,
    ) -> bool:
        """Store pairs until there are many or none; say whether there may be more."""
        began = time.monotonic()
        batch = _Batch(connection, self, done)
        try:
            more = False
            for reader, number, one in found:
                rejection = one if isinstance(one, Rejection) else batch.add(one)
                if rejection is not None:
                    if not self.skip:
                        raise rejection.as_error("pair")
                    done.rejections.append(rejection)
                read = (self.finished + reader.bytes_read) / self.size if self.size else 1.0
                self.progress(reader.file.name, number, read)
                words = done.document_words + done.abstract_words
                # After the pair: a batch holds whole pairs.
                if words >= BATCH_TOKENS or time.monotonic() - began > BATCH_SECONDS:
                    more = True
                    break
            batch.finish()
        finally:
            batch.close()
        return more

    def digest(self, source: Source) -> str:
        """Return the hash of a source, which is read for it once."""
        if source not in self.digests:
            self.digests[source] = source.sha256()
        return self.digests[source]


class _Batch:
    """One transaction."""

    def __init__(self, connection: Connection, run: _Ingestion, done: PairSummary) -> None:
        self.connection, self.run, self.done = connection, run, done
        corpus = _corpus(connection, run.new)
        self.corpus_id = int(corpus.id)
        self.writer = open_writer(connection, run.store, corpus)
        self.first_document = next_id(connection, tables.document)
        self.first_pair = next_id(connection, pair_table)
        # Once for all batches: this process is the only writer.
        if run.known is None:
            columns = pair_table.c
            rows = select(columns.name, columns.sha256).where(columns.corpus_id == self.corpus_id)
            run.known = {row.name: row.sha256 for row in connection.execute(rows)}
        self.known = run.known
        self.tallies: dict[Source, SourceTally] = {}
        self.rows: list[dict[str, object]] = []

    def add(self, raw: RawPair) -> Rejection | None:
        """Store a pair, unless the corpus has it; return what is wrong with it."""
        settings = self.run.settings
        digest = raw.sha256(settings)
        if raw.key in self.known:
            if self.known[raw.key] == digest:
                self.done.unchanged += 1
                return None
            message = (
                f"the corpus has another pair {raw.key!r}, or had it with other settings; names must differ, "
                f"and a corrected pair goes in after: sentgen corpora remove {self.run.new.corpus}"
            )
            return Rejection(raw.document_source.name, raw.line, raw.key, "pair-name", message)
        pair = raw.tokenised(settings)
        if isinstance(pair, Rejection):
            return pair
        # Only what is stored: a refused pair may come again, mended.
        self.known[raw.key] = digest
        self._store(raw, pair, digest)
        return None

    def _store(self, raw: RawPair, pair: TokenizedPair, digest: str) -> None:
        done = self.done
        # The writer numbers documents as they come: two a pair, the document first.
        document = self.first_document + 2 * len(self.rows)
        document_words = self._text(raw.document_source, f"{pair.key}.document", pair.document)
        abstract_words = self._text(raw.abstract_source, f"{pair.key}.abstract", pair.abstract)
        row = {
            "id": self.first_pair + len(self.rows),
            "corpus_id": self.corpus_id,
            "name": pair.key,
            "document_id": document,
            "abstract_id": document + 1,
            "document_words": document_words,
            "abstract_words": abstract_words,
            "sha256": digest,
        }
        self.rows.append(row)
        done.pairs += 1
        done.sentences += len(pair.document) + len(pair.abstract)
        done.document_words += document_words
        done.abstract_words += abstract_words

    def _text(self, source: Source, name: str, sentences: Sequence[Sentence]) -> int:
        """Write one text as a document and return its number of words."""
        tally = self.tallies.get(source) or self._tally(source)
        # The writer buffers across sources, so that it gets a tally that nobody reads.
        self.writer.start_source(SourceTally(tally.id, tally.name))
        words = 0
        for place, sentence in enumerate(sentences):
            sentence.document = None if place else name
            self.writer.add(sentence)
            words += len(sentence.forms)
        tally.sentences += len(sentences)
        tally.tokens += words
        return words

    def _tally(self, source: Source) -> SourceTally:
        """Return the tally of a source, whose row is made if the corpus does not have it."""
        digest = self.run.digest(source)
        columns = tables.source.c
        paths = (place_of(source.name), source.name)
        same = select(columns.id).where(
            columns.corpus_id == self.corpus_id, columns.path.in_(paths), columns.sha256 == digest
        )
        number = self.connection.execute(same).scalar()
        # Else a batch before this one, or an earlier run, made its row.
        if number is None:
            number = next_id(self.connection, tables.source)
            empty = SourceTally(number, source.name)
            add_source(self.connection, self.corpus_id, empty, form=KIND, version=VERSION, digest=digest)
        self.tallies[source] = SourceTally(number, source.name)
        return self.tallies[source]

    def finish(self) -> None:
        """Write what is buffered, the pairs, and the totals of the sources."""
        if self.rows:
            self.writer.finish(segments.next_segment(self.connection))
            self.connection.execute(insert(pair_table), self.rows)
        columns = tables.source.c
        for tally in self.tallies.values():
            grown = {
                # Added, not set: a file may lie in several batches.
                "sentences": columns.sentences + tally.sentences,
                "tokens": columns.tokens + tally.tokens,
            }
            self.connection.execute(update(tables.source).where(columns.id == tally.id).values(grown))
        self._record()

    def _record(self) -> None:
        """Store what was refused, unless an earlier run did."""
        for one in self.done.rejections:
            row = rejection_row(self.corpus_id, one)
            columns = tables.rejection.c
            same = select(columns.line).where(*(columns[name] == value for name, value in row.items()))
            if self.connection.execute(same).first() is None:
                self.connection.execute(insert(tables.rejection), row | {"rejected_at": now()})

    def close(self) -> None:
        """Remove what was spilled."""
        self.writer.close()


def _corpus(connection: Connection, new: Settings) -> Row[tuple[object, ...]]:
    """Return a corpus of pairs, made now if it is new."""
    found = find_corpus(connection, new.corpus)
    if found is None:
        return add_corpus(connection, new)
    if found.kind != KIND:
        raise InputError(
            f"the corpus {new.corpus!r} is of kind {found.kind}, and pairs need one of their own; "
            "choose another --corpus"
        )
    return found
