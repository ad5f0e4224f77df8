"""Shards: pieces of sources, cut between sentences, that workers read.

Reading a shard gives its words with their counts, its text as numbers of words, and the counts of its trees.
Words are numbered from 4 on, as in a store, in each shard; `sentgen.counts.cluster.merging` gives them ids.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sentgen.arrays import Ints, Longs
from sentgen.case_folding import fold
from sentgen.corpus.encodings import UTF_8, UTF_16_MARKS
from sentgen.corpus.formats import reader_named
from sentgen.corpus.line_blocks import LineBlock, read_blocks
from sentgen.corpus.reader import Reader
from sentgen.corpus.reading import read_source
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import BLOCK_BYTES, LineReader, Source
from sentgen.corpus.vocabulary import Vocabulary
from sentgen.counts.cluster.stages import write_batches
from sentgen.counts.ngrams import NgramCounter, wrap
from sentgen.counts.settings import CountedCorpus, Settings
from sentgen.counts.writer import SourceTally, Writer
from sentgen.errors import InputError, Rejection
from sentgen.schema import Store, folders
from sentgen.schema.engine import arrow_reader, arrow_table, raw
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS
from sentgen.temporary import aside

#: The end of a sentence by format. Sources in other formats or encodings, or compressed ones, are not cut.
_ENDS = {"lines": re.compile(rb"\n"), "conllu": re.compile(rb"\n\r?\n"), "conllx": re.compile(rb"\n\r?\n")}
#: Bytes before a block in which the end of a sentence may begin.
_OVERLAP = 2

#: Formats without trees: their sentences need no temporary store.
_PLAIN = ("lines", "text")
#: Tokens that are collected before they are numbered.
_TOGETHER = 100_000
FIRST_WORD = len(RESERVED_WORDS)
WORDS = pa.schema([("number", pa.int32()), ("form", pa.string()), ("count", pa.int64())])
_STREAM = pa.schema([("word", pa.int32())])
#: Counts of trees that a shard keeps, by table of the store.
TREES = ("dependency_event", "argument_count", "sibling_count")
_WORDS = """
select w.id as number, w.form, n.count
from ngram_1 n
join word w on w.id = n.w1
where w.id > 3
order by w.id
"""
_SENTENCES = """
select list(word_id order by position) as words
from token
group by sentence_id
order by sentence_id
"""
#: Labels of the counts, with the tokens that have each: the roots of sentences are no tokens.
_TAGS = """
select t.name, sum(a.count)::bigint as count
from argument_count a
join tag t on t.id = a.tag_id
where a.layer = 'word' and a.level = 'tag' and a.direction = 'left'
group by t.name
order by t.name
"""


@dataclass(frozen=True, slots=True)
class SourcePart:
    """Whole sentences of a source: its bytes from ``start`` to ``end``, from its line ``first_line`` on.

    ``end`` is -1 for a source that is read as a whole; ``bytes`` are those after decompression.
    """

    source: int
    name: str
    path: str
    compression: str
    member: str
    start: int
    end: int
    first_line: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Shard:
    """Pieces of sources that one task reads."""

    number: int
    format: str
    pieces: tuple[SourcePart, ...]

    @property
    def bytes(self) -> int:
        """Bytes of text."""
        return sum(piece.bytes for piece in self.pieces)

    @classmethod
    def from_json(cls, values: dict[str, object]) -> Shard:
        """Return a shard from its JSON values."""
        pieces: Iterable[dict[str, object]] = values["pieces"]  # type: ignore[assignment]
        return cls(values["number"], values["format"], tuple(SourcePart(**piece) for piece in pieces))  # type: ignore[arg-type]


def survey(source: Source, form: str, number: int, most: int) -> dict[str, object]:
    """Return the hash of a source, and its pieces of about ``most`` bytes each."""
    end = None if source.compression or source.encoding != UTF_8 else _ENDS.get(form)
    digest, pieces = hashlib.sha256(), list[SourcePart]()
    at = start = 0
    line = first_line = 1
    tail = b""
    whole = SourcePart(number, source.name, source.path, source.compression, source.member, 0, -1, 1, 0)
    for block in source.open().blocks(BLOCK_BYTES):
        digest.update(block)
        if at == 0 and block.startswith(UTF_16_MARKS):
            end = None
        seen = 0
        while end is not None and at + len(block) - start >= most:
            # The end of a sentence may begin in the block before.
            match = end.search(tail + block, max(0, seen + len(tail) - _OVERLAP, start + most - at))
            if match is None:
                break
            cut = match.end() - len(tail)
            if cut <= seen:
                break
            line += block.count(b"\n", seen, cut)
            stop = at + cut
            pieces.append(replace(whole, start=start, end=stop, first_line=first_line, bytes=stop - start))
            start, first_line, seen = stop, line, cut
        line += block.count(b"\n", seen)
        at += len(block)
        tail = block[-_OVERLAP:]
    if at > start:
        last = replace(whole, start=start, end=at if end else -1, first_line=first_line, bytes=at - start)
        pieces.append(last)
    return {"sha256": digest.hexdigest(), "pieces": [asdict(piece) for piece in pieces]}


def pack(pieces: Sequence[tuple[str, SourcePart]], most: int) -> list[Shard]:
    """Pack consecutive pieces of one format into shards of about ``most`` bytes."""
    shards: list[Shard] = []
    waiting: list[SourcePart] = []
    form = ""

    def close() -> None:
        if waiting:
            shards.append(Shard(len(shards), form, tuple(waiting)))
            waiting.clear()

    for name, piece in pieces:
        if name != form or sum(one.bytes for one in waiting) + piece.bytes > most:
            close()
        form = name
        waiting.append(piece)
    close()
    return shards


class PieceReader(LineReader):
    """Reads the lines of a piece, with their numbers in the source."""

    def __init__(self, piece: SourcePart, encoding: str = UTF_8) -> None:
        where = (piece.name, piece.path, piece.bytes, piece.compression, piece.member)
        super().__init__(Source(*where, encoding=encoding))
        self.piece, self.lines_read = piece, piece.first_line - 1

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the bytes of the piece."""
        if self.piece.end < 0:
            yield from super().blocks(size)
            return
        left = self.piece.end - self.piece.start
        try:
            with open(self.piece.path, "rb") as file:
                file.seek(self.piece.start)
                while left:
                    block = file.read(min(size, left))
                    if not block:
                        raise InputError("is shorter than it was; run it again", path=self.piece.name)
                    left -= len(block)
                    yield block
        except OSError as error:
            raise InputError(f"cannot read this file: {error.strerror}", path=self.piece.name) from error

    def without_bom(self, block: bytes) -> bytes:
        """Return the first block without the byte order mark, which only the first piece of a source has."""
        return block if self.piece.start else super().without_bom(block)


