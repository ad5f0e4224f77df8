"""Ingest sources into a corpus: whole or not at all, once, and wherever it was interrupted, again."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row

from sentgen.corpus.formats import takes_tags_for_words
from sentgen.corpus.line_blocks import LineBlock
from sentgen.corpus.parsers import CachedParser, Parser
from sentgen.corpus.reader import ENGLISH, Reader
from sentgen.corpus.readers import conllu
from sentgen.corpus.sources import Source, expand, place_of
from sentgen.corpus.treebank_blocks import TreebankBlock
from sentgen.counts import segments
from sentgen.counts.batch import (
    BATCH_SECONDS,
    BATCH_TOKENS,
    BatchSummary,
    add_source,
    clear_spilled,
    find_corpus,
    open_counter,
    open_writer,
)
from sentgen.counts.settings import Settings as Settings
from sentgen.counts.settings import add_corpus, check_settings, new_corpus
from sentgen.counts.source_reading import choose_reader, read_source
from sentgen.counts.stored_sources import (
    find_source,
    record_rejections,
    remove_rejections,
    remove_sources,
    set_path,
    sources_at,
)
from sentgen.counts.writer import SourceTally, Writer
from sentgen.errors import InputError, Rejection
from sentgen.schema import Store
from sentgen.schema.store import next_id
from sentgen.schema.tables import corpus as tables

#: New objects after which the garbage collector looks for cycles; by its own count that takes a tenth of all.
_OBJECTS = 100_000
#: Bytes of a file that is read in an instant.
_SMALL = 1 << 20


@dataclass(slots=True)
class Summary(BatchSummary):
    """What an ingestion did."""

    sources: int = 0
    refused: int = 0
    replaced: int = 0
    tokens: int = 0
    types: int = 0
    cyclic: int = 0
    empty_nodes: int = 0
    #: Files found in folders and archives that are no corpora: name and reason.
    passed_over: list[tuple[str, str]] = field(default_factory=list, repr=False)
    #: Sources of which the corpus has another content, too, from the same path.
    doubled: list[str] = field(default_factory=list, repr=False)
    #: Sources of XML or HTML that were read as plain text.
    markup: list[str] = field(default_factory=list, repr=False)

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds if self.seconds else 0.0


#: Called with the source being read, its fraction read, and the tokens so far.
Progress = Callable[[Source, float, int], None]


def ingest(
    store: Store,
    paths: Sequence[str],
    settings: Settings,
    *,
    parser: Parser | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Read every source that is not in the corpus yet, count it, and store both in one transaction.

    A source is known by the SHA-256 of its content and the reader with its version: the same content is
    stored once. Small sources share a transaction; what a crash interrupts is as if never begun.
    A file that has changed since is another source beside the first (``doubled``), or with ``replace`` takes
    its place, in the transaction that stores it.
    With a ``parser``, sentences without heads are parsed; its parses are kept in the store as they are made.

    Raises:
        InputError: a path, format or setting is wrong, or (``on_error="raise"``) a sentence is.
        StoreError: the store cannot be written; nothing of the batch in flight is stored.
    """
    report = progress or (lambda *_: None)
    if parser is not None and settings.language != ENGLISH:
        raise InputError("a parser knows its own language; give either --language or --parser")
    with _rarely_collected():
        if parser is None:
            return _Ingestion(store, settings, None, report).run(paths)
        with CachedParser(parser, store) as cached:
            return _Ingestion(store, settings, cached, report).run(paths)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Let the garbage collector wait for more objects: columns of sentences are many, and no cycles."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Ingestion:
    def __init__(
        self, store: Store, settings: Settings, parser: CachedParser | None, progress: Progress
    ) -> None:
        self.store, self.settings, self.parser, self.progress = store, settings, parser, progress
        self.summary = Summary(settings.corpus)
        #: Sources of the store that are another path's content, too: id to this path.
        self.shared: dict[int, str] = {}
        clear_spilled(store)

    def run(self, paths: Sequence[str]) -> Summary:
        began = time.monotonic()
        sources = expand(paths)
        pending: Source | None = next(sources, None)
        if not _is_small(paths):
            self.store.share()
        while pending is not None:
            pending = self._batch(pending, sources)
            if pending is not None:
                self.store.share()
        done = self.summary
        if done.passed_over and not (done.sources or done.unchanged or done.refused):
            name, reason = done.passed_over[0]
            raise InputError(
                f"none of the files found is a corpus (the first, {name}: {reason}); give --format"
            )
        with self.store.begin() as connection:
            found = find_corpus(connection, self.settings.corpus)
            if found is not None:
                # In a transaction of its own: a batch is done whether this succeeds or not.
                segments.merge_small(connection, found.id)
                self.summary.types = segments.count_types(connection, found.id)
        self.summary.seconds = time.monotonic() - began
        return self.summary

    def _batch(self, source: Source | None, sources: Iterator[Source]) -> Source | None:
        """Read sources until there is enough for a transaction, and store them; return the next one."""
        batch = _Batch(self)
        began = time.monotonic()
        try:
            # No transaction: others may read the store until there is something to write.
            with self.store.connect() as connection:
                batch.open(connection)
                while source is not None:
                    batch.read(source)
                    # Before the test of size: what this batch leaves is where the next one begins.
                    source = next(sources, None)
                    if batch.done.tokens >= BATCH_TOKENS or time.monotonic() - began > BATCH_SECONDS:
                        break
            # Rows keep their order in the file, which pruning lives on (docs/design.md).
            with self.store.begin(in_order=True) as connection:
                batch.store(connection)
        finally:
            batch.close()
        # After the commit, so that nothing is reported that was rolled back.
        self.summary.add(batch.done)
        return source


