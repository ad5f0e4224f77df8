"""Look up a text in a model: which words it knows, and the probabilities of the text's n-grams.

Unlike a bag, a text has one order of words. Its n-grams of all lengths include every n-gram, context and
shorter n-gram that backing off can look up. They are numbered first, as rows of a table without
probabilities; then the n-grams of the model are read, and fill the rows that they match.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from sentgen.arrays import Floats, Ints, Longs, compiled
from sentgen.models.base.registry import DYNAMIC, STUPID_BACKOFF, ModelCounts, ModelInfo
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.ngrams.laid_out import score_stream, use_of
from sentgen.models.ngrams.ngram_cache import NGRAM, NgramCache, StoredNgrams, anchored
from sentgen.models.ngrams.ngram_table import (
    EMPTY,
    MISSING_UNK,
    NEVER,
    NgramTable,
    find,
    find_or_insert,
    score_text,
)
from sentgen.schema import Store
from sentgen.schema.connections import cursor
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS, UNK

_CHUNK_ROWS = 60_000
_BEHIND = np.iinfo(np.int64).max
_UNIGRAM_WORDS = "select w1 from model_ngram where model_id = ? and n = 1"


def _known_words(store: Store, model: ModelInfo, forms: Sequence[str]) -> Ints:
    """Return the id of each form, that of <unk> where the model has no unigram."""
    counting = model.smoothing == STUPID_BACKOFF  # counts may change: nothing is kept
    cache = NgramCache(0) if counting else NgramCache.of_store(store)
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        ids = cache.word_ids(duck, model, set(forms).difference(RESERVED_WORDS))
        encoded = np.array([ids.get(form, UNK) for form in forms], np.int32)

        def unigrams() -> Ints:
            if counting:
                counts = ModelCounts.of_model(duck, model)
                words = np.unique(encoded).tolist() or [UNK]
                return stupid_backoff.count_rows(duck, model, counts, 1, words).words[:, 0]
            read: Ints = duck.execute(_UNIGRAM_WORDS, [model.id]).fetchnumpy()["w1"]
            return read

        known = cache.unigrams(model, unigrams)
    encoded[encoded >= len(known)] = UNK
    encoded[~known[encoded]] = UNK
    return encoded


def _prefetch_text(store: Store, model: ModelInfo, stream: Ints) -> tuple[NgramTable, int]:
    """Return the n-grams of the model that occur in a text, and how many had to be read for them.

    Their words are ids of the store.

    Args:
        stream: words that the model knows, each sentence between ``<s>`` and ``</s>``.
    """
    table, bounds = _rows_of(stream, model.order)
    grams = _sort(table, bounds)
    occurrences = np.bincount(stream)
    occurrences[UNK] += 1  # `</s>` may back off to <unk>
    anchors, ngrams = np.flatnonzero(occurrences).tolist(), 0
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        counting = model.smoothing == STUPID_BACKOFF
        counts = ModelCounts.of_model(duck, model) if counting else None
        for batch in (
            stupid_backoff.counted(duck, counts, model.order, anchors, rows=_CHUNK_ROWS)
            if counts
            else anchored(duck, model, anchors, NGRAM, rows=_CHUNK_ROWS)
        ):
            _fill_rows(table, grams, StoredNgrams.of_batch(batch))
            ngrams += batch.num_rows
    # As in `stupid_backoff.count_rows`, <unk> counts at least once.
    unknown = 1.0 if counts and model.unknown == "word" else MISSING_UNK
    for word, least in ((UNK, unknown), (BOS, NEVER)):
        row = find(table, 0, word)
        if np.isnan(table.logp[row]):
            table.logp[row] = least
    if counts:
        stupid_backoff.put_scores(table, model.order, counts.total)
    return table, ngrams


class _SortedGrams(NamedTuple):
    """The n-grams of a text by length, and within a length in the order of the store: by anchor."""

    words: Longs  # (R, 3) words 1 and 2, 3 and 4, 5 and 0, the first in the high half; 0 beyond
    rows: Ints  # (R,)
    begins: Longs  # (order, greatest word id + 2) where the n-grams of a length with this anchor begin


def _rows_of(stream: Ints, order: int) -> tuple[NgramTable, list[int]]:
    """Return a table of the n-grams of a text without probabilities, and the ``bounds`` of its rows.

    N-grams of n words are rows ``bounds[n - 1]`` to ``bounds[n] - 1``.
    """
    table = NgramTable.empty(order * len(stream) + 2)
    bounds = _number_ngrams(table, stream, order).tolist()
    slots, *columns, bits = cast(list[Any], table)
    table = NgramTable._make([slots, *(column[: bounds[-1]] for column in columns), bits])
    table.logp[1:] = np.nan
    return table, bounds


def _sort(table: NgramTable, bounds: Sequence[int]) -> _SortedGrams:
    """Sort the rows of a text as the store sorts n-grams, by the rank of the prefix and the last word."""
    prefixes, last = table.prefix, table.word
    size, order = len(last), len(bounds) - 1
    words, ranks, anchors = np.zeros((size, 3), np.int64), np.zeros(size, np.int64), last.copy()
    begins = np.zeros((order, int(last.max()) + 2), np.int64)
    sorted_rows = []
    for n, (begin, end) in enumerate(pairwise(bounds)):
        own, before = slice(begin, end), prefixes[begin:end]
        words[own] = words.take(before, axis=0)
        words[own, n // 2] += last[own].astype(np.int64) << (0 if n % 2 else 32)
        anchors[own] = np.maximum(last[own], anchors[before])
        by_words = np.argsort(ranks[before] << 32 | last[own])
        ranks[begin + by_words] = np.arange(end - begin)
        by_anchor = np.sort(anchors[own].astype(np.int64) << 32 | ranks[own])
        sorted_rows.append(begin + by_words[by_anchor & 0xFFFFFFFF])
        begins[n] = begin - 1 + np.searchsorted(by_anchor >> 32, np.arange(begins.shape[1]))
    together = np.concatenate(sorted_rows)
    return _SortedGrams(words.take(together, axis=0), together.astype(np.int32), begins)


@compiled
def _number_ngrams(table: NgramTable, stream: Ints, order: int) -> Longs:
    """Number the n-grams of a text, and <unk>, from 1, the shorter ones first.

    Fills the hash; returns the first number of each length, and their end.
    """
    bounds, rows = np.ones(order + 1, np.int64), 1 + find_or_insert(table, 1, EMPTY, UNK)
    prefix = np.zeros(len(stream), np.int32)  # row of the n-gram that begins here; -1 across sentences
    for n in range(order):
        for i in range(len(stream) - n):
            if prefix[i] < 0:
                continue
            word = stream[i + n]
            row = find_or_insert(table, rows, prefix[i], word)
            rows = max(rows, row + 1)
            prefix[i] = row if word != EOS else -1
        bounds[n + 1] = rows
    return bounds


@compiled
def _less(a: int, b: int, c: int, first: int, second: int, third: int) -> bool:
    """Return whether an n-gram comes before another one of the same length; without a branch."""
    return bool((a < first) | ((a == first) & ((b < second) | ((b == second) & (c < third)))))


@compiled
def _gram(words: Longs, index: int, low: int, high: int) -> tuple[int, int, int]:
    """Return the n-gram at an index; beyond the bounds, one that is smaller or greater than all others."""
    if index < low:
        return -1, -1, -1
    if index >= high:
        return _BEHIND, 0, 0
    return int(words[index, 0]), int(words[index, 1]), int(words[index, 2])


@compiled
def _fill_rows(table: NgramTable, grams: _SortedGrams, stored: StoredNgrams) -> None:
    """Set the probabilities and back-off weights of a text's rows from stored n-grams, by a merge.

    A stored n-gram takes a step or two if it comes in the order of the store, else a binary search.
    """
    n = anchor = low = high = index = -1
    before = here = (-1, -1, -1)
    for i in range(len(stored.lengths)):
        length = int(stored.lengths[i])
        w1 = int(stored.w1[i])
        w2 = int(stored.w2[i] if length > 1 else 0)
        w3 = int(stored.w3[i] if length > 2 else 0)
        w4 = int(stored.w4[i] if length > 3 else 0)
        w5 = int(stored.w5[i] if length > 4 else 0)
        greatest = max(w1, w2, w3, w4, w5)
        gram = ((w1 << 32) + w2, (w3 << 32) + w4, w5 << 32)
        ascends = greatest == anchor and length == n
        if not ascends:
            anchor, n = greatest, length
            low = high = 0
            if n <= grams.begins.shape[0] and anchor + 1 < grams.begins.shape[1]:
                low, high = int(grams.begins[n - 1, anchor]), int(grams.begins[n - 1, anchor + 1])
        if not (ascends and _less(*before, *gram)):
            below, index = low, high
            while below < index:
                middle = (below + index) // 2
                if _less(*_gram(grams.words, middle, low, high), *gram):
                    below = middle + 1
                else:
                    index = middle
            before, here = _gram(grams.words, index - 1, low, high), _gram(grams.words, index, low, high)
        while _less(*here, *gram):
            index += 1
            before, here = here, _gram(grams.words, index, low, high)
        if here == gram:
            row = grams.rows[index]
            table.logp[row], table.backoff[row] = stored.logp[i], stored.backoff[i]


class ModelReader:
    """Looks up the parts of a text in a model: in its file if it is laid out, else in the store."""

    def __init__(self, store: Store, model: ModelInfo) -> None:
        self.model, self._store = model, store
        #: Readers of the models that a mixture looks up, with their weights.
        self.parts: list[tuple[ModelReader, float]] = []
        if model.smoothing == DYNAMIC:
            self.parts = [(ModelReader(store, part), weight) for part, weight in model.looked_up(store)]
        self._use = use_of(store, model)
        self._known = np.zeros(0, np.int32)  # ids of the words of the text

    def expect(self, tokens: int) -> None:
        """Announce the number of tokens of the next part of the text, so that the model may be laid out."""
        self._use.expect(self._store, self.model, tokens)

    def known_in(self, forms: Sequence[str], old: int) -> Ints:
        """Return `known` of the different words of a text; the first ``old`` were looked up before."""
        self._known = np.concatenate((self._known[:old], self.known(forms[old:])))
        return self._known

    def known(self, forms: Sequence[str]) -> Ints:
        """Return the id of each form, that of <unk> where the model has no unigram."""
        laid_out = self._use.laid_out
        return laid_out.known(forms) if laid_out else _known_words(self._store, self.model, forms)

    def events(self, stream: Ints) -> tuple[Floats, Ints]:
        """Return the log-probability of each token and end of sentence, and the words of its n-gram.

        Args:
            stream: words that the model knows, each sentence between ``<s>`` and ``</s>``.
        """
        laid_out, order = self._use.laid_out, self.model.order
        if laid_out:
            logps, lengths = score_stream(laid_out.records, order, stream)
        else:
            table, ngrams = _prefetch_text(self._store, self.model, stream)
            self._use.has_read(ngrams)
            logps, lengths = score_text(table, order, stream)
        scored = stream != BOS
        return logps[scored], lengths[scored]
