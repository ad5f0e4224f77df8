"""Give words ids, count shards in these ids, and sum the counts into files of the lake, a range at a time.

Every word of all shards gets one id: by descending frequency, then by form, behind the ids of the lake. Words
are split into partitions by their hash. Only the task that numbers them holds all of them, in DuckDB, which
spills.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sentgen.arrays import Ints, Longs
from sentgen.corpus.vocabulary import Vocabulary
from sentgen.counts.cluster.shards import FIRST_WORD, TREES, ShardReading, partitioned
from sentgen.counts.cluster.stages import opened, read_batch, write_batches
from sentgen.counts.draft import Draft
from sentgen.counts.ngrams import BYTES_PER_RECORD, WIDTH, NgramCounter, SortedRuns, merge, rolled_up
from sentgen.schema import folders
from sentgen.schema.engine import arrow_reader, arrow_table, one_number, settings
from sentgen.schema.lake_transfer import write_file
from sentgen.schema.lakes import LakeFile, file_schema, sort_keys
from sentgen.schema.places import Place
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_TAGS, RESERVED_WORDS
from sentgen.temporary import aside

_KNOWN = pa.schema([("id", pa.int32()), ("form", pa.string())])
_COUNTED = pa.schema([("id", pa.int32()), ("form", pa.string()), ("count", pa.int64())])
_NUMBERS = pa.schema([("number", pa.int32()), ("id", pa.int32())])
_NUMBERED = """
create temp table numbered as
select
    coalesce(
        id,
        $next - 1 + row_number() over (partition by id is null order by count desc, form)
    )::integer as id,
    form,
    count,
    id is null as is_new
from read_parquet($files)
"""
#: The first word of each range: each token, and each <s> and </s>, begins one record.
_RANGES = """
with begun as (
    select id, count from numbered
    union all
    select unnest([$bos, $eos]) as id, $sentences as count
),
summed as (
    select id, sum(count) over (order by id rows between unbounded preceding and 1 preceding) as before
    from begun
)
select min(id)::integer as first
from summed
group by coalesce(before, 0)::bigint // $most
order by first
"""


def split_words(lake: Place, file: str, parts: int, to: Path) -> dict[str, object]:
    """Split the words of a file of the lake into partitions."""
    with lake.open(file) as stream:
        rows = pq.read_table(stream, columns=["id", "form"]).combine_chunks()
    hashed = Vocabulary()
    hashed.encode(rows["form"].to_pylist())
    batch = pa.Table.from_arrays(rows.columns, schema=_KNOWN).to_batches(max_chunksize=None)
    write_batches(to, _KNOWN, partitioned(batch[0], hashed, parts))
    return {}


def sum_words(part: int, shards: Sequence[Path], known: Sequence[Path], to: Path) -> dict[str, object]:
    """Sum the counts of the words of a partition over all shards, with their ids in the lake, if any."""
    words = Vocabulary()
    counts = np.zeros(0, np.int64)
    for path in shards:
        rows = read_batch(path, part)
        numbers = words.encode(rows["form"].to_pylist())
        counts = np.concatenate((counts, np.zeros(len(words) - counts.size, np.int64)))
        counts[numbers] += rows["count"].to_numpy()  # a shard has each word once
    size = counts.size
    ids = np.full(size, -1, np.int32)
    for path in known:
        rows = read_batch(path, part)
        numbers = words.encode(rows["form"].to_pylist())
        here = numbers < size
        ids[numbers[here]] = rows["id"].to_numpy()[here]
    forms = words.strings().slice(0, size).cast(pa.string())
    rows = pa.table([pa.array(ids, mask=ids < 0), forms, pa.array(counts)], schema=_COUNTED)
    with aside(to) as draft:
        pq.write_table(rows, draft, compression="lz4")
    return {}


def number_words(
    lake: Place, summed: Sequence[Path], first: int, part: int, *, sentences: int, most: int, memory: int
) -> dict[str, object]:
    """Number the new words, write them to the lake, and cut all words into ranges.

    Args:
        summed: files written by `sum_words`.
        first: the next free id; 0 in a new lake, which gets the reserved words, too.
        part: index of the file among those of the table.
        most: approximate number of records that begin with the words of a range.
        memory: bytes that DuckDB may take.
    """
    following = max(first, len(RESERVED_WORDS))
    reserved = _reserved(RESERVED_WORDS, "form") if first == 0 else []
    with _database(summed[0].parent, memory) as duck:
        files = [str(path) for path in summed]
        duck.execute(_NUMBERED, {"next": following, "files": files})
        new = one_number(duck, "select count(*) from numbered where is_new")
        file: LakeFile | None = None
        if new or reserved:
            fresh = arrow_reader(duck, "select id, form from numbered where is_new order by id")
            file = write_file(lake, "word", part, chain(reserved, fresh))
        values = {"bos": BOS, "eos": EOS, "sentences": sentences, "most": most}
        ranges = arrow_table(duck, _RANGES, values)["first"].to_pylist()
    return {"file": asdict(file) if file else None, "new": new, "ranges": [0, *ranges[1:]]}


def resolve_words(part: int, shards: Sequence[Path], known: Sequence[Path], to: Path) -> dict[str, object]:
    """Write a batch for each shard: the numbers of a partition's words in the shard, and their ids."""
    words = Vocabulary()
    known_ids: list[Ints] = []
    for path in known:
        rows = read_batch(path, part)
        words.encode(rows["form"].to_pylist())
        known_ids.append(rows["id"].to_numpy())
    ids = np.concatenate(known_ids) if known_ids else np.empty(0, np.int32)

    def numbers() -> Iterator[pa.RecordBatch]:
        for path in shards:
            rows = read_batch(path, part)
            here = ids[words.encode(rows["form"].to_pylist())]
            yield pa.record_batch([rows["number"], pa.array(here, pa.int32())], schema=_NUMBERS)

    write_batches(to, _NUMBERS, numbers())
    return {}


