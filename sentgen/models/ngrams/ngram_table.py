"""A back-off language model as flat arrays with compiled look-ups, and a plain reference implementation.

Every n-gram is a row. Rows form a trie: an open-addressing hash table finds a row by the row of its prefix
and its last word. A state of the language model is the row of the longest known suffix of the words so far,
so that extending it costs one probe, and one more for each back-off step.

Katz 1987, section II, as ARPA files put it: with h the context and h' the context without its first word,

    log p(w | h) = logp(h w)                        if the n-gram h w is known
                 = backoff(h) + log p(w | h')       otherwise; backoff(h) = 0 if h is unknown

All logarithms are natural. `NgramTables` has several models as one set of arrays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from sentgen.arrays import Floats, Ints, Longs, Shorts, compiled
from sentgen.schema.tables.corpus import BOS, EOS, UNK

MISSING_UNK = -100 * math.log(10)
#: Log-probability of <s>, which is only a context: that of 10^-99, as ARPA files write it.
NEVER = -99 * math.log(10)
#: Row of the empty context.
EMPTY = 0
#: The memory layout of a row: interleaved, so that a look-up waits for memory once.
_ROW = np.dtype(
    [
        *(("prefix", np.int32), ("word", np.int32), ("logp", float), ("backoff", float)),
        *(("suffix", np.int32), ("state", np.int32)),
    ]
)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class NgramTable(NamedTuple):
    """The arrays of a model; R rows, row 0 is the empty context, which is not an n-gram.

    A row whose n-gram is only a prefix of others ("blank") has the log-probability by back-off, or NaN in a
    table without states.
    """

    slots: Longs  # (power of two,) 31 bits of the hash of a row << 32 | row; -1 where free
    prefix: Ints  # (R,) row of all words but the last
    word: Ints  # (R,) last word
    logp: Floats  # (R,)
    backoff: Floats  # (R,)
    suffix: Ints  # (R,) row of the longest known proper suffix
    state: Ints  # (R,) row of the longest suffix that can still matter for words to come
    bits: int  # log2 of the capacity

    def sentence_logp(self, words: Ints) -> float:
        """Return the log-probability of a sentence with its end."""
        logp, state = score_words(self, self.start, words)
        return float(logp + extend(self, state, EOS)[0])

    @property
    def start(self) -> int:
        """Return the state at the beginning of a sentence."""
        return int(self.state[find(self, EMPTY, BOS)])

    def bigram_matrix(self, words: Ints) -> Floats:
        """Return p(column | row) of n words: (n + 1, n + 1), row n is the start, column n the end of the
        sentence.

        Probabilities, no logarithms. Only one word of context is used, whatever the order of the model; a
        word that it does not know is <unk>, so that a row need not sum to one.

        Args:
            words: (n,) local ids.
        """
        probabilities: Floats = np.exp(_fill_matrix(self, self.start, words.astype(np.int32)))
        return probabilities

    @classmethod
    def build(cls, words: Ints, lengths: Ints, logp: Floats, backoff: Floats) -> NgramTable:
        """Build the table of a model; duplicates must not occur.

        <unk> and <s> are added if they are missing, and so are prefixes that a pruned model left out.

        Args:
            words: (R, order of the model) ids; undefined beyond an n-gram's length.
            lengths: (R,) order of each n-gram.
            logp, backoff: (R,) natural logarithms.
        """
        order = words.shape[1]
        words, lengths, logp, backoff = _with_reserved(words, lengths, logp, backoff)
        while True:
            table = NgramTable.empty(len(lengths) + 1)
            # The kernel is compiled for writable arrays, and arrays of Arrow may be read-only.
            first = _fill(
                table,
                np.require(words, np.int32, ["C", "W"]),
                np.require(lengths, np.int16, ["C", "W"]),
                np.require(logp, float, ["C", "W"]),
                np.require(backoff, float, ["C", "W"]),
                order,
            )
            if first > 0:
                _connect(table, first)
                return table
            words, lengths, logp, backoff = _with_prefixes(words, lengths, logp, backoff)

    @classmethod
    def empty(cls, rows: int) -> NgramTable:
        """Return a table for so many rows, which fill two thirds of its slots at most."""
        bits = max(4, math.ceil(math.log2(rows * 1.5)))
        table = cls(np.full(1 << bits, -1, np.int64), *_columns_of_rows(rows), bits)
        table.prefix[EMPTY] = -1
        return table


@compiled
def _home(bits: int, prefix: int, word: int) -> tuple[int, int]:
    """Return the home slot of an n-gram, and 31 bits of its hash (Fibonacci hashing)."""
    code = ((np.uint64(prefix) << np.uint64(32)) | np.uint64(word)) * _FACTOR
    return int(np.int64(code >> np.uint64(64 - bits))), int(np.int64(code >> np.uint64(33)))


@compiled
def find(table: NgramTable, state: int, word: int) -> int:
    """Return the row of the n-gram that extends the one of row ``state`` by a word, -1 if it is unknown."""
    slot, mark = _home(table.bits, state, word)
    while table.slots[slot] >= 0:
        if table.slots[slot] >> 32 == mark:
            row = table.slots[slot] & 0xFFFFFFFF
            if table.prefix[row] == state and table.word[row] == word:
                return int(row)
        slot = (slot + 1) & ((1 << table.bits) - 1)
    return -1


@compiled
def find_or_insert(table: NgramTable, row: int, prefix: int, word: int) -> int:
    """Return the row of the n-gram of a prefix's row and a word; a new n-gram is inserted as ``row``."""
    known = find(table, prefix, word)
    if known >= 0:
        return known
    slot, mark = _home(table.bits, prefix, word)
    while table.slots[slot] >= 0:
        slot = (slot + 1) & ((1 << table.bits) - 1)
    table.slots[slot] = (mark << 32) | row
    table.prefix[row], table.word[row] = prefix, word
    return row


