"""Ingest sources into a corpus: each as a whole, once, and again if the ingestion was interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain

from sqlalchemy import Connection, update

from sentgen.corpus import line_blocks, treebank_blocks, vertical_blocks
from sentgen.corpus.formats import choose_reader, takes_tags_for_words
from sentgen.corpus.line_blocks import LineBlock
from sentgen.corpus.parsers import CachedParser, Parser
from sentgen.corpus.paths import expand, place_of, unnamable
from sentgen.corpus.reader import ENGLISH, Reader
from sentgen.corpus.readers import conllu
from sentgen.corpus.reading import read_parsed, read_source
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader, Source
from sentgen.corpus.treebank_blocks import TreebankBlock
from sentgen.counts import corpora
from sentgen.counts.batch import Batch, BatchSummary, ingest_batches, is_small, new_counter
from sentgen.counts.document_tables import join_documents
from sentgen.counts.settings import CountedCorpus
from sentgen.counts.settings import Settings as Settings
from sentgen.counts.stored_sources import (
    SourceFile,
    StoredSource,
    StoredSources,
    add_source,
    file_of,
    keep_files,
    record_rejections,
    remove_rejections,
    remove_sources,
)
from sentgen.counts.writer import SourceTally
from sentgen.errors import InputError, Rejection, spell
from sentgen.schema import Store
from sentgen.schema.store import next_id
from sentgen.schema.tables.corpus import document
from sentgen.schema.tables.corpus import source as source_table

#: An item of a source: a sentence, a block of sentences, or a rejection.
Found = LineBlock | TreebankBlock | Sentence | Rejection
#: Formats that are read in blocks, and their readers.
_BLOCKS: dict[str, Callable[..., Iterator[Found]]] = {
    "conllu": treebank_blocks.read_blocks,
    "lines": line_blocks.read_blocks,
    "vertical": vertical_blocks.read_blocks,
}


@dataclass(slots=True)
class Summary(BatchSummary):
    """Figures and notes of an ingestion."""

    sources: int = 0
    refused: int = 0
    replaced: int = 0
    removed: int = 0
    tokens: int = 0
    types: int = 0
    cyclic: int = 0
    empty_nodes: int = 0
    #: Files in folders and archives that are no texts: name and reason.
    passed_over: list[tuple[str, str]] = field(default_factory=list, repr=False)
    #: Sources of which the corpus also has an older content from the same path.
    changed_paths: list[str] = field(default_factory=list, repr=False)
    #: Sources of XML or HTML that were read as plain text.
    markup: list[str] = field(default_factory=list, repr=False)
    #: Notes of readers on whole sources: name and note.
    notes: list[tuple[str, str]] = field(default_factory=list, repr=False)

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds if self.seconds else 0.0


#: Called with the source being read, its fraction read, and the tokens so far.
Progress = Callable[[Source, float, int], None]


def ingest(
    store: Store,
    paths: Sequence[str | Source],
    settings: Settings,
    *,
    parser: Parser | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Read every source that is not in the corpus yet, count it, and store both in one transaction.

    ``paths`` are those of files, or sources that are none.
    A source is known by the SHA-256 of its content and the reader with its version: the same content is
    stored once. Small sources share a transaction; what a crash interrupts is as if never begun.
    A file that has changed since is another source beside the first (``changed_paths``), or with ``replace``
    takes its place, in the transaction that stores it.
    With a ``parser``, sentences without heads are parsed; its parses are kept in the store as they are made.

    Raises:
        InputError: a path, format or setting is wrong, or (``on_error="raise"``) a sentence is.
        StoreError: the store cannot be written; nothing of the batch in flight is stored.
    """
    given = [item for item in paths if isinstance(item, Source)]
    files = [item for item in paths if isinstance(item, str)]
    sources = chain(given, expand(files, encoding=settings.encoding) if files or not given else ())
    small = is_small([item if isinstance(item, str) else item.path for item in paths])
    total = ingest_sources(store, sources, settings, parser=parser, progress=progress, small=small)
    if total.passed_over and not (total.sources or total.unchanged or total.refused):
        name, reason = total.passed_over[0]
        raise InputError(
            f"none of the files found is a corpus (the first, {name}: {reason}); give {spell('format')}"
        )
    return total


def ingest_sources(
    store: Store,
    sources: Iterator[Source],
    settings: Settings,
    *,
    parser: Parser | None = None,
    progress: Progress | None = None,
    small: bool = False,
    gone: Collection[int] | None = None,
) -> Summary:
    """Read sources as `ingest` does, and with ``gone`` remove sources whose files are gone.

    Args:
        small: see `ingest_batches`.
        gone: ids of sources that are removed in the first transaction; if given, a stored source whose file
            has no sentences any more is removed, too, in the transaction of its batch.
    """
    began = time.monotonic()
    if parser is not None and settings.language != ENGLISH:
        raise InputError(
            f"a parser knows its own language; give either {spell('language')} or {spell('parser')}"
        )
    total = Summary(settings.corpus)
    with CachedParser(parser, store) if parser else nullcontext() as cached:
        run = _Run(store, settings, cached, progress or (lambda *_: None), total, gone)
        ingest_batches(store, sources, lambda connection: _Sources(connection, run), total, small=small)
    with store.begin() as connection:
        corpus = CountedCorpus.find(connection, settings.corpus)
        if corpus is not None:
            # In a transaction of its own, as the batch is stored even if the merge fails.
            corpora.merge_small(connection, corpus.id)
            total.types = corpora.count_types(connection, corpus.id)
    total.seconds = time.monotonic() - began
    return total


