"""A back-off language model as flat arrays, compiled; with a plain reference beside it.

Every n-gram is a row. Rows form a trie: the pair (row of the prefix, last word) is the key of an
open-addressing hash table whose value is the row. A state of the language model is the row of the longest
known suffix of the words so far, so that extending it costs one probe, and one more for each back-off step.

Katz 1987, section II, as ARPA files put it: with h the context and h' the context without its first word,

    log p(w | h) = logp(h w)                        if the n-gram h w is known
                 = backoff(h) + log p(w | h')       otherwise; backoff(h) = 0 if h is unknown

All logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, Longs, compiled
from sentgen.schema.tables.corpus import BOS, UNK

MISSING_UNK = -100 * math.log(10)
#: Log-probability of <s>, which is only ever a context: 10^-99, as ARPA files write it.
NEVER = -99 * math.log(10)
#: Row of the empty context.
EMPTY = 0


class NgramTable(NamedTuple):
    """The arrays of a model; R rows, row 0 is the empty context.

    A row whose n-gram is only a prefix of others ("blank") has the log-probability that backing off gives.
    """

    keys: Longs  # (power of two,) row of the prefix << 32 | last word; -1 where free
    values: Ints  # (power of two,) row of the n-gram
    logp: Floats  # (R,)
    backoff: Floats  # (R,)
    suffix: Ints  # (R,) row of the longest known proper suffix
    state: Ints  # (R,) row of the longest suffix that can still matter for words to come
    bits: int  # log2 of the capacity


@compiled
def slot_of(keys: Longs, bits: int, key: int | np.int64) -> int:
    """Return the slot that holds the key, or the free slot where it belongs (Fibonacci hashing)."""
    mask = (1 << bits) - 1
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@compiled
def find(table: NgramTable, state: int, word: int) -> int:
    """Return the row of the n-gram made of a row and one more word, -1 if it is unknown."""
    slot = slot_of(table.keys, table.bits, (np.int64(state) << 32) | np.int64(word))
    return int(table.values[slot]) if table.keys[slot] != -1 else -1


@compiled
def look_up(table: NgramTable, state: int, word: int) -> tuple[float, int]:
    """Return log p(word | state) and the row that has it; a word without unigram is taken for <unk>."""
    total = 0.0
    while True:
        row = find(table, state, word)
        if row >= 0:
            return total + table.logp[row], row
        if state == 0:
            word = 0
        else:
            total += table.backoff[state]
            state = int(table.suffix[state])


@compiled
def extend(table: NgramTable, state: int, word: int) -> tuple[float, int]:
    """Return log p(word | state) and the state after the word."""
    logp, row = look_up(table, state, word)
    return logp, int(table.state[row])


@compiled
def score_words(table: NgramTable, state: int, words: Ints) -> tuple[float, int]:
    """Return the sum of the log-probabilities of words after a state, and the state after them."""
    total = 0.0
    for word in words:
        logp, state = extend(table, state, word)
        total += logp
    return total, state


@compiled
def insert(table: NgramTable, row: int, prefix: int, word: int) -> None:
    """Store the row of the n-gram made of the row of its prefix and one more word."""
    key = (np.int64(prefix) << 32) | np.int64(word)
    slot = slot_of(table.keys, table.bits, key)
    table.keys[slot], table.values[slot] = key, row


@compiled
def _longest_suffix(table: NgramTable, prefix: int, word: int) -> int:
    """Return the row of the longest known proper suffix: of the prefix' first suffix that takes the word."""
    while prefix != 0:
        prefix = int(table.suffix[prefix])
        found = find(table, prefix, word)
        if found >= 0:
            return found
    return 0


@compiled
def connect(table: NgramTable, prefixes: Ints, last: Ints, highest: int) -> None:
    """Set suffixes and states of all rows, which come after the rows of shorter n-grams.

    A row without log-probability (NaN) is blank if another row needs it; else it is not of the model, and the
    hash forgets it.

    Args:
        table: with keys, values, log-probabilities and back-off weights.
        prefixes: (R,) row of the prefix of each row.
        last: (R,) last word of each row.
        highest: first row whose n-gram has the order of the model.
    """
    children = np.zeros(len(prefixes), np.bool_)
    for row in range(len(prefixes) - 1, 0, -1):
        if children[row] or not np.isnan(table.logp[row]):
            children[prefixes[row]] = True
        else:
            insert(table, -1, prefixes[row], last[row])
    for row in range(1, len(prefixes)):
        blank = np.isnan(table.logp[row])
        if blank and not children[row]:
            continue
        prefix = prefixes[row]
        table.suffix[row] = _longest_suffix(table, prefix, last[row])
        if blank:
            logp, _ = extend(table, table.suffix[prefix], last[row])
            table.logp[row] = table.backoff[prefix] + logp
        useful = row < highest and (children[row] or table.backoff[row] != 0)
        table.state[row] = row if useful else table.state[table.suffix[row]]


@compiled
def _build(table: NgramTable, words: Ints, lengths: Ints, highest: int) -> int:
    """Fill hash, suffixes and states of rows sorted by length; return the first without a prefix, or -1."""
    prefixes, last = np.zeros(len(lengths), np.int32), np.zeros(len(lengths), np.int32)
    for row in range(1, len(lengths)):
        n, prefix = lengths[row], 0
        for i in range(n - 1):
            prefix = find(table, prefix, words[row, i])
            if prefix < 0:
                return row
        prefixes[row], last[row] = prefix, words[row, n - 1]
        insert(table, row, prefix, words[row, n - 1])
    connect(table, prefixes, last, highest)
    return -1