@compiled
def _look_up(table: NgramTable, state: int, word: int) -> tuple[float, int]:
    """Return log p(word | state) and the row of its n-gram; a word without unigram is read as <unk>."""
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
    logp, row = _look_up(table, state, word)
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
def score_text(table: NgramTable, order: int, stream: Ints) -> tuple[Floats, Ints]:
    """Return log p of each word of a text after those before it, and the length of the n-gram that has it.

    Sentences begin with <s>, which gets no probability. All n-grams of a length are looked up before longer
    ones, so that no look-up waits for another: most of their time is that of memory.
    """
    logp, lengths = np.zeros(len(stream)), np.ones(len(stream), np.int32)
    context = np.zeros(len(stream), np.int32)  # row of the words before; -1 if the model lacks them
    for n in range(1, order + 1):
        before = -1
        for position in range(len(stream)):
            row = find(table, context[position], stream[position]) if context[position] >= 0 else -1
            if n == 1 and (row < 0 or np.isnan(table.logp[row])):
                row = find(table, EMPTY, UNK)
            if row >= 0 and not np.isnan(table.logp[row]):
                logp[position], lengths[position] = table.logp[row], n
            elif context[position] >= 0:
                logp[position] += table.backoff[context[position]]
            context[position] = before if stream[position] != BOS else -1
            before = row
    return logp, lengths


@compiled
def _longest_suffix(table: NgramTable, prefix: int, word: int) -> int:
    """Return the row of the longest known proper suffix of an n-gram, among the suffixes of its prefix."""
    while prefix != 0:
        prefix = int(table.suffix[prefix])
        suffix = find(table, prefix, word)
        if suffix >= 0:
            return suffix
    return 0


@compiled
def _connect(table: NgramTable, highest: int) -> None:
    """Set suffixes and states of all rows, and the values of blank rows; shorter n-grams have smaller rows.

    Args:
        table: table with n-grams, log-probabilities and back-off weights.
        highest: first row whose n-gram has the order of the model.
    """
    children = np.zeros(len(table.prefix), np.bool_)
    children[table.prefix[1:]] = True
    for row in range(1, len(table.prefix)):
        prefix, word = table.prefix[row], table.word[row]
        table.suffix[row] = _longest_suffix(table, prefix, word)
        if np.isnan(table.logp[row]):
            logp, _ = extend(table, table.suffix[prefix], word)
            table.logp[row] = table.backoff[prefix] + logp
        useful = row < highest and (children[row] or table.backoff[row] != 0)
        table.state[row] = row if useful else table.state[table.suffix[row]]