def number_tags(
    lake: Place, shards: Sequence[Path], known: Sequence[str], first: int, part: int, to: Path
) -> dict[str, object]:
    """Give ids to the labels in the counts, frequent ones first, and write new labels to the lake."""
    counts: dict[str, int] = {}
    for path in shards:
        for row in pq.read_table(path).to_pylist():
            counts[row["name"]] = counts.get(row["name"], 0) + row["count"]
    ids = {name: number for number, name in enumerate(RESERVED_TAGS)}
    for name in known:
        with lake.open(name) as stream:
            ids |= {row["name"]: row["id"] for row in pq.read_table(stream).to_pylist()}
    new = sorted(counts.keys() - ids.keys(), key=lambda name: (-counts[name], name))
    fresh = {name: number for number, name in enumerate(new, max(first, len(RESERVED_TAGS)))}
    rows = [] if first else list(_reserved(RESERVED_TAGS, "name"))
    if fresh:
        rows.append(
            pa.record_batch([pa.array(fresh.values(), pa.int32()), pa.array(fresh)], names=["id", "name"])
        )
    file = write_file(lake, "tag", part, rows) if rows else None
    ids |= fresh
    with aside(to) as draft:
        pq.write_table(pa.table({"name": pa.array(ids), "id": pa.array(ids.values(), pa.int32())}), draft)
    return {"file": asdict(file) if file else None}


def _reserved(strings: Sequence[str], column: str) -> Iterable[pa.RecordBatch]:
    ids = pa.array(range(len(strings)), pa.int32())
    return [pa.record_batch([ids, pa.array(strings)], names=["id", column])]