def _read_piece(
    piece: SourcePart, reader: Reader, encoding: str = UTF_8
) -> Iterator[LineBlock | Sentence | Rejection]:
    """Yield the sentences and rejections of a piece, with their line numbers in the source."""
    lines = PieceReader(piece, encoding)
    if reader.name == "lines":
        yield from read_blocks(lines)
        return
    for item in read_source(reader, lines):
        yield replace(item, line=item.line + piece.first_line - 1)


@dataclass(frozen=True, slots=True)
class ShardReading:
    """How shards are read.

    Attributes:
        settings: settings of the corpus.
        folder: folder for the files of the shards.
        parts: number of hash partitions of the words.
        memory: bytes that a task may take.
    """

    settings: Settings
    folder: str
    parts: int
    memory: int

    def file(self, shard: int, kind: str) -> Path:
        """Return the path of the file of a kind for a shard."""
        return Path(self.folder) / f"{shard:06d}.{kind}"


def read_shard(reading: ShardReading, shard: Shard) -> dict[str, object]:
    """Read a shard, write its words, text and counts, and return the figures of its sources.

    Raises:
        InputError: the shard cannot be read, or a sentence is wrong and may not be skipped.
    """
    tallies = {piece.source: SourceTally(piece.source, piece.name) for piece in shard.pieces}
    read = _read_plain if shard.format in _PLAIN else _read_into_store
    trees = read(reading, shard, tallies)
    return {"tallies": [asdict(tally) for tally in tallies.values()], "trees": trees}


def _found(
    reading: ShardReading, shard: Shard, tallies: dict[int, SourceTally], begin: Writer | None = None
) -> Iterator[tuple[SourceTally, LineBlock | Sentence]]:
    """Yield sentences and blocks with the tally of their source; rejections are raised or counted."""
    for piece in shard.pieces:
        tally = tallies[piece.source]
        if begin is not None:
            begin.start_source(tally)
        reader = reader_named(shard.format).with_settings(reading.settings.reading)
        for item in _read_piece(piece, reader, reading.settings.encoding):
            if not isinstance(item, Rejection):
                yield tally, item
            elif reading.settings.on_error == "skip":
                tally.rejected += 1
            else:
                raise item.as_error()
        if begin is not None:
            begin.flush()


def _read_plain(reading: ShardReading, shard: Shard, tallies: dict[int, SourceTally]) -> bool:
    """Number the words of a shard; return False, as its text has no trees."""
    vocabulary = Vocabulary()
    counts = np.zeros(0, np.int64)

    def streams() -> Iterator[pa.RecordBatch]:
        nonlocal counts
        for words, lengths in _numbered(reading, shard, tallies, vocabulary):
            summed = np.bincount(words, minlength=len(vocabulary))
            summed[: counts.size] += counts
            counts = summed
            yield _stream(wrap(words + np.int32(FIRST_WORD), lengths, BOS, EOS))

    write_batches(reading.file(shard.number, "stream"), _STREAM, streams())
    numbers = np.arange(FIRST_WORD, FIRST_WORD + counts.size, dtype=np.int32)
    _write_words(reading, shard, numbers, vocabulary.strings().cast(pa.string()), counts, vocabulary)
    return False