@compiled
def _fill(table: NgramTable, words: Ints, lengths: Shorts, logp: Floats, backoff: Floats, order: int) -> int:
    """Fill a table with n-grams, the shorter ones first; return its first row of the order, or -1.

    It is -1 where an n-gram lacks its prefix.
    """
    row = first = 1
    for n in range(1, order + 1):
        first = row
        for i in range(len(lengths)):
            if lengths[i] != n:
                continue
            prefix = EMPTY
            for place in range(n - 1):
                prefix = find(table, prefix, words[i, place])
                if prefix < 0:
                    return -1
            find_or_insert(table, row, prefix, words[i, n - 1])
            table.logp[row], table.backoff[row] = logp[i], backoff[i]
            row += 1
    return first


def _columns_of_rows(rows: int) -> tuple[Ints, Ints, Floats, Floats, Ints, Ints]:
    """Return the zero columns of a number of rows, interleaved in memory."""
    interleaved = np.zeros(rows, _ROW)
    prefix, word, logp, backoff, suffix, state = (interleaved[name] for name in _ROW.names or ())
    return prefix, word, logp, backoff, suffix, state


def _with_reserved(
    words: Ints, lengths: Ints, logp: Floats, backoff: Floats
) -> tuple[Ints, Ints, Floats, Floats]:
    """Add <unk> and <s> where a model has none."""
    known = words[lengths == 1, 0]
    missing = [(word, value) for word, value in ((UNK, MISSING_UNK), (BOS, NEVER)) if word not in known]
    if not missing:
        return words, lengths, logp, backoff
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


@compiled
def _fill_matrix(table: NgramTable, start: int, words: Ints) -> Floats:
    n = len(words)
    logp = np.empty((n + 1, n + 1))
    for a in range(n + 1):
        state = start
        if a < n:
            # The state of the unigram, without the start of the sentence before it.
            row = find(table, EMPTY, words[a])
            state = table.state[row] if row >= 0 else EMPTY
        for b in range(n + 1):
            logp[a, b], _ = extend(table, state, words[b] if b < n else EOS)
    return logp


class NgramTables(NamedTuple):
    """The arrays of M models, one model after the other (see `NgramTable`)."""

    slots: Longs
    prefix: Ints
    word: Ints
    logp: Floats
    backoff: Floats
    suffix: Ints
    state: Ints
    first_slot: Longs  # (M + 1,) model m has the slots first_slot[m] to first_slot[m + 1] - 1
    first_row: Longs  # (M + 1,) model m has the rows first_row[m] to first_row[m + 1] - 1, numbered from 0
    bits: Longs  # (M,)
    start: Ints  # (M,) state at the beginning of a sentence

    @classmethod
    def side_by_side(cls, tables: Sequence[NgramTable]) -> NgramTables:
        """Return the concatenated arrays of one or more models; those of a single model are not copied."""
        first_slot = np.cumsum([0, *(len(table.slots) for table in tables)])
        first_row = np.cumsum([0, *(len(table.logp) for table in tables)])
        slots, *columns, _ = cast(list[Any], tables[0])
        if len(tables) > 1:
            slots, *others = (np.concatenate(parts) for parts in list(zip(*tables, strict=True))[:-1])
            columns = [*_columns_of_rows(first_row[-1])]
            for column, other in zip(columns, others, strict=True):
                column[:] = other
        bits = np.array([table.bits for table in tables], np.int64)
        start = np.array([table.start for table in tables], np.int32)
        return NgramTables._make([slots, *columns, first_slot, first_row, bits, start])


@compiled
def table_at(tables: NgramTables, model: int) -> NgramTable:
    """Return the table of one model."""
    slot, last_slot = tables.first_slot[model], tables.first_slot[model + 1]
    row, last_row = tables.first_row[model], tables.first_row[model + 1]
    return NgramTable(
        tables.slots[slot:last_slot],
        tables.prefix[row:last_row],
        tables.word[row:last_row],
        tables.logp[row:last_row],
        tables.backoff[row:last_row],
        tables.suffix[row:last_row],
        tables.state[row:last_row],
        int(tables.bits[model]),
    )