@contextmanager
def _database(folder: Path, memory: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills into a folder."""
    # One thread, as other tasks use the other cores.
    config = settings(max(memory, 64 << 20), 1) | {"temp_directory": str(folder / ".duckdb")}
    with duckdb.connect(config=config) as duck:
        yield duck


#: A record of words, as in `sentgen.counts.ngrams`, and how often it occurs.
_RECORDS = pa.schema([*((f"w{i}", pa.int32()) for i in range(1, WIDTH + 1)), ("count", pa.int32())])
#: Rows of a batch: fewer for many shards, as merging holds one batch of every shard in memory.
_MOST_ROWS, _LEAST_ROWS = 1 << 16, 1 << 10
#: Bytes of a row that is merged: the batch, and the arrays that it is read into.
_ROW = 2 * _RECORDS.field("count").type.bit_width // 8 * len(_RECORDS)
#: Columns of the counts of trees that hold words and labels.
_COLUMNS = {
    "head_word_id": 0,
    "modifier_word_id": 0,
    "word_id": 0,
    "head_tag_id": 1,
    "modifier_tag_id": 1,
    "tag_id": 1,
    "before_tag_id": 1,
}
#: Columns of the words of an event, the greater of which is its anchor.
_ENDS = ("head_word_id", "modifier_word_id")


@dataclass(frozen=True, slots=True)
class LakeNumbers:
    """The ids of the lake for the words and labels of all shards.

    Attributes:
        words: a file for each hash partition, with a batch for each shard.
        tags: the file of all labels; empty if no shard has trees.
        ranges: the first word of each range.
    """

    words: tuple[str, ...]
    tags: str
    ranges: tuple[int, ...]


def count_shard(
    reading: ShardReading, numbering: LakeNumbers, shard: int, trees: bool, *, shards: int
) -> dict[str, object]:
    """Count a shard and return how many batches each range has.

    Args:
        reading: how shards were read, and where their files are.
    """
    ids = _ids([read_batch(path, shard) for path in numbering.words])
    if trees:
        _write_trees(reading, shard, ids, _tags(reading, numbering, shard))
    # Each token is a record: sorting may take the memory of the task, without that of the program.
    counter = NgramCounter(
        highest=reading.settings.order,
        memory=reading.memory // 2,
        folder=Path(reading.folder) / f".scratch-{uuid.uuid4().hex}",
    )
    try:
        with opened(reading.file(shard, "stream")) as streams:
            for number in range(streams.num_record_batches):
                counter.add(ids[streams.get_batch(number)["word"].to_numpy()])
        most = min(max(reading.memory // 4 // (_ROW * shards), _LEAST_ROWS), _MOST_ROWS)
        batches = np.zeros(len(numbering.ranges), np.int64)

        def records() -> Iterator[pa.RecordBatch]:
            for rows, counts in counter.records():
                for number, batch in _in_ranges(rows, counts, numbering.ranges, most):
                    batches[number] += 1
                    yield batch

        write_batches(reading.file(shard, "records"), _RECORDS, records())
    finally:
        counter.close()
    return {"batches": batches.tolist()}


def _ids(parts: Sequence[pa.RecordBatch]) -> Ints:
    """Return an array with the id in the lake for each number of the shard."""
    size = FIRST_WORD + sum(part.num_rows for part in parts)
    numbers = np.concatenate([part["number"].to_numpy() for part in parts])
    # The ids of a store have gaps, where lemmas are.
    ids = np.zeros(max(size, int(numbers.max(initial=0)) + 1), np.int32)
    ids[:FIRST_WORD] = np.arange(FIRST_WORD)
    ids[numbers] = np.concatenate([part["id"].to_numpy() for part in parts])
    return ids


def _in_ranges(
    rows: Ints, counts: Ints | Longs, ranges: Sequence[int], most: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    cuts = [*np.searchsorted(rows[:, 0], np.array(ranges, np.int32)).tolist(), len(rows)]
    for number in range(len(ranges)):
        for start in range(cuts[number], cuts[number + 1], most):
            end = min(start + most, cuts[number + 1])
            columns = [pa.array(np.ascontiguousarray(rows[start:end, i])) for i in range(WIDTH)]
            yield (
                number,
                pa.record_batch([*columns, pa.array(counts[start:end].astype(np.int32))], schema=_RECORDS),
            )


def _tags(reading: ShardReading, numbering: LakeNumbers, shard: int) -> Ints:
    known = {row["name"]: row["id"] for row in pq.read_table(numbering.tags).to_pylist()}
    labels = pq.read_table(reading.file(shard, "labels"))
    tags = np.zeros(int(labels["number"].to_numpy().max()) + 1, np.int32)
    # The store of the shard has labels that no count uses, such as relations.
    tags[labels["number"].to_numpy()] = [known.get(name, -1) for name in labels["name"].to_pylist()]
    return tags


def _write_trees(reading: ShardReading, shard: int, words: Ints, tags: Ints) -> None:
    for table in TREES:
        rows = pq.read_table(reading.file(shard, table))
        for column, name in enumerate(rows.column_names):
            if name in _COLUMNS:
                numbers = rows[name].combine_chunks()
                absent = numbers.is_null().to_numpy(zero_copy_only=False)
                ids = (words, tags)[_COLUMNS[name]][numbers.fill_null(0).to_numpy()]
                rows = rows.set_column(column, name, pa.array(ids, pa.int32(), mask=absent))
        if "anchor" in rows.column_names:
            ends = (rows[name].combine_chunks().fill_null(0).to_numpy() for name in _ENDS)
            column = rows.column_names.index("anchor")
            rows = rows.set_column(column, "anchor", pa.array(np.maximum(*ends), pa.int32()))
        with aside(reading.file(shard, f"{table}-counted")) as draft:
            pq.write_table(rows, draft, compression="lz4")


class _Runs(SortedRuns):
    """The batches of one range, of every shard."""

    def __init__(self, files: Sequence[tuple[Path, range]], stack: ExitStack) -> None:
        self._readers = [stack.enter_context(opened(path)) for path, _ in files]
        self._numbers = [iter(numbers) for _, numbers in files]
        # Buffers have the size of the largest batch: the first one of each shard.
        largest = max(
            (
                reader.get_batch(numbers[0]).num_rows
                for reader, (_, numbers) in zip(self._readers, files, strict=True)
            ),
            default=0,
        )
        super().__init__(len(files), largest)

    def fill(self, run: int) -> bool:
        number = next(self._numbers[run], None)
        if number is None:
            return False
        batch = self._readers[run].get_batch(number)
        size = batch.num_rows
        if (more := size - self.counts.shape[1]) > 0:
            self.records = np.pad(self.records, ((0, 0), (0, more), (0, 0)))
            self.counts = np.pad(self.counts, ((0, 0), (0, more)))
        for i in range(WIDTH):
            self.records[run, :size, i] = batch.column(i).to_numpy()
        self.counts[run, :size] = batch.column(WIDTH).to_numpy()
        self.filled[run], self.cursor[run] = size, 0
        return True


def merge_range(
    lake: Place,
    files: Sequence[tuple[Path, range]],
    segment: int,
    parts: Mapping[str, int],
    *,
    memory: int,
    scratch: Path,
) -> dict[str, object]:
    """Sum the records of one range and write its n-grams, of all orders, to the lake.

    Args:
        files: the file of each shard, and which of its batches are of this range; no batch is empty.
        parts: for the table of each order, the index of the new file among its files.
        memory: bytes that the task may take.
        scratch: folder to which DuckDB spills.
    """
    draft = Draft(scratch / f".scratch-{uuid.uuid4().hex}")
    try:
        with ExitStack() as stack:
            block = max(memory // 4 // BYTES_PER_RECORD, 1 << 14)
            for orders in rolled_up(merge(_Runs(files, stack), block), len(parts), block):
                for order, counted in enumerate(orders, 1):
                    if counted.counts.size:
                        columns = [pa.array(np.full(counted.counts.size, segment, np.int32))]
                        columns += [pa.array(words.copy()) for words in counted.words]
                        table = f"ngram_{order}"
                        rows = pa.Table.from_arrays(
                            [*columns, pa.array(counted.counts.copy())], schema=file_schema(table)
                        )
                        draft.append(table, rows)
        written = [asdict(write_file(lake, table, parts[table], rows)) for table, rows in draft.read()]
        return {"files": sorted(written, key=lambda file: str(file["path"]))}
    finally:
        draft.close()
        folders.remove(draft.folder)


def merge_trees(
    lake: Place, table: str, files: Sequence[Path], segment: int, part: int, *, memory: int
) -> dict[str, object]:
    """Sum the counts of trees of all shards and write them to the lake."""
    keys = [name for name in sort_keys(table) if name != "segment_id"]
    order = ", ".join(f"{name} nulls last" for name in keys)
    query = f"""
select $segment::integer as segment_id, {", ".join(keys)}, sum(count)::bigint as count
from read_parquet($files)
group by all
order by {order}
"""
    with _database(files[0].parent, memory // 2) as duck:
        rows = arrow_reader(duck, query, {"segment": segment, "files": [str(path) for path in files]})
        return {"files": [asdict(write_file(lake, table, part, rows))]}
