"""The n-grams of a model that is laid out, of the words of one bag each.

They are not filtered out of all that share an anchor with the bags: each n-gram is tried with each word of
its bag behind it, as there are few of few words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sentgen.arrays import Bits, Floats, Ints, compiled
from sentgen.models.ngrams.ngram_cache import CachedNgrams, joined
from sentgen.models.ngrams.ngram_records import NgramRecords, behind, home_of, packed
from sentgen.schema.tables.corpus import BOS, EOS


def ngrams_of_bags(
    records: NgramRecords, order: int, bags: Sequence[Sequence[int]], everywhere: Iterable[int]
) -> CachedNgrams:
    """Return the n-grams that lie within one bag, each once, as the store sorts them.

    Args:
        records: the model.
        order: that of the model.
        bags: the word ids of each bag.
        everywhere: word ids that count as members of every bag, and of one bag if there is none.
    """
    always = set(everywhere)
    parts = []
    for bag in bags or [()]:
        words = np.array(sorted(always.union(bag)), np.int32)
        parts.append(CachedNgrams(*_ngrams_of_bag(records, order, words[words < records.unigrams])))
    rows = joined(parts, order)
    rows = rows.where(np.lexsort((*rows.words.T[::-1], rows.lengths, rows.words.max(axis=1))))
    is_first = np.ones(len(rows.logp), np.bool_)
    is_first[1:] = (rows.words[1:] != rows.words[:-1]).any(axis=1)
    return rows.where(is_first)


@compiled
def _ngrams_of_bag(records: NgramRecords, order: int, words: Ints) -> tuple[Ints, Floats, Floats]:
    """Return all n-grams of some words, the shorter ones first."""
    grams, codes, values = (
        np.full((256, order), -1, np.int32),
        np.empty((256, 2), np.uint64),
        np.empty((256, 2)),
    )
    size = 0
    for word in words:
        if records.words[word, 0] != 0:
            grams, codes, values = _with_room(grams, codes, values, size)
            grams[size, 0] = word
            _copy(records, word, codes, values, size)
            size += 1
    begin, followers = 0, grams[:size, 0][grams[:size, 0] != BOS]
    homes, ahead = np.empty(len(followers), np.int64), np.empty(len(followers), np.uint64)
    for n in range(1, order):
        end = size
        for gram in range(begin, end):
            if grams[gram, n - 1] == EOS:
                continue
            # All are asked for before one is looked at, as memory answers many at once.
            for one in range(len(followers)):
                homes[one] = home_of(records, *packed(codes[gram, 0], codes[gram, 1], n, followers[one]))
                ahead[one] = records.words[homes[one], 0]
            for one in range(len(followers)):
                first, second = packed(codes[gram, 0], codes[gram, 1], n, followers[one])
                if ahead[one] < first:
                    continue
                at = behind(records, homes[one], first, second)
                if records.words[at, 0] == first and records.words[at, 1] == second:
                    grams, codes, values = _with_room(grams, codes, values, size)
                    grams[size, :n], grams[size, n] = grams[gram, :n], followers[one]
                    _copy(records, at, codes, values, size)
                    size += 1
        begin = end
    return grams[:size].copy(), values[:size, 0].copy(), values[:size, 1].copy()


@compiled
def _copy(records: NgramRecords, at: int, codes: Bits, values: Floats, to: int) -> None:
    codes[to, 0], codes[to, 1] = records.words[at, 0], records.words[at, 1]
    values[to, 0], values[to, 1] = records.values[at, 2], records.values[at, 3]


@compiled
def _with_room(grams: Ints, codes: Bits, values: Floats, size: int) -> tuple[Ints, Bits, Floats]:
    """Return the arrays with room for one n-gram more."""
    if size < len(grams):
        return grams, codes, values
    more = np.full_like(grams, -1)
    return (
        np.concatenate((grams, more)),
        np.concatenate((codes, np.empty_like(codes))),
        np.concatenate((values, np.empty_like(values))),
    )
