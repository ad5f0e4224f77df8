"""The stored sources of a corpus: look-up by content or path, new rows, and removal from the counts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, delete, insert, select

from sentgen.arrays import Ints, Longs
from sentgen.corpus.paths import place_of
from sentgen.corpus.sources import Source
from sentgen.counts import corpora
from sentgen.counts.ngrams import NgramCounter, wrap
from sentgen.counts.settings import Settings
from sentgen.counts.writer import USUAL, SourceTally, append_ngrams
from sentgen.errors import InputError, Rejection
from sentgen.schema.counting import count_trees, counted_tables, merge_segments
from sentgen.schema.lakes import file_schema
from sentgen.schema.store import append, fetch_arrow, next_id, now, raw
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables import fidelity
from sentgen.schema.tables.corpus import BOS, EOS
from sentgen.schema.tables.counts import segment

#: Tokens of sentences that are read and counted at once.
PART_TOKENS = 1_000_000
#: Seconds within which a file may change twice and keep its time; FAT has steps of two seconds.
_COARSE = 2

_SENTENCES = """
select s.id, s.length
from sentence s
join document d on d.id = s.document_id
where d.source_id in (select unnest($sources::integer[]))
order by s.id
"""
_WORDS = """
select word_id
from token
where corpus_id = $corpus
    and sentence_id between $first and $last
order by sentence_id, position
"""
# Joined by equality, as a join by ranges of tokens would compare each range with every row.
_OCCURRENCES = """
delete from occurrence
where segment_id in (select id from segment where corpus_id = $corpus)
    and token in (
        select unnest(range(s.first_token, s.first_token + s.length))
        from sentence s
        join document d on d.id = s.document_id
        where d.source_id in (select unnest($sources::integer[]))
    )
