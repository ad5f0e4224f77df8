"""Count more n-grams than fit in memory: sort chunks, spill them as runs, merge the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np

from sentgen.arrays import Ints, Longs, compiled
from sentgen.counts.ngrams import WIDTH, NgramCounts, RollUp, sort_records
from sentgen.schema import folders
from sentgen.schema.tables.corpus import EOS

#: Bytes of memory that sorting takes for one token of a chunk, all arrays counted.
BYTES_PER_TOKEN = 80
#: A chunk is no larger: its positions, a rank and a word must fit into 64 bits.
_LARGEST_CHUNK = 1 << 24
_SMALLEST_CHUNK = 1 << 16
#: Bytes of memory for each record of a block that is merged and rolled up, all arrays counted.
_BYTES_PER_RECORD = 512
#: Records of a block, at most: larger ones are no faster, and new memory takes the system time.
_LARGEST_BLOCK = 1 << 17


@compiled
def _less(records: Ints, i: int, a: int, j: int, b: int) -> bool:
    for k in range(WIDTH):
        if records[i, a, k] != records[j, b, k]:
            return bool(records[i, a, k] < records[j, b, k])
    # Of equal records the lower run: the merge is the same every time.
    return i < j


@compiled
def _sink(heap: Longs, size: int, at: int, records: Ints, cursor: Longs) -> None:
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        right = child + 1
        if right < size and _less(
            records, heap[right], cursor[heap[right]], heap[child], cursor[heap[child]]
        ):
            child = right
        if not _less(records, heap[child], cursor[heap[child]], heap[at], cursor[heap[at]]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@compiled
def _merge(
    records: Ints, counts: Ints, filled: Longs, cursor: Longs, heap: Longs, size: int, out: Ints, sums: Longs
) -> tuple[int, int]:
    """Merge until a buffer runs dry or ``out`` is full; return rows written and the dry run, or -1."""
    rows = 0
    while rows < sums.size and size > 0:
        run = heap[0]
        at = cursor[run]
        # Equal records of several runs come one after the other; a run has each only once.
        same = rows > 0
        if same:
            for k in range(WIDTH):
                if out[rows - 1, k] != records[run, at, k]:
                    same = False
                    break
        if same:
            sums[rows - 1] += counts[run, at]
        else:
            for k in range(WIDTH):
                out[rows, k] = records[run, at, k]
            sums[rows] = counts[run, at]
            rows += 1
        cursor[run] = at + 1
        # The heap cannot be mended before the buffer is filled: that is up to the caller.
        if cursor[run] == filled[run]:
            return rows, run
        _sink(heap, size, 0, records, cursor)
    return rows, -1


class _SortedRuns(Protocol):
    """Sorted runs of distinct records, of which a block each is in memory.

    Attributes:
        records: (runs, rows of a block, 5).
        counts: (runs, rows of a block).
        filled: rows of the block of each run.
        cursor: how many of them are merged.
    """

    records: Ints
    counts: Ints
    filled: Longs
    cursor: Longs

    def fill(self, run: int) -> bool:
        """Read the next block of a run; False at its end."""


class _SpilledRuns:
    """Spilled runs, read block by block; mapped into memory, their pages would count as ours."""

    def __init__(self, files: Sequence[tuple[BinaryIO, BinaryIO]], block: int) -> None:
        self.files = files
        self.records = np.empty((len(files), block, WIDTH), np.int32)
        self.counts = np.empty((len(files), block), np.int32)
        self.filled = np.zeros(len(files), np.int64)
        self.cursor = np.zeros(len(files), np.int64)

    def fill(self, run: int) -> bool:
        """Read the next block of a run; False at its end."""
        records, counts = self.files[run]
        block = np.fromfile(counts, np.int32, self.counts.shape[1])
        size = block.size
        self.counts[run, :size] = block
        self.records[run, :size] = np.fromfile(records, np.int32, size * WIDTH).reshape(size, WIDTH)
        self.filled[run], self.cursor[run] = size, 0
        return size > 0


def merge_runs(paths: list[tuple[Path, Path]], *, block: int) -> Iterator[tuple[Ints, Longs]]:
    """Merge sorted runs into one sorted sequence of distinct records, in blocks.

    The last record of a block is held back, since the next block may begin with its equal.
    """
    with ExitStack() as stack:
        files = [(stack.enter_context(r.open("rb")), stack.enter_context(c.open("rb"))) for r, c in paths]
        yield from merge(_SpilledRuns(files, max(1, block // len(paths))), block)


def merge(runs: _SortedRuns, block: int) -> Iterator[tuple[Ints, Longs]]:
    """Merge runs wherever they come from, as `merge_runs` does."""
    heap = np.array([run for run in range(runs.filled.size) if runs.fill(run)], np.int64)
    size = heap.size
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap, size, at, runs.records, runs.cursor)
    held: tuple[Ints, Longs] | None = None
    while size:
        out, sums = np.empty((block, WIDTH), np.int32), np.empty(block, np.int64)
        rows, dry = _merge(runs.records, runs.counts, runs.filled, runs.cursor, heap, size, out, sums)
        if dry >= 0 and not runs.fill(dry):
            # At its end: the last run takes its place at the top.
            size -= 1
            heap[0] = heap[size]
        if dry >= 0:
            _sink(heap, size, 0, runs.records, runs.cursor)
        # At most one record can be equal, since each block has distinct ones.
        if held is not None and (held[0][0] == out[0]).all():
            sums[0] += held[1][0]
        elif held is not None:
            yield held
        yield out[: rows - 1], sums[: rows - 1]
        held = out[rows - 1 : rows], sums[rows - 1 : rows]
    if held is not None:
        yield held


def rolled_up(
    records: Iterable[tuple[Ints, Ints | Longs]], highest: int, block: int
) -> Iterator[list[NgramCounts]]:
    """Yield the n-grams of orders 1 to ``highest`` of sorted records, up to ``block`` rows at once."""
    roll_up = RollUp(highest, block)
    for rows, counts in records:
        yield from roll_up.add(rows, counts)
    yield from roll_up.finish()


class NgramCounter:
    """Count the n-grams of a stream of sentences within a bound of memory.

    Args:
        highest: highest order that is counted.
        memory: bytes that sorting may take.
        folder: where runs are spilled; made when needed, removed by `close`.
    """

    def __init__(self, *, highest: int, memory: int, folder: Path) -> None:
        self.highest, self.memory, self.folder = highest, memory, folder
        self.chunk = min(max(memory // BYTES_PER_TOKEN, _SMALLEST_CHUNK), _LARGEST_CHUNK)
        self.block = min(max(memory // _BYTES_PER_RECORD, _SMALLEST_CHUNK), _LARGEST_BLOCK)
        self._waiting: list[Ints] = []
        self._tokens = 0
        self._runs: list[tuple[Path, Path]] = []

    def add(self, stream: Ints) -> None:
        """Take whole sentences in ids of the store, each from ``<s>`` to ``</s>``."""
        # Whole streams only: a chunk is cut between sentences, or n-grams would be lost.
        if self._tokens and self._tokens + stream.size > self.chunk:
            self._spill()
        self._waiting.append(stream)
        self._tokens += stream.size

    def results(self) -> Iterator[list[NgramCounts]]:
        """Yield the counts of orders 1 to ``highest``, sorted, in blocks."""
        yield from rolled_up(self.records(), self.highest, self.block)

    def records(self) -> Iterator[tuple[Ints, Ints | Longs]]:
        """Yield the distinct records and their counts, sorted, in blocks."""
        if not self._runs:
            yield from self._sorted_chunk()
            return
        self._spill()
        yield from merge_runs(self._runs, block=self.block)

    def close(self) -> None:
        """Forget everything and remove what was spilled."""
        self._waiting, self._tokens, self._runs = [], 0, []
        folders.remove(self.folder)

    def _sorted_chunk(self) -> Iterator[tuple[Ints, Ints]]:
        if not self._waiting:
            return
        # Dense numbers, as few bits as the chunk needs, in the order of the ids.
        present = np.zeros(max(int(part.max()) for part in self._waiting) + 1, bool)
        for part in self._waiting:
            present[part] = True
        names = np.flatnonzero(present).astype(np.int32)
        rank = np.cumsum(present, dtype=np.int32) - np.int32(1)
        stream = np.concatenate([rank[part] for part in self._waiting])
        self._waiting, self._tokens = [], 0
        yield from sort_records(stream, names, ends=int(rank[EOS]), block=self.block)

    def _spill(self) -> None:
        folders.make(self.folder)
        paths = (
            self.folder / f"{len(self._runs)}.records",
            self.folder / f"{len(self._runs)}.counts",
        )
        # Plain arrays: a run is read once, by this process, in blocks.
        with paths[0].open("wb") as of_records, paths[1].open("wb") as of_counts:
            for records, counts in self._sorted_chunk():
                of_records.write(records.data)  # unlike `tofile`, says that the disk is full
                of_counts.write(counts.data)
        self._runs.append(paths)
