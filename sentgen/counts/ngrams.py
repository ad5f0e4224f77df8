"""Count n-grams of all orders with one sort.

Every token starts one record: the words from it to the end of its sentence, at most five. Sorted records that
share their first *n* words are adjacent, so that one pass over them yields the counts of every order, each
already sorted. Texts that do not fit in memory are sorted in chunks, spilled as runs of distinct records, and
merged.

The kernels take arrays only. A record is a row of five int32, filled with ``PAD`` beyond its sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bools, Bytes, Ints, Longs, compiled
from sentgen.schema import folders
from sentgen.schema.tables.corpus import EOS

WIDTH = 5
PAD = -1


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """Distinct n-grams of one order, sorted: ``words`` is (n, rows) int32, ``counts`` is (rows,) int64.

    Both arrays are reused for the next n-grams.
    """

    words: Ints
    counts: Longs


@compiled
def wrap(words: Ints, lengths: Ints, begins: int, ends: int) -> Ints:
    """Put ``begins`` before and ``ends`` after each sentence."""
    stream = np.empty(words.size + 2 * lengths.size, np.int32)
    at = 0
    start = 0
    for size in lengths:
        stream[at] = begins
        stream[at + 1 : at + 1 + size] = words[start : start + size]
        stream[at + 1 + size] = ends
        at += size + 2
        start += size
    return stream


@compiled
def _record_sizes(stream: Ints, ends: int) -> Bytes:
    """Return the number of words in the record of every position, the end-of-sentence word included."""
    sizes = np.empty(stream.size, np.uint8)
    left = 0
    # Backwards, counting from each end of a sentence.
    for i in range(stream.size - 1, -1, -1):
        left = 1 if stream[i] == ends else min(left + 1, WIDTH)
        sizes[i] = left
    return sizes


@compiled
def _pair_keys(left: Ints, right: Ints, sizes: Bytes, ahead: int, shift: int, keys: Bits) -> None:
    """Pack ``left`` of each position with ``right`` of that ``ahead`` later, 0 beyond the sentence."""
    for p in range(left.size):
        # 0 is PAD, less than all words, so that shorter records sort before their continuations.
        other = right[p + ahead] if ahead < sizes[p] else 0
        keys[p] = (np.uint64(left[p]) << np.uint64(shift)) | np.uint64(other)


@compiled
def _add_positions(keys: Bits, bits: int) -> None:
    for p in range(keys.size):
        keys[p] = (keys[p] << np.uint64(bits)) | np.uint64(p)


@compiled
def _rank(ordered: Bits, bits: int, ranks: Ints, distinct: Bits) -> int:
    """Number the distinct keys from 1 and write each position's number into ``ranks``."""
    # The low bits of a key are its position; the other bits are compared.
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    rank = 0
    for i in range(ordered.size):
        key = ordered[i] >> np.uint64(bits)
        if rank == 0 or key != distinct[rank]:
            rank += 1
            distinct[rank] = key
        ranks[ordered[i] & mask] = rank
    return rank


def _ranks(keys: Bits, key_bits: int) -> tuple[Ints, Bits]:
    """Return the rank of each key among the distinct ones, from 1, and the distinct keys by rank.

    The array of keys is overwritten.
    """
    position_bits = int(keys.size).bit_length()
    ranks = np.empty(keys.size, np.int32)
    if key_bits + position_bits <= 64:
        # Sorting plain integers is several times faster than sorting an index: carry the position along.
        _add_positions(keys, position_bits)
        keys.sort()
        distinct = np.zeros(keys.size + 1, np.uint64)
        return ranks, distinct[: _rank(keys, position_bits, ranks, distinct) + 1]
    # Key and position do not fit into 64 bits: compute the same ranks in a slower way.
    values, inverse = np.unique(keys, return_inverse=True)
    ranks[:] = inverse + 1
    return ranks, np.concatenate((np.zeros(1, np.uint64), values))


class _Packed(NamedTuple):
    """Distinct keys by rank, from 1; the low ``bits`` of a key are its right part."""

    keys: Bits
    bits: int


