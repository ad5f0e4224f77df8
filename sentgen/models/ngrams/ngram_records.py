"""All n-grams of a model as records of 32 bytes, found by their words alone, and all words by their letters.

A record has the words of its n-gram, five of 25 bits, its log-probability and its back-off weight. The first
records are the unigrams, each at the number of its word. Behind them the longer ones lie in an
open-addressing hash table: on the way from where it is looked for first to its own record, an n-gram passes
greater ones alone (Amble and Knuth 1974), so that one that is not there is missed at the first smaller one.
Nothing points from one record to another: they can be made in any order, and mapped from a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bytes, Floats, Ints, Longs, compiled
from sentgen.models.ngrams.ngram_cache import StoredNgrams
from sentgen.models.ngrams.ngram_table import MISSING_UNK, NEVER
from sentgen.schema.tables.corpus import BOS, UNK

#: Bytes of a record.
WIDTH = 32
#: Words have smaller numbers: five of them fit into a record.
MOST_WORDS = (1 << 25) - 1
#: Records of longer n-grams to each that is taken.
_ROOM = 1.5
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0xD6E8FEB86659FD93))
#: N-grams whose records are asked for before one of them is looked at, as memory answers many at once.
_AHEAD = 64


class NgramRecords(NamedTuple):
    """The records, as two views of the same bytes.

    Each n-gram has its words but the last as an n-gram, as building and importing see to it.
    """

    words: Bits  # (R, 4) the first two columns: words as `packed` packs them, 0 of what the model has not
    values: Floats  # (R, 4) the last two: log-probability, NaN of words without unigram, and back-off weight
    unigrams: int  # records of unigrams

    def clear(self) -> None:
        """Make records of zeros those of a model without n-grams."""
        self.values[: self.unigrams, 2] = np.nan
        self.values[UNK, 2], self.values[BOS, 2] = MISSING_UNK, NEVER


class ModelWords(NamedTuple):
    """The words of a model, sorted by their bytes."""

    pool: Bytes  # these, one behind the other
    ends: Longs  # (W + 1,) of each of them, from 1 on
    ids: Ints  # (W,) their numbers

    def numbers(self, forms: Sequence[str]) -> Ints:
        """Return the number of each form, that of <unk> where it is no word of the vocabulary."""
        coded = [form.encode(errors="surrogatepass") for form in forms]  # whatever is asked for
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        return _searched(self, np.frombuffer(b"".join(coded), np.uint8), ends)


def records_for(greatest: int, longer: int) -> int:
    """Return how many records a model takes, by its greatest word and its n-grams of two words or more."""
    return records_of_words(greatest) + 2 * int(longer * _ROOM / 2 + _AHEAD)


def records_of_words(greatest: int) -> int:
    """Return how many records the unigrams take: an even number, as two records make a line of memory."""
    return greatest // 2 * 2 + 2


@compiled
def packed(first: np.uint64, second: np.uint64, position: int, word: int) -> tuple[np.uint64, np.uint64]:
    """Add a word at its place, from 0, to the packed words before it; 1 more, for there is a word 0."""
    code = np.uint64(word + 1)
    if position < 2:
        return first | code << np.uint64(25 * position), second
    if position == 2:
        return first | code << np.uint64(50), code >> np.uint64(14)
    return first, second | code << np.uint64(11 + 25 * (position - 3))


@compiled
def home_of(records: NgramRecords, first: np.uint64, second: np.uint64) -> int:
    """Return where an n-gram of two words or more is looked for first: the first record of a line."""
    code = first * _FACTORS[0] ^ (second + _FACTORS[0]) * _FACTORS[1]
    code = (code ^ code >> np.uint64(32)) * _FACTORS[2]
    lines = np.uint64((len(records.words) - records.unigrams) // 2)
    return int(records.unigrams + 2 * np.int64((code >> np.uint64(32)) * lines >> np.uint64(32)))


@compiled
def behind(records: NgramRecords, at: int, first: np.uint64, second: np.uint64) -> int:
    """Return the first record from one on, round the table, that has no greater n-gram than this."""
    words, last = records.words, len(records.words) - 1
    while words[at, 0] > first or (words[at, 0] == first and words[at, 1] > second):
        at = at + 1 if at < last else records.unigrams
    return at


@compiled
def put(records: NgramRecords, stored: StoredNgrams) -> None:
    """Add n-grams, none of which is there."""
    size = len(stored.lengths)
    homes, codes = np.empty(size, np.int64), np.empty((size, 2), np.uint64)
    for i in range(size):
        length = stored.lengths[i]
        first, second = packed(np.uint64(0), np.uint64(0), 0, stored.w1[i])
        if length > 1:
            first, second = packed(first, second, 1, stored.w2[i])
        if length > 2:
            first, second = packed(first, second, 2, stored.w3[i])
        if length > 3:
            first, second = packed(first, second, 3, stored.w4[i])
        if length > 4:
            first, second = packed(first, second, 4, stored.w5[i])
        codes[i, 0], codes[i, 1] = first, second
        homes[i] = home_of(records, first, second) if length > 1 else stored.w1[i]
    for i in range(size):
        _insert(records, homes[i], codes[i, 0], codes[i, 1], stored.logp[i], stored.backoff[i])


@compiled
def _insert(
    records: NgramRecords, at: int, first: np.uint64, second: np.uint64, logp: float, backoff: float
) -> None:
    """Put an n-gram in the place of the first smaller one, which goes on in the same way."""
    words, values = records.words, records.values
    while True:
        at = behind(records, at, first, second)
        other = words[at, 0], words[at, 1], values[at, 2], values[at, 3]
        words[at, 0], words[at, 1], values[at, 2], values[at, 3] = first, second, logp, backoff
        if other[0] == 0:
            return
        first, second, logp, backoff = other


@compiled
def score_stream(records: NgramRecords, order: int, stream: Ints) -> tuple[Floats, Ints]:
    """Return log p of each word of a text after those before it, and the length of the n-gram that has it.

    Sentences begin with <s>, which gets no probability. All n-grams of a length are looked up before longer
    ones, as in `score_text`, which sums the same numbers in the same order.
    """
    size = len(stream)
    logp, lengths = np.empty(size), np.ones(size, np.int32)
    # Of the n-gram that ends at a place, and of the one that is longer by a word: is it there, what does it
    # weigh as a context, and its words.
    found, longer = np.ones(size, np.bool_), np.zeros(size, np.bool_)
    weight, its_weight = np.empty(size), np.zeros(size)
    words, its_words = np.empty((size, 2), np.uint64), np.zeros((size, 2), np.uint64)
    for place in range(size):
        word = stream[place]
        known = word if word < records.unigrams and not np.isnan(records.values[word, 2]) else UNK
        logp[place], weight[place] = records.values[known, 2], records.values[known, 3]
        words[place, 0], words[place, 1] = packed(np.uint64(0), np.uint64(0), 0, word)
    homes, ahead = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.uint64)
    for n in range(2, order + 1):
        for begin in range(0, size, _AHEAD):
            end = min(begin + _AHEAD, size)
            for place in range(begin, end):
                homes[place - begin] = -1
                if stream[place] != BOS and found[place - 1]:
                    first, second = packed(words[place - 1, 0], words[place - 1, 1], n - 1, stream[place])
                    home = home_of(records, first, second)
                    its_words[place, 0], its_words[place, 1], homes[place - begin] = first, second, home
                    ahead[place - begin] = records.words[home, 0]
            for place in range(begin, end):
                longer[place] = False
                if homes[place - begin] < 0:
                    continue
                first, second, at = its_words[place, 0], its_words[place, 1], homes[place - begin]
                if ahead[place - begin] >= first:
                    at = behind(records, at, first, second)
                    longer[place] = records.words[at, 0] == first and records.words[at, 1] == second
                if longer[place]:
                    logp[place], lengths[place] = records.values[at, 2], n
                    its_weight[place] = records.values[at, 3]
                else:
                    logp[place] += weight[place - 1]
        found, longer = longer, found
        weight, its_weight = its_weight, weight
        words, its_words = its_words, words
    return logp, lengths


def vocabulary_of(words: Sequence[tuple[str, int]]) -> ModelWords:
    """Return the vocabulary of some words and their numbers."""
    coded = sorted((form.encode(), number) for form, number in words)
    ends = np.cumsum([0, *(len(form) for form, _ in coded)], dtype=np.int64)
    pool = np.frombuffer(b"".join(form for form, _ in coded), np.uint8)
    return ModelWords(pool, ends, np.array([number for _, number in coded], np.int32))


@compiled
def _searched(vocabulary: ModelWords, text: Bytes, ends: Longs) -> Ints:
    found = np.full(len(ends) - 1, UNK, np.int32)
    for form in range(len(found)):
        low, high = 0, len(vocabulary.ids)
        while low < high:
            middle = (low + high) // 2
            order = _compared(vocabulary.pool, vocabulary.ends, middle, text, ends, form)
            if order == 0:
                found[form] = vocabulary.ids[middle]
                break
            if order < 0:
                low = middle + 1
            else:
                high = middle
    return found


@compiled
def _compared(pool: Bytes, ends: Longs, word: int, text: Bytes, text_ends: Longs, other: int) -> int:
    """Return a number below 0 where a word comes before another one, 0 if it is the same."""
    begin, size = ends[word], ends[word + 1] - ends[word]
    its_begin, its_size = text_ends[other], text_ends[other + 1] - text_ends[other]
    for i in range(min(size, its_size)):
        if pool[begin + i] != text[its_begin + i]:
            return -1 if pool[begin + i] < text[its_begin + i] else 1
    return int(size - its_size)
