"""Ingest documents with their abstracts: a corpus of kind `pairs`, in bounded batches, every pair once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, insert, select, update

from sentgen.corpus.pair_readers import VERSION, PairFile, PairReader, PairSettings, RawPair
from sentgen.corpus.paths import place_of
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source
from sentgen.counts import corpora
from sentgen.counts.batch import Batch, BatchSummary, ingest_batches, is_small
from sentgen.counts.settings import PAIRS, Settings
from sentgen.counts.stored_sources import add_rejections, add_source
from sentgen.counts.writer import SourceTally
from sentgen.errors import InputError, Rejection, spell
from sentgen.schema import Store
from sentgen.schema.store import next_id
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables.alignment import pair as pair_table

ON_ERROR = ("raise", "skip")
#: Pairs are searched by words and frequencies; longer n-grams are counted only on request.
ORDER = 1

#: Called with the name of the file being read, the number of its pairs so far, and the fraction of all files
#: that was read.
Progress = Callable[[str, int, float], None]


@dataclass(slots=True)
class PairSummary(BatchSummary):
    """Numbers of pairs that an ingestion has stored, found unchanged, and rejected; and of their words."""

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
    """Read pairs, and store those that the corpus does not have, with a transaction for each batch.

    A pair is known by the SHA-256 of its name, its texts and the settings: a second run is a no-op, and a
    killed one loses at most the batch in flight. Both texts become documents of the corpus.

    Args:
        paths: files of pairs, see `sentgen.corpus.pair_readers`.
        corpus: name of the corpus, which is made if there is none.
        settings: how pairs are found and how texts become words.
        licence: licence of a new corpus.
        order: highest order of n-grams to count, in a new corpus.
        on_error: ``raise`` stops at a bad pair, ``skip`` records it and goes on.
        progress: called after every pair.

    Raises:
        InputError: a path, a pair or a setting is wrong.
    """
    corpus_settings = Settings(corpus, licence=licence, order=order, kind=PAIRS)
    if on_error not in ON_ERROR:
        raise InputError(f"{spell('on_error')} {on_error!r} is none of: {', '.join(ON_ERROR)}")
    began = time.monotonic()
    files = PairFile.of_paths(paths)
    run = _Run(
        store,
        corpus_settings,
        settings or PairSettings(),
        on_error == "skip",
        progress or (lambda *_: None),
        sum(file.size for file in files),
    )
    total = PairSummary(corpus)
    ingest_batches(
        store, run.pairs(files), lambda connection: _Pairs(connection, run), total, small=is_small(paths)
    )
    with store.begin() as connection:
        corpora.merge_small(connection, corpora.find(connection, corpus).id)
    total.seconds = time.monotonic() - began
    return total


@dataclass(frozen=True, slots=True)
class _ReadPair:
    """A pair as it was read, the ``number``-th of its file, or the reason why it was rejected."""

    reader: PairReader
    number: int
    pair: RawPair | Rejection
    #: Bytes of the files before this one.
    bytes_before: int


@dataclass(slots=True)
class _Run:
    """The settings of an ingestion, and what its batches share."""

    store: Store
    corpus: Settings
    settings: PairSettings
    skip: bool
    progress: Progress
    #: Bytes of all files.
    size: int
    #: Hashes of the pairs of the corpus by name, also of drafted ones; ``None`` until they are looked up.
    known: dict[str, str] | None = None
    digests: dict[Source, str] = field(default_factory=dict)

    def pairs(self, files: Sequence[PairFile]) -> Iterator[_ReadPair]:
        bytes_before = 0
        for file in files:
            reader, number = file.read(self.settings), 0
            for number, pair in enumerate(reader, 1):
                yield _ReadPair(reader, number, pair, bytes_before)
            if not number:
                raise InputError("has no pairs", path=file.name)
            bytes_before += file.size

    def digest(self, source: Source) -> str:
        """Return the hash of a source, which is read once for this."""
        if source not in self.digests:
            self.digests[source] = source.sha256()
        return self.digests[source]


class _Pairs(Batch[_ReadPair, PairSummary]):
    """The pairs of one transaction."""

    def __init__(self, connection: Connection, run: _Run) -> None:
        super().__init__(connection, run.store, run.corpus, PairSummary(run.corpus.corpus))
        self.run = run
        self.next_pair = next_id(connection, pair_table)
        # Looked up once for all batches, as this process is the only writer.
        if run.known is None:
            columns = pair_table.c
            rows = select(columns.name, columns.sha256).where(columns.corpus_id == self.corpus.id)
            run.known = {row.name: row.sha256 for row in connection.execute(rows)}
        self.known = run.known
        #: Tallies of the sources of this batch, and hashes of those that the store does not have.
        self.tallies: dict[Source, SourceTally] = {}
        self.new_sources: dict[Source, str] = {}
        self.rows: list[dict[str, object]] = []

    def read(self, connection: Connection, item: _ReadPair) -> None:
        """Draft a pair, unless the corpus has it."""
        rejection = item.pair if isinstance(item.pair, Rejection) else self._draft(connection, item.pair)
        if rejection is not None:
            if not self.run.skip:
                raise rejection.as_error("pair")
            self.done.rejections.append(rejection)
        fraction = (item.bytes_before + item.reader.bytes_read) / self.run.size if self.run.size else 1.0
        self.run.progress(item.reader.file.name, item.number, fraction)

    def _draft(self, connection: Connection, raw: RawPair) -> Rejection | None:
        """Draft a pair, unless the corpus has it; return the reason if the pair is rejected."""
        settings = self.run.settings
        digest = raw.sha256(settings)
        if raw.key in self.known:
            if self.known[raw.key] == digest:
                self.done.unchanged += 1
                return None
            message = (
                f"the corpus has another pair {raw.key!r}, or had it with other settings; names must differ, "
                f"and a corrected pair goes in after: sentgen corpora remove {self.settings.corpus}"
            )
            return Rejection(raw.document_source.name, raw.line, raw.key, "pair-name", message)
        pair = raw.tokenize(settings)
        if isinstance(pair, Rejection):
            return pair
        # Only now, as a corrected version of a rejected pair may follow in this run.
        self.known[raw.key] = digest
        document, document_words = self._draft_text(
            connection, raw.document_source, f"{pair.key}.document", pair.document
        )
        abstract, abstract_words = self._draft_text(
            connection, raw.abstract_source, f"{pair.key}.abstract", pair.abstract
        )
        row = {
            "id": self.next_pair + len(self.rows),
            "corpus_id": self.corpus.id,
            "name": pair.key,
            "document_id": document,
            "abstract_id": abstract,
            "document_words": document_words,
            "abstract_words": abstract_words,
            "sha256": digest,
        }
        self.rows.append(row)
        self.done.pairs += 1
        self.done.document_words += document_words
        self.done.abstract_words += abstract_words
        return None

    def _draft_text(
        self, connection: Connection, source: Source, name: str, sentences: Sequence[Sentence]
    ) -> tuple[int, int]:
        """Draft a text as a document; return its id and the number of its words."""
        tally = self.tallies.get(source) or self._tally(connection, source)
        # The writer would add buffered sentences to a later tally: it gets an unused one, and sentences are
        # counted here.
        document_id = self.writer.start_source(SourceTally(tally.id, tally.name))
        words = 0
        for index, sentence in enumerate(sentences):
            sentence.document = None if index else name
            self.writer.add(sentence)
            words += len(sentence.forms)
        tally.sentences += len(sentences)
        tally.tokens += words
        self.done.sentences += len(sentences)
        self.tokens += words
        return document_id, words

    def _tally(self, connection: Connection, source: Source) -> SourceTally:
        """Make the tally of a source, which an earlier batch, or an earlier run, may have stored."""
        digest, columns = self.run.digest(source), tables.source.c
        same = (columns.path == place_of(source.name), columns.sha256 == digest)
        query = select(columns.id).where(columns.corpus_id == self.corpus.id, *same)
        source_id = connection.execute(query).scalar()
        if source_id is None:
            source_id = self.next_source + len(self.new_sources)
            self.new_sources[source] = digest
        self.tallies[source] = SourceTally(source_id, source.name)
        return self.tallies[source]

    def write(self, connection: Connection) -> None:
        self.make_corpus(connection)
        for source, tally in self.tallies.items():
            if source in self.new_sources:
                content = (self.new_sources[source], PAIRS, VERSION)
                add_source(connection, self.corpus.id, tally, content)
            else:
                columns = tables.source.c
                grown = {
                    "sentences": columns.sentences + tally.sentences,
                    "tokens": columns.tokens + tally.tokens,
                }
                connection.execute(update(tables.source).where(columns.id == tally.id).values(grown))
        self.writer.write(connection)
        if self.rows:
            connection.execute(insert(pair_table), self.rows)
        add_rejections(connection, self.corpus.id, self.done.rejections)