@dataclass(slots=True)
class _Run:
    """The state that all batches of an ingestion share."""

    store: Store
    settings: Settings
    parser: CachedParser | None
    progress: Progress
    total: Summary
    #: Ids of sources whose files are gone; None if removals were not asked for.
    gone: Collection[int] | None = None
    #: The sources of the corpus, read by the first batch: this process is the only writer.
    stored: StoredSources | None = None
    #: Other paths with the same content, by the id of the stored source.
    shared: dict[int, str] = field(default_factory=dict)

    def read(self, lines: LineReader, reader: Reader) -> Iterator[Found]:
        """Yield the items of a source, in blocks if its format is read in blocks."""
        if self.parser is not None:
            return read_parsed(reader.items(lines), self.parser, path=lines.source.name)
        if reader.name in _BLOCKS:
            given = self.settings.reading.items()
            return _BLOCKS[reader.name](lines, **{k: v for k, v in given if k in reader.settings})
        return read_source(reader, lines)


def version_of(reader: Reader, parser: Parser | None) -> str:
    """Return the version of a reader, with that of the parser if the format is parsed."""
    # Formats that usually have trees are not parsed, so that their version names no parser.
    if parser is None or reader.trees:
        return reader.version
    return f"{reader.version}+{parser.name}@{parser.version}"


@dataclass(frozen=True, slots=True)
class _Read:
    """A source that was read; without a ``tally``, the corpus has it already, or all of it was refused."""

    source: Source
    reader: Reader
    version: str
    digest: str
    file: SourceFile
    tally: SourceTally | None = None
    rejections: Sequence[Rejection] = ()

    @property
    def content(self) -> tuple[str, str, str]:
        """Hash, format and version, which are equal for the same content read in the same way."""
        return self.digest, self.reader.name, self.version


