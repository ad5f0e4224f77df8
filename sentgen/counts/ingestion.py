"""Ingest sources into a corpus: whole or not at all, once, and wherever it was interrupted, again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from sqlalchemy import Connection, Row

from sentgen.corpus.formats import READERS, UnrecognizedError, detect
from sentgen.corpus.line_blocks import Block, read_blocks
from sentgen.corpus.parsers import CachedParser, Parser, read_parsed
from sentgen.corpus.reader import Reader
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader, Source, expand, place_of
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
from sentgen.counts.settings import add_corpus, check_settings
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
from sentgen.schema import corpus as tables
from sentgen.schema.store import next_id, one_thread

#: What lies beside a corpus in its folder and is no part of it, unless the user names it.
_ABOUT = re.compile(
    r"(readme|licen[cs]e|copying|copyright|notice|changes|changelog|contributing|authors|citation)(?![a-z])",
    re.IGNORECASE,
)


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
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    #: Sources of which the corpus has another content, too, from the same path.
    doubled: list[str] = field(default_factory=list)

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
    if parser is None:
        return _Ingestion(store, settings, None, report).run(paths)
    with CachedParser(parser, store) as cached:
        return _Ingestion(store, settings, cached, report).run(paths)


class _Ingestion:
    def __init__(
        self, store: Store, settings: Settings, parser: CachedParser | None, progress: Progress
    ) -> None:
        self.store, self.settings, self.parser, self.progress = store, settings, parser, progress
        self.summary = Summary(settings.corpus)
        clear_spilled(store)

    def run(self, paths: Sequence[str]) -> Summary:
        began = time.monotonic()
        sources = expand(paths)
        pending: Source | None = next(sources, None)
        while pending is not None:
            pending = self._batch(pending, sources)
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
        """Ingest sources in one transaction until it is large enough; return the next one."""
        batch = _Batch(self)
        began = time.monotonic()
        try:
            with self.store.begin() as connection:
                batch.open(connection)
                # Rows keep their order in the file, which pruning lives on (docs/design.md).
                with one_thread(connection):
                    while source is not None:
                        batch.ingest(source)
                        # Before the test of size: what this batch leaves is where the next one begins.
                        source = next(sources, None)
                        if batch.done.tokens >= BATCH_TOKENS or time.monotonic() - began > BATCH_SECONDS:
                            break
                    batch.finish()
        finally:
            batch.close()
        # After the commit, so that nothing is reported that was rolled back.
        self.summary.add(batch.done)
        return source


class _Batch:
    """One transaction."""

    def __init__(self, ingestion: _Ingestion) -> None:
        self.store, self.settings, self.parser = ingestion.store, ingestion.settings, ingestion.parser
        self.progress, self.before = ingestion.progress, ingestion.summary.tokens
        self.done = Summary(ingestion.settings.corpus)
        self.writer: Writer | None = None
        #: Sources that go when those of this batch are in.
        self.going: set[int] = set()

    def open(self, connection: Connection) -> None:
        self.connection = connection
        self.corpus = find_corpus(connection, self.settings.corpus)
        if self.corpus is not None:
            check_settings(self.corpus, self.settings)

    def ingest(self, source: Source) -> None:
        """Read one source, unless the corpus has it."""
        done = self.done
        if self.settings.replace and source.is_stream:
            raise InputError("a stream has no path and replaces nothing; name a file", path=source.name)
        reader = self._reader(source)
        if reader is None:
            return
        # One more pass over the source, so that a known one is passed over before anything is stored.
        digest = source.sha256()
        if self._is_known(source, reader, digest):
            done.unchanged += 1
            return
        # A first pass that stores nothing, so that all faults are told and none of it is kept.
        if self.settings.on_error == "collect":
            found = self._found(source, reader, source.open())
            rejections = [one for one in found if isinstance(one, Rejection)]
            if rejections:
                self._record(rejections)
                done.rejections += rejections
                done.refused += 1
                return
        tally, rejections = self._read(source, reader)
        if not tally.sentences and not rejections:
            raise InputError("has no sentences", path=source.name)
        self._replace(source)
        self._record(rejections)
        add_source(
            self.connection,
            self._corpus_row().id,
            tally,
            form=reader.name,
            version=self._version(reader),
            digest=digest,
        )
        done.rejections += rejections
        done.sources += 1
        done.sentences += tally.sentences
        done.tokens += tally.tokens
        done.cyclic += tally.cyclic
        done.empty_nodes += tally.empty_nodes

    def _reader(self, source: Source) -> Reader | None:
        """Return the reader of a source, or ``None`` if it only lies beside a corpus."""
        if not source.explicit and _ABOUT.match(source.base_name):
            self.done.passed_over.append((source.name, "is about the corpus, by its name"))
            return None
        try:
            return READERS[self.settings.format or detect(source)]
        except UnrecognizedError as error:
            if source.explicit:
                raise
            self.done.passed_over.append((source.name, error.message))
            return None

    def _read(self, source: Source, reader: Reader) -> tuple[SourceTally, list[Rejection]]:
        writer = self._writer()
        tally = SourceTally(next_id(self.connection, tables.source), source.name)
        writer.start_source(tally)
        lines = source.open()
        rejections: list[Rejection] = []
        report_at = 0
        before = self.before + self.done.tokens
        for found in self._found(source, reader, lines):
            if isinstance(found, Rejection):
                if self.settings.on_error == "raise":
                    raise found.as_error()
                rejections.append(found)
                continue
            if isinstance(found, Block):
                writer.add_lines(found.text, found.first_line)
            else:
                writer.add(found)
            # Sentences are buffered, so that most change nothing yet.
            if tally.tokens != report_at:
                report_at = tally.tokens
                self.progress(source, lines.progress, before + tally.tokens)
        writer.flush()
        self.progress(source, 1.0, before + tally.tokens)
        tally.rejected = len(rejections)
        return tally, rejections

    def _found(
        self, source: Source, reader: Reader, lines: LineReader
    ) -> Iterator[Block | Sentence | Rejection]:
        if self.parser is not None:
            return read_parsed(reader, self.parser, lines, path=source.name)
        return read_blocks(lines) if reader.name == "lines" else reader.read(iter(lines), path=source.name)

    def _writer(self) -> Writer:
        if self.writer is None:
            self.writer = open_writer(self.connection, self.store, self._corpus_row())
        return self.writer

    def _corpus_row(self) -> Row[tuple[object, ...]]:
        """Return the corpus, made now if it is new: a batch that stores nothing leaves no empty corpus."""
        if self.corpus is None:
            self.corpus = add_corpus(self.connection, self.settings)
        return self.corpus

    def _is_known(self, source: Source, reader: Reader, digest: str) -> bool:
        """Say whether the corpus has the content; what else it has from the same path is told, or goes."""
        if self.corpus is None:
            return False
        version = self._version(reader)
        same = find_source(self.connection, self.corpus.id, digest, form=reader.name, version=version)
        if same is None:
            return False
        if same.path == source.name:
            set_path(self.connection, same.id, place_of(source.name))
        self._replace(source, same.id)
        return True

    def _replace(self, source: Source, but: int | None = None) -> None:
        """Let go of what the corpus has from the path of a source, or tell that it has that, too."""
        others = {*sources_at(self.connection, self._corpus_row().id, source)} - {but}
        if others and self.settings.replace:
            remove_rejections(self.connection, self._corpus_row().id, source.name)
            self.done.replaced += len(others - self.going)
            self.going |= others
        elif others:
            self.done.doubled.append(source.name)

    def _version(self, reader: Reader) -> str:
        """Return the version of a reader, and of the parser where that has a say."""
        # Formats that have trees as a rule are not parsed, so that another parser changes nothing.
        if self.parser is None or reader.trees:
            return reader.version
        return f"{reader.version}+{self.parser.name}@{self.parser.version}"

    def _record(self, rejections: list[Rejection]) -> None:
        if rejections:
            record_rejections(self.connection, self._corpus_row().id, rejections)

    def finish(self) -> None:
        if self.writer is not None:
            self.writer.finish(segments.next_segment(self.connection))
        if self.going:
            counter = open_counter(self.store, self._corpus_row())
            with closing(counter):
                remove_sources(self.connection, self._corpus_row(), counter, sorted(self.going))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