def build_table(words: Ints, lengths: Ints, logp: Floats, backoff: Floats) -> NgramTable:
    """Build the table of a model; duplicates must not occur.

    <unk> and <s> are added if they are missing, and so are prefixes that a pruned model left out.

    Args:
        words: (R, order of the model) ids, whatever beyond an n-gram's length.
        lengths: (R,) order of each n-gram.
        logp, backoff: (R,) natural logarithms.
    """
    order = words.shape[1]
    words, lengths, logp, backoff = _with_reserved(words, lengths, logp, backoff)
    while True:
        table, sorted_words, sorted_lengths = _allocate(words, lengths, logp, backoff)
        highest = int(np.searchsorted(sorted_lengths, order))
        if _build(table, sorted_words, sorted_lengths, highest) < 0:
            return table
        words, lengths, logp, backoff = _with_prefixes(words, lengths, logp, backoff)


def empty_hash(rows: int) -> tuple[Longs, Ints, int]:
    """Return keys, values and bits of a hash that so many rows fill to two thirds at most."""
    bits = max(4, math.ceil(math.log2(rows * 1.5)))
    return np.full(1 << bits, -1, np.int64), np.zeros(1 << bits, np.int32), bits


def _allocate(words: Ints, lengths: Ints, logp: Floats, backoff: Floats) -> tuple[NgramTable, Ints, Ints]:
    """Sort by length, put the empty context in front, and allocate the table."""
    by_length = np.argsort(lengths, kind="stable")
    rows = len(lengths) + 1
    keys, values, bits = empty_hash(rows)
    table = NgramTable(
        keys=keys,
        values=values,
        logp=np.concatenate(([0.0], logp[by_length])),
        backoff=np.concatenate(([0.0], backoff[by_length])),
        suffix=np.zeros(rows, np.int32),
        state=np.zeros(rows, np.int32),
        bits=bits,
    )
    nothing = np.zeros((1, words.shape[1]), np.int32)
    return (
        table,
        np.ascontiguousarray(np.concatenate((nothing, words[by_length])), np.int32),
        np.concatenate((np.zeros(1, np.int32), lengths[by_length].astype(np.int32))),
    )


def _with_reserved(
    words: Ints, lengths: Ints, logp: Floats, backoff: Floats
) -> tuple[Ints, Ints, Floats, Floats]:
    """Add <unk> and <s> where a model has none."""
    known = set(words[lengths == 1, 0].tolist()) if len(lengths) else set()
    missing = [(word, value) for word, value in ((UNK, MISSING_UNK), (BOS, NEVER)) if word not in known]
    extra = np.full((len(missing), max(1, words.shape[1])), -1, np.int32)
    extra[:, 0] = [word for word, _ in missing]
    return (
        np.concatenate((words, extra)),
        np.concatenate((lengths, np.ones(len(missing), lengths.dtype))),
        np.concatenate((logp, [value for _, value in missing])),
        np.concatenate((backoff, np.zeros(len(missing)))),
    )


def _with_prefixes(
    words: Ints, lengths: Ints, logp: Floats, backoff: Floats
) -> tuple[Ints, Ints, Floats, Floats]:
    """Add the missing prefixes of all n-grams as blank rows: no log-probability yet, no back-off weight."""
    known = {tuple(row[:n]) for row, n in zip(words.tolist(), lengths.tolist(), strict=True)}
    blank = sorted({gram[:n] for gram in known for n in range(1, len(gram))} - known)
    unk = logp[(lengths == 1) & (words[:, 0] == UNK)][0]
    extra = np.full((len(blank), words.shape[1]), -1, np.int32)
    for row, gram in zip(extra, blank, strict=True):
        row[: len(gram)] = gram
    return (
        np.concatenate((words, extra)),
        np.concatenate((lengths, np.array([len(gram) for gram in blank], lengths.dtype))),
        np.concatenate((logp, [unk if len(gram) == 1 else np.nan for gram in blank])),
        np.concatenate((backoff, np.zeros(len(blank)))),
    )


def row_lengths(table: NgramTable, order: int) -> Ints:
    """Return how many words the n-gram of each row has."""
    used = (table.keys != -1) & (table.values > 0)
    prefixes = np.zeros(len(table.logp), np.int32)
    prefixes[table.values[used]] = table.keys[used] >> 32
    lengths: Ints = np.zeros(len(prefixes), np.int32)
    for _ in range(order):
        lengths = np.where(np.arange(len(prefixes)) > EMPTY, lengths[prefixes] + 1, 0).astype(np.int32)
    return lengths


def start_state(table: NgramTable) -> int:
    """Return the state at the beginning of a sentence."""
    return int(table.state[find(table, EMPTY, BOS)])


def backoff_logp(
    ngrams: Mapping[tuple[int, ...], tuple[float, float]], context: Sequence[int], word: int
) -> float:
    """Return log p(word | context) by the definition above; the readable reference of `extend`.

    >>> toy = {(0,): (-3.0, 0.0), (7,): (-1.0, -0.5), (8,): (-2.0, 0.0), (7, 7): (-0.25, 0.0)}
    >>> backoff_logp(toy, (7,), 7), backoff_logp(toy, (7,), 8), backoff_logp(toy, (8,), 9)
    (-0.25, -2.5, -3.0)
    """
    gram = (*context, word)
    if gram in ngrams:
        return ngrams[gram][0]
    if not context:
        return ngrams.get((UNK,), (MISSING_UNK, 0.0))[0]
    weight = ngrams.get(tuple(context), (0.0, 0.0))[1]
    return weight + backoff_logp(ngrams, context[1:], word)
