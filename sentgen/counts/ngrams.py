"""Count n-grams of all orders with one sort.

Every token starts one record: the words from it to the end of its sentence, five at most. In sorted order
the records that share their first *n* words lie together, so that one pass over the sorted records yields the
counts of every order, each already sorted. Chunks that do not fit in memory are sorted one by one, spilled
as runs of distinct records, and merged (`sentgen.counts.spill`).

The kernels know arrays only. A record is a row of five int32; beyond the end of the sentence stands ``PAD``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bytes, Ints, Longs, compiled

WIDTH = 5
PAD = -1


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """Distinct n-grams of one order, sorted: ``words`` is (n, rows) int32, ``counts`` is (rows,) int64."""

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
def _reach(stream: Ints, ends: int) -> Bytes:
    """Return for every position how many words its record has, up to and with the end-of-sentence word."""
    reach = np.empty(stream.size, np.uint8)
    left = 0
    # From the end: a record ends with the sentence of its first word.
    for i in range(stream.size - 1, -1, -1):
        left = 1 if stream[i] == ends else min(left + 1, WIDTH)
        reach[i] = left
    return reach


@compiled
def _pair_keys(left: Ints, right: Ints, reach: Bytes, ahead: int, shift: int) -> Bits:
    """Pack ``left`` of each position and ``right`` of the one ``ahead``, 0 beyond the end of the sentence."""
    keys = np.empty(left.size, np.uint64)
    for p in range(left.size):
        # 0 is PAD, and less than all words, so that a shorter n-gram comes before its continuations.
        other = right[p + ahead] if ahead < reach[p] else 0
        keys[p] = (np.uint64(left[p]) << np.uint64(shift)) | np.uint64(other)
    return keys


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
    """Replace keys by their rank among the distinct ones, from 1; also return the distinct keys by rank."""
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
    ordered: Bits, shift: int, triples: _Packed, pairs: _Packed, names: Ints, records: Ints, counts: Ints
) -> int:
    """Unpack the distinct keys into words of the store, with their counts; return how many there are."""
    rows = -1
    for i in range(ordered.size):
        key = ordered[i]
        if rows >= 0 and key == ordered[i - 1]:
            counts[rows] += 1
            continue
        rows += 1
        counts[rows] = 1
        triple = triples.keys[_left(key, shift)]
        here, ahead = pairs.keys[_left(triple, triples.bits)], pairs.keys[_right(key, shift)]
        records[rows, 0] = names[_left(here, pairs.bits)]
        records[rows, 1] = names[_right(here, pairs.bits)]
        records[rows, 2] = names[_right(triple, triples.bits)]
        records[rows, 3] = names[_left(ahead, pairs.bits)]
        records[rows, 4] = names[_right(ahead, pairs.bits)]
    return rows + 1


@compiled
def _left(key: np.uint64, bits: int) -> np.uint64:
    return np.uint64(key >> np.uint64(bits))


@compiled
def _right(key: np.uint64, bits: int) -> np.uint64:
    return np.uint64(key & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


def sort_records(stream: Ints, names: Ints, *, ends: int) -> tuple[Ints, Ints]:
    """Sort and count the records of one chunk.

    Five words do not fit into one machine word, ranks do: bigrams are sorted and replaced by their rank,
    trigrams are a rank and a word, and a record is the rank of its trigram and that of its last bigram.

    Args:
        stream: (tokens,) int32, whole sentences one after the other, each from ``<s>`` to ``</s>``;
            words numbered densely from 0 in the order of ``names``.
        names: (types,) int32, rising: the id of each word in the store.
        ends: number of ``</s>`` in ``stream``.

    Returns:
        Distinct records, (rows, 5) int32 in ids of the store, sorted; and their counts, (rows,) int32.
        Time O(tokens log tokens); memory about 60 bytes a token beside the input.
    """
    reach = _reach(stream, ends)
    words = stream + np.int32(1)  # 0 is PAD
    # `names` rise, so that order by number is order by id, and the result is sorted for the store.
    named = np.concatenate((np.array([PAD], np.int32), names))
    word_bits = int(names.size + 1).bit_length()
    pair, pairs = _ranks(_pair_keys(words, words, reach, 1, word_bits), 2 * word_bits)
    pair_bits = int(pairs.size).bit_length()
    triple, triples = _ranks(_pair_keys(pair, words, reach, 2, word_bits), pair_bits + word_bits)
    # Words 1 to 3, and the bigram of words 4 and 5.
    keys = _pair_keys(triple, pair, reach, 3, pair_bits)
    # 13 bytes a token less while the keys are sorted.
    del triple, pair, words, reach
    keys.sort()
    records = np.empty((stream.size, WIDTH), np.int32)
    counts = np.empty(stream.size, np.int32)
    trigrams, bigrams = _Packed(triples, word_bits), _Packed(pairs, word_bits)
    rows = _distinct(keys, pair_bits, trigrams, bigrams, named, records, counts)
    return records[:rows], counts[:rows]


@compiled
def _roll_up(
    records: Ints,
    counts: Longs,
    last: Ints,
    open_counts: Longs,
    words: Ints,
    sums: Longs,
    rows: Longs,
    highest: int,
) -> None:
    """Close the n-grams that end with each new record and open those that begin with it."""
    for i in range(counts.size):
        # As many words as this record begins with like the last one: those n-grams are still open.
        shared = 0
        while shared < WIDTH and records[i, shared] == last[shared] and last[shared] != PAD:
            shared += 1
        for n in range(highest):
            if n < shared:
                open_counts[n] += counts[i]
                continue
            # Sorted input: an n-gram that is not shared never comes again.
            if open_counts[n] > 0:
                row = rows[n]
                for k in range(n + 1):
                    words[n, k, row] = last[k]
                sums[n, row] = open_counts[n]
                rows[n] = row + 1
            # PAD is no word: the sentence is too short for an n-gram of this order here.
            open_counts[n] = counts[i] if records[i, n] != PAD else 0
        for k in range(WIDTH):
            last[k] = records[i, k]


class RollUp:
    """Turn sorted records into n-gram counts of orders 1 to ``highest``, block by block.

    The blocks together are one sorted sequence of distinct records; n-grams that run over the end of a
    block are held back until they are complete.
    """

    def __init__(self, highest: int) -> None:
        self.highest = highest
        self._last = np.full(WIDTH, PAD, np.int32)
        self._open = np.zeros(WIDTH, np.int64)

    def add(self, records: Ints, counts: Ints | Longs) -> list[NgramCounts]:
        """Take the next block; return the n-grams that it completes, by order."""
        # Each record closes at most one n-gram of an order.
        room = counts.size + 1
        words = np.empty((self.highest, WIDTH, room), np.int32)
        sums = np.empty((self.highest, room), np.int64)
        rows = np.zeros(WIDTH, np.int64)
        _roll_up(records, counts.astype(np.int64), self._last, self._open, words, sums, rows, self.highest)
        return [NgramCounts(words[n, : n + 1, : rows[n]], sums[n, : rows[n]]) for n in range(self.highest)]

    def finish(self) -> list[NgramCounts]:
        """Return the n-grams that were held back."""
        # A record that shares nothing closes all that is open.
        end = np.full((1, WIDTH), PAD, np.int32)
        return self.add(end, np.zeros(1, np.int64))