@dataclass(frozen=True, slots=True)
class _Read:
    """A source that was read; without a ``tally`` the corpus has it, or all of it is refused."""

    source: Source
    reader: Reader
    digest: str
    tally: SourceTally | None = None
    rejections: Sequence[Rejection] = ()


class _Batch:
    """The sources of one transaction."""

    def __init__(self, ingestion: _Ingestion) -> None:
        self.ingestion, self.settings, self.parser = ingestion, ingestion.settings, ingestion.parser
        self.progress, self.before = ingestion.progress, ingestion.summary.tokens
        self.done = Summary(ingestion.settings.corpus)
        self.writer: Writer | None = None
        self.found: list[_Read] = []
        #: Sources that go when those of this batch are in.
        self.going: set[int] = set()

    def open(self, connection: Connection) -> None:
        self.connection = connection
        self.corpus = find_corpus(connection, self.settings.corpus)
        if self.corpus is not None:
            check_settings(self.corpus, self.settings)
        self.next_source = next_id(connection, tables.source)

    def read(self, source: Source) -> None:
        """Read one source, unless the corpus has it."""
        if self.settings.replace and source.is_stream:
            raise InputError("a stream has no path and replaces nothing; name a file", path=source.name)
        reader = self._reader(source)
        if reader is None:
            return
        place_of(source.name)  # refuses a name that cannot be stored, before all is read
        # One more pass over the source, so that a known one is passed over before anything is kept.
        digest = source.sha256()
        if self._is_known(reader, digest):
            self.found.append(_Read(source, reader, digest))
            return
        # A first pass that keeps nothing, so that all faults are told.
        if self.settings.on_error == "collect":
            found = read_source(source.open(), reader, self.parser)
            rejections = [one for one in found if isinstance(one, Rejection)]
            if rejections:
                self.found.append(_Read(source, reader, digest, None, rejections))
                return
        tally, rejections = self._read(source, reader)
        if not tally.sentences and not rejections:
            raise InputError("has no sentences", path=source.name)
        self.found.append(_Read(source, reader, digest, tally, rejections))
        self.next_source += 1
        self.done.tokens += tally.tokens

    def store(self, connection: Connection) -> None:
        """Store all that was read, in the transaction of the connection."""
        self.connection = connection
        if self.writer is not None:
            self.writer.settle(connection)
        for one in self.found:
            if one.tally is not None:
                self._store(one, one.tally)
            elif one.rejections:
                self._record(one.rejections)
                self.done.refused += 1
            else:
                self._know(one)
                self.done.unchanged += 1
        if self.writer is not None:
            self.writer.finish(segments.next_segment(connection))
        if self.going:
            with closing(open_counter(self.ingestion.store, self._corpus_row())) as counter:
                remove_sources(connection, self._corpus_row(), counter, sorted(self.going))

    def _store(self, one: _Read, tally: SourceTally) -> None:
        self._replace(one.source)
        self._record(one.rejections)
        add_source(
            self.connection,
            self._corpus_row().id,
            tally,
            form=one.reader.name,
            version=self._version(one.reader),
            digest=one.digest,
        )
        if takes_tags_for_words(one.reader, one.source):
            self.done.markup.append(one.source.name)
        self.done.sources += 1
        self.done.sentences += tally.sentences
        self.done.cyclic += tally.cyclic
        self.done.empty_nodes += tally.empty_nodes

    def _reader(self, source: Source) -> Reader | None:
        """Return the reader of a source, or ``None`` if it only lies beside a corpus."""
        found = choose_reader(source, self.settings)
        if isinstance(found, Reader):
            return found
        self.done.passed_over.append((source.name, found))
        return None

    def _read(self, source: Source, reader: Reader) -> tuple[SourceTally, list[Rejection]]:
        writer = self._writer()
        tally = SourceTally(self.next_source, source.name)
        writer.start_source(tally)
        lines = source.open()
        rejections: list[Rejection] = []
        report_at = 0
        before = self.before + self.done.tokens
        for found in read_source(lines, reader, self.parser):
            if isinstance(found, Rejection):
                if self.settings.on_error == "raise":
                    raise found.as_error()
                rejections.append(found)
                continue
            if isinstance(found, LineBlock):
                writer.add_lines(found.text, found.first_line)
            elif isinstance(found, TreebankBlock):
                writer.add_block(found)
            else:
                writer.add(found)
            # Sentences are buffered, so that most change nothing yet.
            if tally.tokens != report_at:
                report_at = tally.tokens
                self.progress(source, lines.progress, before + tally.tokens)
        writer.flush()
        self.progress(source, 1.0, before + tally.tokens)
        tally.rejected = len(rejections)
        if reader.name == conllu.READER.name:
            tally.layout = lines.layout
        return tally, rejections

    def _writer(self) -> Writer:
        if self.writer is None:
            corpus = self.corpus or new_corpus(self.connection, self.settings)
            self.writer = open_writer(self.connection, self.ingestion.store, corpus, drafts=True)
        return self.writer

    def _corpus_row(self) -> Row[tuple[object, ...]]:
        """Return the corpus, made now if it is new: a batch that stores nothing leaves no empty corpus."""
        if self.corpus is None:
            self.corpus = add_corpus(self.connection, self.settings)
        return self.corpus

    def _is_known(self, reader: Reader, digest: str) -> bool:
        """Say whether the corpus has the content, or will have it from a source of this batch."""
        if any(one.digest == digest and one.reader is reader and one.tally for one in self.found):
            return True
        return self.corpus is not None and self._stored(reader, digest) is not None

    def _stored(self, reader: Reader, digest: str) -> Any:
        version = self._version(reader)
        return find_source(self.connection, self._corpus_row().id, digest, form=reader.name, version=version)

    def _know(self, one: _Read) -> None:
        """Leave what the corpus has as it is; what else it has from the same path is told, or goes."""
        same = self._stored(one.reader, one.digest)
        assert same is not None
        place = place_of(one.source.name)
        if same.path == one.source.name or same.id in self.going:
            # In the second case its own path has other content now.
            set_path(self.connection, same.id, place)
            self.going.discard(same.id)
        elif same.path != place:
            self.ingestion.shared[same.id] = place
        self._replace(one.source, same.id)

    def _replace(self, source: Source, but: int | None = None) -> None:
        """Let go of what the corpus has from the path of a source, or tell that it has that, too."""
        others = {*sources_at(self.connection, self._corpus_row().id, source)} - {but}
        if others and self.settings.replace:
            remove_rejections(self.connection, self._corpus_row().id, source.name)
            self.done.replaced += len(others - self.going)
            for number in others & self.ingestion.shared.keys():
                set_path(self.connection, number, self.ingestion.shared.pop(number))
                others.remove(number)
            self.going |= others
        elif others:
            self.done.doubled.append(source.name)

    def _version(self, reader: Reader) -> str:
        """Return the version of a reader, and of the parser where that has a say."""
        # Formats that have trees as a rule are not parsed, so that another parser changes nothing.
        if self.parser is None or reader.trees:
            return reader.version
        return f"{reader.version}+{self.parser.name}@{self.parser.version}"

    def _record(self, rejections: Sequence[Rejection]) -> None:
        if rejections:
            record_rejections(self.connection, self._corpus_row().id, rejections)
            self.done.rejections += rejections

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _is_small(paths: Sequence[str]) -> bool:
    """Say whether reading takes less than giving the store to readers would."""
    try:
        return len(paths) == 1 and Path(paths[0]).is_file() and Path(paths[0]).stat().st_size < _SMALL
    except (OSError, ValueError):
        return False
