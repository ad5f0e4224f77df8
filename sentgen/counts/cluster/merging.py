"""Count shards in the numbers of the lake, and sum what they counted into its files, a range at a time."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sentgen.arrays import Ints, Longs
from sentgen.counts.cluster.shards import FIRST_WORD, TREES, ShardReading
from sentgen.counts.cluster.stages import opened, read_batch, read_batches, write_batches
from sentgen.counts.cluster.words import database
from sentgen.counts.draft import Draft
from sentgen.counts.ngrams import WIDTH
from sentgen.counts.spill import NgramCounter, merge, rolled_up
from sentgen.schema import folders
from sentgen.schema.engine import arrow_reader
from sentgen.schema.lakes.layout import file_schema, sort_keys
from sentgen.schema.lakes.places import Place
from sentgen.schema.lakes.transfer import write_file
from sentgen.temporary import aside

#: A record of words, as `sentgen.counts.ngrams` has them, and how often it occurs.
_RECORDS = pa.schema([*((f"w{i}", pa.int32()) for i in range(1, WIDTH + 1)), ("count", pa.int32())])
#: Rows of a batch; merging has one batch of every shard in memory, so that with many shards they are smaller.
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
    """The numbers of the lake.

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
        reading: where the files of the shard are.
        numbering: the numbers of the lake.
        shard: number of the shard.
        trees: whether it has trees.
        shards: how many there are.
    """
    ids = _ids([read_batch(path, shard) for path in numbering.words])
    if trees:
        _write_trees(reading, shard, ids, _tags(reading, numbering, shard))
    # Every record is a token: sorting takes what the task may take, less what the program does.
    counter = NgramCounter(
        highest=reading.settings.order,
        memory=reading.memory // 2,
        folder=Path(reading.folder) / f".scratch-{uuid.uuid4().hex}",
    )
    try:
        for stream in read_batches(reading.file(shard, "stream")):
            counter.add(ids[stream["word"].to_numpy()])
        most = min(max(reading.memory // 4 // (_ROW * shards), _LEAST_ROWS), _MOST_ROWS)
        batches = np.zeros(len(numbering.ranges), np.int64)

        def records() -> Iterator[pa.RecordBatch]:
            for rows, counts in counter.records():
                for number, batch in _in_ranges(rows, counts, numbering.ranges, most):
                    batches[number] += 1
                    yield batch

        rows = write_batches(reading.file(shard, "records"), _RECORDS, records())
    finally:
        counter.close()
    return {"batches": batches.tolist(), "records": sum(rows)}


def _ids(parts: Sequence[pa.RecordBatch]) -> Ints:
    """Return the number in the lake of each number of the shard."""
    size = FIRST_WORD + sum(part.num_rows for part in parts)
    numbers = np.concatenate([part["number"].to_numpy() for part in parts])
    # Numbers of a store have gaps where lemmas are.
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
    # The store has labels that no count uses, such as relations.
    tags[labels["number"].to_numpy()] = [known.get(name, -1) for name in labels["name"].to_pylist()]
    return tags


def _write_trees(reading: ShardReading, shard: int, words: Ints, tags: Ints) -> None:
    for table in TREES:
        rows = pq.read_table(reading.file(shard, table))
        for place, name in enumerate(rows.column_names):
            if name in _COLUMNS:
                numbers = rows[name].combine_chunks()
                absent = numbers.is_null().to_numpy(zero_copy_only=False)
                ids = (words, tags)[_COLUMNS[name]][numbers.fill_null(0).to_numpy()]
                rows = rows.set_column(place, name, pa.array(ids, pa.int32(), mask=absent))
        if "anchor" in rows.column_names:
            ends = (rows[name].combine_chunks().fill_null(0).to_numpy() for name in _ENDS)
            place = rows.column_names.index("anchor")
            rows = rows.set_column(place, "anchor", pa.array(np.maximum(*ends), pa.int32()))
        with aside(reading.file(shard, f"{table}-counted")) as draft:
            pq.write_table(rows, draft, compression="lz4")


#: Bytes of memory for each record of a block that is merged and rolled up, as in `sentgen.counts.spill`.
_BYTES_PER_RECORD = 512


class _Runs:
    """The batches of one range, of every shard (`sentgen.counts.spill.Runs`)."""

    def __init__(self, files: Sequence[tuple[Path, range]], stack: ExitStack) -> None:
        self._readers = [stack.enter_context(opened(path)) for path, _ in files]
        self._numbers = [iter(numbers) for _, numbers in files]
        # Buffers as large as the largest batch of all; none is larger than the first, or there is one alone.
        room = max(
            (
                reader.get_batch(numbers[0]).num_rows
                for reader, (_, numbers) in zip(self._readers, files, strict=True)
            ),
            default=0,
        )
        self.records: Ints = np.empty((len(files), room, WIDTH), np.int32)
        self.counts: Ints = np.empty((len(files), room), np.int32)
        self.filled = np.zeros(len(files), np.int64)
        self.cursor = np.zeros(len(files), np.int64)

    def fill(self, run: int) -> bool:
        """Read the next batch of a shard; False at its end."""
        number = next(self._numbers[run], None)
        if number is None:
            self.filled[run] = self.cursor[run] = 0
            return False
        batch = self._readers[run].get_batch(number)
        size = batch.num_rows
        if size > self.counts.shape[1]:
            self._grow(size)
        for i in range(WIDTH):
            self.records[run, :size, i] = batch.column(i).to_numpy()
        self.counts[run, :size] = batch.column(WIDTH).to_numpy()
        self.filled[run], self.cursor[run] = size, 0
        return True

    def _grow(self, size: int) -> None:
        more = size - self.counts.shape[1]
        self.records = np.pad(self.records, ((0, 0), (0, more), (0, 0)))
        self.counts = np.pad(self.counts, ((0, 0), (0, more)))


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
        lake: the lake.
        files: the records of each shard, and which batches of them are of this range; none is empty.
        segment: the segment that they are counted into.
        parts: place of each file among those of its table, by table: one for each order.
        memory: bytes that the task may take.
        scratch: where what memory does not hold is spilled.
    """
    draft = Draft(scratch / f".scratch-{uuid.uuid4().hex}")
    try:
        with ExitStack() as stack:
            block = max(memory // 4 // _BYTES_PER_RECORD, 1 << 14)
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
        found = [asdict(write_file(lake, table, parts[table], rows)) for table, rows in draft.read()]
        return {"files": sorted(found, key=lambda file: str(file["path"]))}
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
    with database(files[0].parent, memory // 2) as duck:
        rows = arrow_reader(duck, query, {"segment": segment, "files": [str(path) for path in files]})
        return {"files": [asdict(write_file(lake, table, part, _plain(rows)))]}


def _plain(rows: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    yield from rows