@compiled
def _distinct(
    ordered: Bits,
    at: int,
    shift: int,
    triples: _Packed,
    pairs: _Packed,
    names: Ints,
    records: Ints,
    counts: Ints,
) -> tuple[int, int]:
    """Unpack distinct records from ``at`` on into ids of the store, with counts, until the arrays are full.

    Return the number of records, and the index at which the next one begins.
    """
    rows = -1
    while at < ordered.size:
        key = ordered[at]
        if rows < 0 or key != ordered[at - 1]:
            if rows + 1 == counts.size:
                break
            rows += 1
            counts[rows] = 0
            triple = triples.keys[_left(key, shift)]
            here, ahead = pairs.keys[_left(triple, triples.bits)], pairs.keys[_right(key, shift)]
            records[rows, 0] = names[_left(here, pairs.bits)]
            records[rows, 1] = names[_right(here, pairs.bits)]
            records[rows, 2] = names[_right(triple, triples.bits)]
            records[rows, 3] = names[_left(ahead, pairs.bits)]
            records[rows, 4] = names[_right(ahead, pairs.bits)]
        counts[rows] += 1
        at += 1
    return rows + 1, at


@compiled
def _left(key: np.uint64, bits: int) -> np.uint64:
    return np.uint64(key >> np.uint64(bits))


