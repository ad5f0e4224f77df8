"""Sum what the shards counted into the files of the lake, a range at a time."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa

from sentgen.arrays import Ints
from sentgen.counts.cluster.files import opened
from sentgen.counts.cluster.words import database
from sentgen.counts.draft import Draft
from sentgen.counts.ngrams import WIDTH
from sentgen.counts.spill import merge, rolled_up
from sentgen.schema import folders
from sentgen.schema.engine import arrow_reader
from sentgen.schema.lakes.files import write_file
from sentgen.schema.lakes.layout import file_schema, sort_keys
from sentgen.schema.lakes.places import Place

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