class _Sources(Batch[Source, Summary]):
    """The sources of one transaction."""

    def __init__(self, connection: Connection, run: _Run) -> None:
        super().__init__(connection, run.store, run.settings, Summary(run.settings.corpus))
        self.run = run
        if run.stored is None:
            run.stored = StoredSources(connection, self.corpus.id)
        self.stored = run.stored
        self.found: list[_Read] = []
        #: Paths of sources whose files are gone.
        self.gone: list[str] = []
        #: The `_Read.content` of the sources that are drafted.
        self.drafted: set[tuple[str, str, str]] = set()
        #: Ids of stored sources that are removed in the transaction of this batch.
        self.superseded: set[int] = set()
        #: The current files of sources, by source id.
        self.files: dict[int, SourceFile] = {}
        # Later batches find none of these, as the first batch has removed them from ``stored``.
        self._let_go(run.stored.by_id.keys() & set(run.gone or ()))

    def _let_go(self, ids: Iterable[int]) -> None:
        """Remove sources whose files are gone with this batch; no source is compared with them any more."""
        for number in sorted(ids):
            self.gone.append(self.stored.by_id[number].path)
            self.superseded.add(number)
            self.stored.remove([number])

    def read(self, connection: Connection, item: Source) -> None:
        """Draft one source, unless the corpus has it."""
        if self.settings.replace and not item.is_named:
            raise InputError("a stream has no path and replaces nothing; name a file", path=item.name)
        if reason := unnamable(item):
            self.done.passed_over.append((item.name, reason))
            return
        reader = choose_reader(item, self.settings.format, self.settings.reading)
        if not isinstance(reader, Reader):
            self.done.passed_over.append((item.name, reader))
            return
        # The time is read first: if the file is written to meanwhile, it counts as changed later.
        file = file_of(item, self.settings)
        # The hash takes one more pass over the source, but a known source is skipped before it is drafted.
        candidate = _Read(item, reader, version_of(reader, self.run.parser), reader.digest(item), file)
        # The corpus, or a source of this batch, has the content.
        known = candidate.content in self.drafted or self.stored.same(candidate.content) is not None
        read = candidate if known else self._refused(candidate) or self._drafted(candidate)
        if read is None:
            self.done.passed_over.append((item.name, "has no sentences"))
            if self.run.gone is not None:
                self._let_go(self.stored.at(item))
        else:
            self.found.append(read)
            if read.tally:
                self.drafted.add(read.content)

    def _refused(self, read: _Read) -> _Read | None:
        """Return a source with all of its faults, if faults refuse a whole source and there are any."""
        if self.settings.on_error != "collect":
            return None
        # A first pass that drafts nothing, so that all faults are reported.
        items = self.run.read(read.source.open(), read.reader)
        rejections = [item for item in items if isinstance(item, Rejection)]
        return replace(read, rejections=rejections) if rejections else None

    def _drafted(self, read: _Read) -> _Read | None:
        """Draft a source; return None if it was found in a folder or archive and has no sentences."""
        source = read.source
        tally = SourceTally(self.next_source, source.name)
        self.writer.start_source(tally)
        lines = source.open()
        rejections: list[Rejection] = []
        reported = 0
        before = self.run.total.tokens + self.tokens
        for item in self.run.read(lines, read.reader):
            if isinstance(item, Rejection):
                if self.settings.on_error == "raise":
                    raise item.as_error()
                rejections.append(item)
                continue
            self.writer.add(item)
            # Sentences are buffered, so that the count changes only now and then.
            if tally.tokens != reported:
                reported = tally.tokens
                self.run.progress(source, lines.progress, before + tally.tokens)
        self.writer.flush()
        self.run.progress(source, 1.0, before + tally.tokens)
        if not tally.sentences and not rejections:
            if source.explicit:
                raise InputError("has no sentences", path=source.name)
            # Such as the file that lists the other files of a collection.
            self.writer.drop_source()
            return None
        tally.rejected = len(rejections)
        if read.reader.name == conllu.READER.name:
            tally.layout = lines.layout
        if takes_tags_for_words(read.reader, source):
            self.done.markup.append(source.name)
        self.done.notes += [(source.name, note) for note in lines.notes]
        self.next_source += 1
        self.tokens += tally.tokens
        return replace(read, tally=tally, rejections=rejections)

    def write(self, connection: Connection) -> None:
        if self.found:  # else a batch that stores nothing would leave an empty corpus
            self.make_corpus(connection)
        for read in self.found:
            if read.tally is not None:
                self._add(connection, read, read.tally)
            elif read.rejections:
                self._record(connection, read.rejections)
                self.done.refused += 1
            else:
                self._keep(connection, read)
                self.done.unchanged += 1
        first = next_id(connection, document)
        self.writer.write(connection)
        join_documents(connection, self.corpus.id, first)
        keep_files(connection, self.corpus.id, self.files)
        for path in self.gone:
            remove_rejections(connection, self.corpus.id, path)
        self.done.removed += len(self.gone)
        if self.superseded:
            with closing(new_counter(self.run.store, self.corpus)) as counter:
                remove_sources(connection, self.corpus.id, counter, sorted(self.superseded))
            self.stored.remove(self.superseded)

    def _add(self, connection: Connection, read: _Read, tally: SourceTally) -> None:
        """Store the row of a source and its rejections; its sentences are drafted already."""
        self._replace(connection, read.source)
        self._record(connection, read.rejections)
        add_source(connection, self.corpus.id, tally, read.content)
        self.stored.put(StoredSource(tally.id, place_of(read.source.name), *read.content, read.file))
        self.files[tally.id] = read.file
        self.done.sources += 1
        self.done.tokens += tally.tokens
        self.done.sentences += tally.sentences
        self.done.cyclic += tally.cyclic
        self.done.empty_nodes += tally.empty_nodes

    def _keep(self, connection: Connection, read: _Read) -> None:
        """Keep a stored source with the same content; report, or remove, other content of the same path."""
        same = self.stored.same(read.content)
        assert same is not None
        path = place_of(read.source.name)
        if same.id in self.superseded:  # its own path has other content now
            self._move(connection, same, path)
            self.superseded.discard(same.id)
            self._keep_file(same, read.file)
        elif same.path != path:
            self.run.shared[same.id] = path
        else:
            self._keep_file(same, read.file)
        self._replace(connection, read.source, same.id)

    def _replace(self, connection: Connection, source: Source, but: int | None = None) -> None:
        """Remove the stored sources of the path of a source, or, without ``replace``, report them."""
        others = self.stored.at(source) - {but}
        if others and self.settings.replace:
            remove_rejections(connection, self.corpus.id, source.name)
            self.done.replaced += len(others - self.superseded)
            for number in others & self.run.shared.keys():
                self._move(connection, self.stored.by_id[number], self.run.shared.pop(number))
                others.remove(number)
            self.superseded |= others
        elif others:
            self.done.changed_paths.append(source.name)

    def _keep_file(self, stored: StoredSource, file: SourceFile) -> None:
        """Record the current file of a source, with the folder in which it was found before."""
        known = stored.file
        if known and known.folder and not file.folder and known.size is not None:
            file = file._replace(folder=known.folder, name=known.name)
        if known is None or known[:-1] != file[:-1] or not known.is_settled:
            self.files[stored.id] = file

    def _move(self, connection: Connection, stored: StoredSource, path: str) -> None:
        if stored.path != path:
            row = update(source_table).where(source_table.c.id == stored.id)
            connection.execute(row.values(path=path))
            self.stored.put(stored._replace(path=path))

    def _record(self, connection: Connection, rejections: Sequence[Rejection]) -> None:
        if rejections:
            record_rejections(connection, self.corpus.id, rejections)
            self.done.rejections += rejections