def _numbered(
    reading: ShardReading, shard: Shard, tallies: dict[int, SourceTally], vocabulary: Vocabulary
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the numbers of words and the lengths of some thousands of sentences at a time."""
    lower = reading.settings.lowercase
    waiting: list[list[str]] = []
    tokens = 0

    def together() -> tuple[Ints, Ints]:
        lengths = np.array([len(forms) for forms in waiting], np.int32)
        words = vocabulary.encode([form for forms in waiting for form in forms], lowercase=lower)
        waiting.clear()
        return words, lengths

    for tally, item in _found(reading, shard, tallies):
        if isinstance(item, Sentence):
            waiting.append(item.forms)
            tokens += len(item.forms)
            tally.sentences += 1
            tally.tokens += len(item.forms)
            if tokens >= _TOGETHER:
                yield together()
                tokens = 0
            continue
        # Decoded, as lower case is defined beyond ASCII, too.
        text = fold(item.text.decode()).encode() if lower else item.text
        words, lengths = vocabulary.encode_lines(text)
        lengths = lengths[lengths > 0]
        tally.sentences += int(lengths.size)
        tally.tokens += int(words.size)
        yield words, lengths
    if waiting:
        yield together()


def _stream(words: Ints) -> pa.RecordBatch:
    return pa.record_batch([pa.array(words, pa.int32())], schema=_STREAM)


def _write_words(
    reading: ShardReading, shard: Shard, numbers: Ints, forms: pa.Array, counts: Longs, hashed: Vocabulary
) -> None:
    """Write the words of a shard, a batch for each partition."""
    rows = pa.record_batch([pa.array(numbers), forms, pa.array(counts)], schema=WORDS)
    write_batches(reading.file(shard.number, "words"), WORDS, partitioned(rows, hashed, reading.parts))


def partitioned(rows: pa.RecordBatch, hashed: Vocabulary, parts: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of each partition, by the hash of their words; the vocabulary has them in row order."""
    part = hashed.hashes() % np.uint64(parts)
    for number in range(parts):
        yield rows.take(pa.array(np.flatnonzero(part == number)))


def _read_into_store(reading: ShardReading, shard: Shard, tallies: dict[int, SourceTally]) -> bool:
    """Read a shard into a temporary store, which counts its trees; return whether there are any."""
    with _scratch(reading) as store, store.begin() as connection:
        duck = raw(connection)
        corpus = CountedCorpus.of_settings(connection, reading.settings)
        CountedCorpus.add(connection, reading.settings, corpus.id)
        # N-grams of orders above 1 are counted later, for all shards.
        runs = Path(f"{store.path}.runs")
        counter = NgramCounter(highest=1, memory=reading.memory // 4, folder=runs)
        writer = Writer(connection, corpus, counter)
        for _, item in _found(reading, shard, tallies, writer):
            writer.add(item)
        writer.write(connection)
        writer.close()
        words = arrow_table(duck, _WORDS)
        hashed = Vocabulary()
        hashed.encode(words["form"].to_pylist())
        numbers, counts = words["number"].to_numpy(), words["count"].to_numpy()
        forms = words["form"].combine_chunks()
        _write_words(reading, shard, numbers, forms, counts, hashed)
        streams = (_wrapped(batch) for batch in arrow_reader(duck, _SENTENCES))
        write_batches(reading.file(shard.number, "stream"), _STREAM, streams)
        tags = arrow_table(duck, _TAGS)
        if not tags.num_rows:
            return False
        labels = arrow_table(duck, "select id as number, name from tag order by id")
        _write_parquet(reading.file(shard.number, "tags"), tags)
        _write_parquet(reading.file(shard.number, "labels"), labels)
        for table in TREES:
            rows = arrow_table(duck, f"select * exclude (segment_id) from {table}")
            _write_parquet(reading.file(shard.number, table), rows)
        return True


def _wrapped(batch: pa.RecordBatch) -> pa.RecordBatch:
    lists = batch.column("words")
    words = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    lengths = np.diff(lists.offsets.to_numpy()).astype(np.int32)
    return _stream(wrap(words, lengths, BOS, EOS))


def _write_parquet(path: Path, rows: pa.Table) -> None:
    with aside(path) as draft:
        pq.write_table(rows, draft, compression="lz4")


@contextmanager
def _scratch(reading: ShardReading) -> Iterator[Store]:
    """Open a temporary store, which is removed at the end."""
    folder = Path(reading.folder) / f".scratch-{uuid.uuid4().hex}"
    with (
        folders.for_drafts(folder),
        Store(folder / "shard.duckdb", create=True, memory_limit=reading.memory // 2, threads=1) as store,
    ):
        yield store