@compiled
def _right(key: np.uint64, bits: int) -> np.uint64:
    return np.uint64(key & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


def sort_records(stream: Ints, names: Ints, *, ends: int, block: int) -> Iterator[tuple[Ints, Ints]]:
    """Sort and count the records of one chunk.

    Five words do not fit into one machine word, ranks do: bigrams are sorted and replaced by their rank,
    trigrams are a rank and a word, and a record is the rank of its trigram and that of its last bigram.

    Args:
        stream: (tokens,) int32, whole sentences one after the other, each from ``<s>`` to ``</s>``;
            words numbered densely from 0 in the order of ``names``.
        names: (types,) int32, rising: the id of each word in the store.
        ends: number of ``</s>`` in ``stream``.
        block: rows that are yielded at once, at most.

    Yields:
        Distinct records, (rows, 5) int32 in ids of the store, sorted; and their counts, (rows,) int32; both
        arrays are reused. Time O(tokens log tokens); memory about 40 bytes a token besides the input.
    """
    sizes = _record_sizes(stream, ends)
    words = stream + np.int32(1)  # 0 is PAD
    # `names` are ascending, so that sorting by number is sorting by id.
    named = np.concatenate((np.array([PAD], np.int32), names))
    word_bits = int(names.size + 1).bit_length()
    # One array for all three sorts, as allocating new memory takes longer than using it.
    keys = np.empty(stream.size, np.uint64)
    _pair_keys(words, words, sizes, 1, word_bits, keys)
    pair, pairs = _ranks(keys, 2 * word_bits)
    pair_bits = int(pairs.size).bit_length()
    _pair_keys(pair, words, sizes, 2, word_bits, keys)
    triple, triples = _ranks(keys, pair_bits + word_bits)
    # Words 1 to 3, and the bigram of words 4 and 5.
    _pair_keys(triple, pair, sizes, 3, pair_bits, keys)
    # This saves 13 bytes a token while the keys are sorted.
    del triple, pair, words, sizes
    keys.sort()
    size = min(block, keys.size)
    records, counts = np.empty((size, WIDTH), np.int32), np.empty(size, np.int32)
    trigrams, bigrams = _Packed(triples, word_bits), _Packed(pairs, word_bits)
    at = 0
    while at < keys.size:
        rows, at = _distinct(keys, at, pair_bits, trigrams, bigrams, named, records, counts)
        yield records[:rows], counts[:rows]


@compiled
def _roll_up(
    records: Ints,
    counts: Longs,
    at: int,
    last: Ints,
    open_counts: Longs,
    words: Ints,
    sums: Longs,
    rows: Longs,
) -> int:
    """Close n-grams that a record from ``at`` on does not share, and open those that begin with it.

    Return the index of the first record that was not read: the end, or where an order may have no room.
    """
    while at < counts.size and rows.max() < sums.shape[1]:
        # The number of first words that this record shares with the last one: their n-grams stay open.
        shared = 0
        while shared < WIDTH and records[at, shared] == last[shared] and last[shared] != PAD:
            shared += 1
        for n in range(rows.size):
            if n < shared:
                open_counts[n] += counts[at]
                continue
            # The input is sorted, so that an n-gram that is not shared never occurs again.
            if open_counts[n] > 0:
                row = rows[n]
                for k in range(n + 1):
                    words[n, k, row] = last[k]
                sums[n, row] = open_counts[n]
                rows[n] = row + 1
            # PAD is no word: the sentence is too short for an n-gram of this order here.
            open_counts[n] = counts[at] if records[at, n] != PAD else 0
        for k in range(WIDTH):
            last[k] = records[at, k]
        at += 1
    return at


#: Bytes of memory for sorting, in all arrays, for each token of a chunk.
_BYTES_PER_TOKEN = 80
#: Tokens of the largest chunk, whose positions, with a rank and a word, must fit into 64 bits.
_LARGEST_CHUNK = 1 << 24
_SMALLEST_CHUNK = 1 << 16
#: Bytes of memory for each record of a block that is merged and rolled up, all arrays counted.
BYTES_PER_RECORD = 512
#: Records of the largest block: larger blocks are no faster, and need more new memory.
_LARGEST_BLOCK = 1 << 17


@compiled
def _less(records: Ints, i: int, a: int, j: int, b: int) -> bool:
    for k in range(WIDTH):
        if records[i, a, k] != records[j, b, k]:
            return bool(records[i, a, k] < records[j, b, k])
    # Of equal records, that of the lower run is first, so that the merge is deterministic.
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
    """Merge until a buffer is empty or ``out`` is full; return the rows written, and the empty run or -1."""
    rows = 0
    while rows < sums.size and size > 0:
        run = heap[0]
        at = cursor[run]
        # Equal records of several runs are adjacent; a run has each record once.
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
        # The heap can be repaired only after the caller has filled the buffer.
        if cursor[run] == filled[run]:
            return rows, run
        _sink(heap, size, 0, records, cursor)
    return rows, -1


class SortedRuns(ABC):
    """Sorted runs of distinct records, with a block of each in memory.

    Attributes:
        records: (runs, rows of a block, 5) int32.
        counts: (runs, rows of a block) int32.
        filled: number of rows in the block of each run.
        cursor: number of them that are merged.
    """

    def __init__(self, runs: int, rows: int) -> None:
        self.records: Ints = np.empty((runs, rows, WIDTH), np.int32)
        self.counts: Ints = np.empty((runs, rows), np.int32)
        self.filled: Longs = np.zeros(runs, np.int64)
        self.cursor: Longs = np.zeros(runs, np.int64)

    @abstractmethod
    def fill(self, run: int) -> bool:
        """Read the next block of a run; False at its end."""


class _SpilledRuns(SortedRuns):
    """Spilled runs, read block by block; memory-mapped pages would count as memory of this process."""

    def __init__(self, files: Sequence[tuple[BinaryIO, BinaryIO]], block: int) -> None:
        super().__init__(len(files), block)
        self.files = files

    def fill(self, run: int) -> bool:
        records, counts = self.files[run]
        block = np.fromfile(counts, np.int32, self.counts.shape[1])
        size = block.size
        self.counts[run, :size] = block
        self.records[run, :size] = np.fromfile(records, np.int32, size * WIDTH).reshape(size, WIDTH)
        self.filled[run], self.cursor[run] = size, 0
        return size > 0


def merge_runs(paths: list[tuple[Path, Path]], *, block: int) -> Iterator[tuple[Ints, Longs]]:
    """Merge sorted runs into one sorted sequence of distinct records, in blocks.

    The last record of a block is held back, since the next block may begin with an equal record.
    """
    with ExitStack() as stack:
        files = [(stack.enter_context(r.open("rb")), stack.enter_context(c.open("rb"))) for r, c in paths]
        yield from merge(_SpilledRuns(files, max(1, block // len(paths))), block)


def merge(runs: SortedRuns, block: int) -> Iterator[tuple[Ints, Longs]]:
    """Merge runs of any source, as `merge_runs` does."""
    heap = np.array([run for run in range(runs.filled.size) if runs.fill(run)], np.int64)
    size = heap.size
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap, size, at, runs.records, runs.cursor)
    held: tuple[Ints, Longs] | None = None
    while size:
        out, sums = np.empty((block, WIDTH), np.int32), np.empty(block, np.int64)
        rows, dry = _merge(runs.records, runs.counts, runs.filled, runs.cursor, heap, size, out, sums)
        if dry >= 0 and not runs.fill(dry):
            # The run has ended: the last run of the heap takes its place at the top.
            size -= 1
            heap[0] = heap[size]
        if dry >= 0:
            _sink(heap, size, 0, runs.records, runs.cursor)
        # Only the first record can be equal, since records of a block are distinct.
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
    """Yield the n-grams of orders 1 to ``highest`` of records, in lists by order.

    The records come in blocks, which together are one sorted sequence of distinct records. The n-grams of an
    order are yielded when there are ``block`` of them, and at the end.
    """
    last, open_counts = np.full(WIDTH, PAD, np.int32), np.zeros(WIDTH, np.int64)
    words, sums = np.empty((highest, WIDTH, block), np.int32), np.empty((highest, block), np.int64)
    rows = np.zeros(highest, np.int64)

    def taken(chosen: Bools) -> list[NgramCounts]:
        sizes = np.where(chosen, rows, 0).tolist()
        rows[chosen] = 0
        return [NgramCounts(words[n, : n + 1, :size], sums[n, :size]) for n, size in enumerate(sizes)]

    # A record that shares no word closes all open n-grams.
    end = np.full((1, WIDTH), PAD, np.int32), np.zeros(1, np.int64)
    for some, counts in chain(records, [end]):
        added, at = counts.astype(np.int64), 0
        while at < added.size:
            at = _roll_up(some, added, at, last, open_counts, words, sums, rows)
            full = rows == block
            if full.any():
                yield taken(full)
    yield taken(rows > 0)


class NgramCounter:
    """Count the n-grams of a stream of sentences within a limit of memory.

    Args:
        highest: highest order that is counted.
        memory: bytes that sorting may take.
        folder: folder to which runs are spilled; made when needed, removed by `close`.
    """

    def __init__(self, *, highest: int, memory: int, folder: Path) -> None:
        self.highest, self.memory, self.folder = highest, memory, folder
        self.chunk = min(max(memory // _BYTES_PER_TOKEN, _SMALLEST_CHUNK), _LARGEST_CHUNK)
        self.block = min(max(memory // BYTES_PER_RECORD, _SMALLEST_CHUNK), _LARGEST_BLOCK)
        self._waiting: list[Ints] = []
        self._tokens = 0
        self._runs: list[tuple[Path, Path]] = []

    def add(self, stream: Ints) -> None:
        """Take whole sentences in ids of the store, each from ``<s>`` to ``</s>``."""
        # A chunk has whole streams, as cutting a sentence would lose n-grams.
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
        """Drop all records and remove the spilled files."""
        self._waiting, self._tokens, self._runs = [], 0, []
        folders.remove(self.folder)

    def _sorted_chunk(self) -> Iterator[tuple[Ints, Ints]]:
        if not self._waiting:
            return
        # Dense numbers in the order of the ids, which need few bits.
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
        # Plain arrays without a format, as only this process reads a run, once and in blocks.
        with paths[0].open("wb") as of_records, paths[1].open("wb") as of_counts:
            for records, counts in self._sorted_chunk():
                of_records.write(records.data)  # unlike `tofile`, says that the disk is full
                of_counts.write(counts.data)
        self._runs.append(paths)
