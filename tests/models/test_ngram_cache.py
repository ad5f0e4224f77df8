"""The cache of n-grams: its content, and the order in which it drops rows."""

from __future__ import annotations

import numpy as np
import pytest
import toy_store

from sentgen.models.ngrams import ngram_cache
from sentgen.models.ngrams.ngram_cache import CachedNgrams, NgramCache
from sentgen.schema import Store


def rows(number: int) -> CachedNgrams:
    """Return some rows of a model of order 4: four words, two numbers, 32 bytes each."""
    return CachedNgrams(np.zeros((number, 4), np.int32), np.zeros(number), np.zeros(number))


def test_cache_is_bounded_and_drops_the_oldest() -> None:
    """Three anchors of 32 bytes a row and 600 for the entry; the limit holds two, and 1 was used last."""
    model = (1, 1)
    cache = NgramCache(2 * (600 + 32 * 10) + 10)
    cache.put(model, 1, rows(10))
    cache.put(model, 2, rows(10))
    cache.take(model, [1])
    cache.put(model, 3, rows(10))

    assert cache.take(model, [1, 2, 3])[1] == [2]
    assert cache.statistics.bytes <= cache.limit
    assert (cache.statistics.hits, cache.statistics.misses, cache.statistics.entries) == (3, 1, 2)


def test_cache_tells_versions_apart() -> None:
    """Another model or version never sees the rows of this one."""
    cache = NgramCache(2**20)
    cache.put((1, 1), 7, rows(1))

    assert cache.take((2, 1), [7])[1] == [7]
    assert cache.take((1, 2), [7])[1] == [7]


def test_of_one_batch_rare_words_go_first() -> None:
    """Room for three anchors: after a batch of them all, the greatest id is the least recently used."""
    model = (1, 1)
    cache = NgramCache(3 * (600 + 32 * 10))
    for anchor in (2, 5, 9):
        cache.put(model, anchor, rows(10))
    cache.take(model, [2, 5, 9])
    cache.put(model, 4, rows(10))

    assert cache.take(model, [2, 4, 5, 9])[1] == [9]


def test_an_anchor_put_twice_counts_once() -> None:
    """Two threads may fetch the same anchor."""
    cache = NgramCache(2**20)
    for number in (10, 20):
        cache.put((1, 1), 7, rows(number))

    assert (cache.statistics.entries, cache.statistics.bytes) == (1, 600 + 32 * 20)


def test_known_forms_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """If there are too many forms, all are dropped, but threads that read them keep theirs."""
    monkeypatch.setattr(ngram_cache, "_MAX_KNOWN_FORMS", 1)
    cache, model = NgramCache(0), toy_store.ToyModel()
    known = cache.forms(model)
    known.update({"a": 4, "b": 5})

    assert cache.forms(model) == {}
    assert known == {"a": 4, "b": 5}


def test_nothing_joined_is_no_rows() -> None:
    """Without parts the arrays are empty, and have their types and shapes."""
    assert [column.dtype for column in CachedNgrams.joined([], 4)] == [column.dtype for column in rows(0)]
    assert CachedNgrams.joined([rows(2), rows(3)], 4).nbytes == 5 * 32
    assert CachedNgrams.joined([], 4).words.shape == (0, 4)


def test_store_has_one_cache(store: Store) -> None:
    """The cache belongs to the open store."""
    assert NgramCache.of_store(store) is NgramCache.of_store(store)
