"""Count n-grams of all orders with one sort.

Every token starts one record: the words from it to the end of its sentence, five at most. In sorted order
the records that share their first *n* words lie together, so that one pass over the sorted records yields the
counts of every order, each already sorted. Chunks that do not fit in memory are sorted one by one, spilled
as runs of distinct records, and merged (`sentgen.counts.spill`).

The kernels know arrays only. A record is a row of five int32; beyond the end of the sentence stands ``PAD``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bools, Bytes, Ints, Longs, compiled

WIDTH = 5
PAD = -1


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """Distinct n-grams of one order, sorted: ``words`` is (n, rows) int32, ``counts`` is (rows,) int64.

    Both are filled anew by what counts next.
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
    """Return for every position how many words its record has, up to and with the end-of-sentence word."""
    sizes = np.empty(stream.size, np.uint8)
    left = 0
    # From the end: a record ends with the sentence of its first word.
    for i in range(stream.size - 1, -1, -1):
        left = 1 if stream[i] == ends else min(left + 1, WIDTH)
        sizes[i] = left
    return sizes


@compiled
def _pair_keys(left: Ints, right: Ints, sizes: Bytes, ahead: int, shift: int, keys: Bits) -> None:
    """Pack ``left`` of each position and ``right`` of the one ``ahead``, 0 beyond the end of the sentence."""
    for p in range(left.size):
        # 0 is PAD, and less than all words, so that a shorter n-gram comes before its continuations.
        other = right[p + ahead] if ahead < sizes[p] else 0
        keys[p] = (np.uint64(left[p]) << np.uint64(shift)) | np.uint64(other)


@compiled
def _add_positions(keys: Bits, bits: int) -> None:
    for p in range(keys.size):
        keys[p] = (keys[p] << np.uint64(bits)) | np.uint64(p)


@compiled
def _rank(ordered: Bits, bits: int, ranks: Ints, distinct: Bits) -> int:
    """Number the distinct keys from 1 and write each position's number into ``ranks``."""
    # The low bits of a key are its position, the others what is compared.
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

    What the keys are is lost.
    """
    position_bits = int(keys.size).bit_length()
    ranks = np.empty(keys.size, np.int32)
    if key_bits + position_bits <= 64:
        # Sorting plain integers is several times faster than sorting an index: carry the position along.
        _add_positions(keys, position_bits)
        keys.sort()
        distinct = np.zeros(keys.size + 1, np.uint64)
        return ranks, distinct[: _rank(keys, position_bits, ranks, distinct) + 1]
    # Too large a chunk or vocabulary to pack: the same ranks by a slower way.
    values, inverse = np.unique(keys, return_inverse=True)
    ranks[:] = inverse + 1
    return ranks, np.concatenate((np.zeros(1, np.uint64), values))


class _Packed(NamedTuple):
    """Distinct keys by rank, from 1; the lower bits of each are its right part."""

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
    """Unpack the distinct keys from ``at`` on into words of the store, with their counts, until all is full.

    Return how many there are, and where the next one begins.
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
        Distinct records, (rows, 5) int32 in ids of the store, sorted; and their counts, (rows,) int32: arrays
        that the next ones are put into. Time O(tokens log tokens); memory about 40 bytes a token beside the
        input.
    """
    sizes = _record_sizes(stream, ends)
    words = stream + np.int32(1)  # 0 is PAD
    # `names` rise, so that order by number is order by id, and the result is sorted for the store.
    named = np.concatenate((np.array([PAD], np.int32), names))
    word_bits = int(names.size + 1).bit_length()
    # One array for all three sorts: new memory costs the system more time than is spent in it.
    keys = np.empty(stream.size, np.uint64)
    _pair_keys(words, words, sizes, 1, word_bits, keys)
    pair, pairs = _ranks(keys, 2 * word_bits)
    pair_bits = int(pairs.size).bit_length()
    _pair_keys(pair, words, sizes, 2, word_bits, keys)
    triple, triples = _ranks(keys, pair_bits + word_bits)
    # Words 1 to 3, and the bigram of words 4 and 5.
    _pair_keys(triple, pair, sizes, 3, pair_bits, keys)
    # 13 bytes a token less while the keys are sorted.
    del triple, pair, words, sizes
    keys.sort()
    room = min(block, keys.size)
    records, counts = np.empty((room, WIDTH), np.int32), np.empty(room, np.int32)
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
    """Close the n-grams that end with each record from ``at`` on, and open those that begin with it.

    Return where it has stopped: at the end, or before a record for which an order may have no room.
    """
    while at < counts.size and rows.max() < sums.shape[1]:
        # As many words as this record begins with like the last one: those n-grams are still open.
        shared = 0
        while shared < WIDTH and records[at, shared] == last[shared] and last[shared] != PAD:
            shared += 1
        for n in range(rows.size):
            if n < shared:
                open_counts[n] += counts[at]
                continue
            # Sorted input: an n-gram that is not shared never comes again.
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


class RollUp:
    """Turn sorted records into n-gram counts of orders 1 to ``highest``.

    The records come in blocks, which together are one sorted sequence of distinct ones. An order is handed
    out when it has ``room`` rows, and at the end.
    """

    def __init__(self, highest: int, size: int) -> None:
        self._last = np.full(WIDTH, PAD, np.int32)
        self._open = np.zeros(WIDTH, np.int64)
        self._words = np.empty((highest, WIDTH, size), np.int32)
        self._sums = np.empty((highest, size), np.int64)
        self._rows = np.zeros(highest, np.int64)

    def add(self, records: Ints, counts: Ints | Longs) -> Iterator[list[NgramCounts]]:
        """Take the next records; yield the n-grams of orders that are full, by order, none of the others."""
        sums, at = counts.astype(np.int64), 0
        while at < sums.size:
            at = _roll_up(records, sums, at, self._last, self._open, self._words, self._sums, self._rows)
            full = self._rows == self._sums.shape[1]
            if full.any():
                yield self._taken(full)

    def finish(self) -> Iterator[list[NgramCounts]]:
        """Yield all that is left."""
        # A record that shares nothing closes all that is open.
        end = np.full((1, WIDTH), PAD, np.int32)
        yield from self.add(end, np.zeros(1, np.int64))
        yield self._taken(self._rows > 0)

    def _taken(self, chosen: Bools) -> list[NgramCounts]:
        rows = np.where(chosen, self._rows, 0)
        self._rows -= rows
        return [
            NgramCounts(self._words[n, : n + 1, :size], self._sums[n, :size])
            for n, size in enumerate(rows.tolist())
        ]