"""


class SourceFile(NamedTuple):
    """A row of `source_file`: the file of a source, and how it was read."""

    name: str
    folder: str
    size: int | None
    modified: int | None
    settings: str
    checked_at: datetime

    @property
    def is_settled(self) -> bool:
        """Whether any later change would change the time of the file, which was not modified just before."""
        checked = self.checked_at.replace(tzinfo=UTC).timestamp()
        return self.modified is not None and self.modified / 1e9 < checked - _COARSE


class StoredSource(NamedTuple):
    """A stored source: its path, the hash of its content, and its format with the version of the reader."""

    id: int
    path: str
    sha256: str
    form: str
    version: str
    #: None in a published store.
    file: SourceFile | None = None

    @property
    def content(self) -> tuple[str, str, str]:
        """The identity of the content, with the reader, as a newer one may read other sentences from it."""
        return self.sha256, self.form, self.version


class StoredSources:
    """The sources of a corpus, read once for an ingestion, which then adds and removes its own."""

    def __init__(self, connection: Connection, corpus_id: int) -> None:
        columns, file = tables.source.c, fidelity.source_file
        wanted = (columns.id, columns.path, columns.sha256, columns.format, columns.reader_version)
        of_file = [file.c[name] for name in SourceFile._fields]
        joined = tables.source.outerjoin(file, file.c.source_id == columns.id)
        query = select(*wanted, *of_file).select_from(joined).where(columns.corpus_id == corpus_id)
        self.by_id: dict[int, StoredSource] = {}
        self._by_content: dict[tuple[str, str, str], set[int]] = {}
        self._by_path: dict[str, set[int]] = {}
        for row in connection.execute(query.order_by(columns.id)):
            number, path, digest, form, version, *file_values = row
            known = None if file_values[0] is None else SourceFile(*file_values)
            self.put(StoredSource(number, path, digest, form, version, known))

    def put(self, source: StoredSource) -> None:
        """Add a source, or replace the one with its id."""
        self.remove([source.id])
        self.by_id[source.id] = source
        self._by_content.setdefault(source.content, set()).add(source.id)
        self._by_path.setdefault(source.path, set()).add(source.id)

    def remove(self, ids: Iterable[int]) -> None:
        """Remove sources by their ids."""
        for number in ids:
            if old := self.by_id.pop(number, None):
                self._by_content[old.content].discard(number)
                self._by_path[old.path].discard(number)

    def same(self, content: tuple[str, str, str]) -> StoredSource | None:
        """Return the source with a content: hash, format, and version of the reader; or None."""
        ids = self._by_content.get(content)
        return self.by_id[min(ids)] if ids else None

    def at(self, source: Source) -> set[int]:
        """Return the ids of the stored sources from the path of a source; none for a stream."""
        if not source.is_named:
            return set()
        return set(self._by_path.get(place_of(source.name), ()))


def add_source(
    connection: Connection, corpus_id: int, tally: SourceTally, content: tuple[str, str, str]
) -> None:
    """Store the row of a source with its figures; ``content`` is that of `StoredSource`."""
    digest, form, version = content
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
        "ingested_at": now(exact=True),
    }
    connection.execute(insert(tables.source), row)
    if tally.layout != USUAL:
        layout = {"corpus_id": corpus_id, "source_id": tally.id} | asdict(tally.layout)
        connection.execute(insert(fidelity.source_layout), layout)


def file_of(source: Source, settings: Settings) -> SourceFile:
    """Return size and time of the file of a source, by which changes are found, and how the file is read.

    Raises:
        InputError: the file does not exist any more.
    """
    size = modified = None
    if not source.is_stream:
        try:
            status = os.stat(source.path)
        except OSError as error:
            raise InputError(f"cannot open: {error.strerror}", path=source.name) from error
        size, modified = status.st_size, status.st_mtime_ns
    folder = os.path.abspath(source.folder) if source.folder else ""
    given = {**settings.reading, "format": settings.format, "on_error": settings.on_error}
    return SourceFile(source.name, folder, size, modified, json.dumps(given, sort_keys=True), now())


def keep_files(connection: Connection, corpus_id: int, files: Mapping[int, SourceFile]) -> None:
    """Store the files of sources, by source id, in the place of earlier rows."""
    if files:
        raw(connection).execute("delete from source_file where source_id in (select unnest(?))", [[*files]])
        rows = [{"corpus_id": corpus_id, "source_id": one, **file._asdict()} for one, file in files.items()]
        append(connection, "source_file", pa.Table.from_pylist(rows, file_schema("source_file")))


def remove_rejections(connection: Connection, corpus_id: int, name: str) -> None:
    """Remove the rejections of a source."""
    columns = tables.rejection.c
    same = (columns.corpus_id == corpus_id, columns.path == place_of(name))
    connection.execute(delete(tables.rejection).where(*same))


def record_rejections(connection: Connection, corpus_id: int, rejections: Sequence[Rejection]) -> None:
    """Store rejections in the place of earlier ones of the same sources."""
    for path in sorted({rejection.path for rejection in rejections}):
        remove_rejections(connection, corpus_id, path)
    rejected_at = now()
    rows = [_rejection_row(corpus_id, rejection) | {"rejected_at": rejected_at} for rejection in rejections]
    connection.execute(insert(tables.rejection), rows)


def add_rejections(connection: Connection, corpus_id: int, rejections: Sequence[Rejection]) -> None:
    """Store the rejections that an earlier run has not stored."""
    columns = tables.rejection.c
    for rejection in rejections:
        row = _rejection_row(corpus_id, rejection)
        same = select(columns.line).where(*(columns[name] == value for name, value in row.items()))
        if connection.execute(same).first() is None:
            connection.execute(insert(tables.rejection), row | {"rejected_at": now()})


def _rejection_row(corpus_id: int, rejection: Rejection) -> dict[str, object]:
    """Return the row of a rejection, without the time."""
    return {
        "corpus_id": corpus_id,
        "path": place_of(rejection.path),
        "line": rejection.line,
        "sent_id": rejection.sent_id,
        "check_name": rejection.check,
        "message": rejection.message,
    }


def remove_sources(
    connection: Connection, corpus_id: int, counter: NgramCounter, sources: Sequence[int]
) -> None:
    """Remove sources from a corpus, and subtract their counts.

    The sources are counted again with negative counts, and the segments of the corpus are merged into one,
    without rows whose sum is zero. This takes the time of counting the sources and of merging the corpus.

    Args:
        connection: the transaction.
        counter: an empty counter of n-grams up to the order of the corpus.
    """
    number = next_id(connection, segment)
    rows = fetch_arrow(connection, _SENTENCES, {"sources": list(sources)})
    ids, lengths = rows["id"].to_numpy(), rows["length"].to_numpy()
    raw(connection).execute(_OCCURRENCES, {"corpus": corpus_id, "sources": list(sources)})
    for part in _stretches(ids, lengths):
        first, last = int(ids[part[0]]), int(ids[part[-1]])
        bounds = {"corpus": corpus_id, "first": first, "last": last}
        words = fetch_arrow(connection, _WORDS, bounds)["word_id"].to_numpy()
        counter.add(wrap(words, lengths[part], BOS, EOS))
        count_trees(connection, number, corpus_id, first, last)
        for table in (*fidelity.OF_SENTENCE, tables.multiword, tables.token):
            column = table.c.sentence_id
            connection.execute(
                delete(table).where(table.c.corpus_id == corpus_id, column.between(first, last))
            )
        connection.execute(delete(tables.sentence).where(tables.sentence.c.id.between(first, last)))
    for block in counter.results():
        append_ngrams(connection, number, block)
    for name in counted_tables():
        raw(connection).execute(f"update {name} set count = -count where segment_id = ?", [number])
    row = {"id": number, "corpus_id": corpus_id, "created_at": now(exact=True)}
    size = {"sentences": -len(ids), "tokens": -int(lengths.sum())}
    connection.execute(insert(segment), row | size)
    merge_segments(connection, corpora.of_corpora(connection, [corpus_id]))
    nothing = (segment.c.corpus_id == corpus_id, segment.c.sentences == 0)
    connection.execute(delete(segment).where(*nothing))
    documents = tables.document.c.source_id.in_(sources)
    meta, layout = fidelity.document_meta, fidelity.source_layout
    going = select(tables.document.c.id).where(documents)
    connection.execute(delete(meta).where(meta.c.document_id.in_(going)))
    connection.execute(delete(tables.document).where(documents))
    connection.execute(delete(layout).where(layout.c.source_id.in_(sources)))
    connection.execute(delete(fidelity.source_file).where(fidelity.source_file.c.source_id.in_(sources)))
    connection.execute(delete(tables.source).where(tables.source.c.id.in_(sources)))


def _stretches(ids: Longs, lengths: Ints) -> Iterator[Longs]:
    """Yield the indices of runs of sentences with consecutive ids, of about `PART_TOKENS` tokens at most."""
    parts = np.cumsum(lengths, dtype=np.int64) // PART_TOKENS
    ends = np.flatnonzero((np.diff(ids) != 1) | (np.diff(parts) > 0)) + 1
    return (part for part in np.split(np.arange(ids.size), ends) if part.size)
