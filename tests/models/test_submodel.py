"""Prefetching: what is fetched, in how many queries, and what the cache keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import toy_store

from sentgen.models import submodel
from sentgen.models.ngram_table import backoff_logp, score_words, start_state
from sentgen.models.submodel import NgramCache, Rows, cache_of, lowercases, prefetch
from sentgen.schema import Store

Toy = tuple[Store, toy_store.ToyModel]


class Counting:
    """A DuckDB connection that counts what is executed."""

    def __init__(self, duck: object, seen: list[str]) -> None:
        self.duck, self.seen = duck, seen

    def __getattr__(self, name: str) -> object:
        if name == "execute":
            self.seen.append(name)
        return getattr(self.duck, name)


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every query that the sub-model runs."""
    seen: list[str] = []
    real = submodel.raw
    monkeypatch.setattr(submodel, "raw", lambda connection: Counting(real(connection), seen))
    return seen


def test_two_queries_a_batch_and_none_when_warm(toy: Toy, queries: list[str]) -> None:
    """A hundred sentences cost two queries, whatever is in them, and nothing the second time."""
    bags = toy_store.SENTENCES * 20
    prefetch(*toy, bags)
    cold = len(queries)
    prefetch(*toy, bags)

    assert (cold, len(queries)) == (2, 2)


def test_many_anchors_are_one_query(toy: Toy, queries: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit of a union the query changes, its answer does not."""
    union = prefetch(*toy, toy_store.SENTENCES, cache=NgramCache(2**20))
    monkeypatch.setattr(submodel, "_UNION_LIMIT", 2)
    listed = prefetch(*toy, toy_store.SENTENCES, cache=NgramCache(2**20))

    assert len(queries) == 4
    assert union.words == listed.words
    assert all(np.array_equal(a, b) for a, b in zip(union.table, listed.table, strict=True))


def test_only_ngrams_inside_the_batch(toy: Toy) -> None:
    """Of "the dog": <unk>, <s>, </s>, the, dog; <s> the, the dog, dog </s>; <s> the dog, the dog </s>."""
    found = prefetch(*toy, [["the", "dog"]])

    assert found.ngrams == 5 + 3 + 2
    assert found.words[:4] == ("<unk>", "<s>", "</s>", "<root>")
    assert set(found.index) == {"the", "dog"}


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_lower_order(toy: Toy, order: int) -> None:
    """With order n the last n - 1 words decide, as in a model of that order."""
    ngrams = toy_store.backoff_model(toy_store.SENTENCES, 4)
    words = ["the", "cat", "sees", "the", "dog"]
    found = prefetch(*toy, [words], order=order)
    logp, _ = score_words(found.table, start_state(found.table), found.encode(words))
    by_id = {
        tuple({"<unk>": 0, "<s>": 1, "</s>": 2, **found.index}.get(w, 99) for w in gram): values
        for gram, values in ngrams.items()
        if len(gram) <= order
    }
    ids = [1, *(found.index[word] for word in words)]
    span = min(order, 4) - 1
    expected = sum(backoff_logp(by_id, ids[max(0, i - span) : i], ids[i]) for i in range(1, len(ids)))

    assert logp == pytest.approx(expected * np.log(10))


def test_unknown_words_and_classes(tmp_path: Path) -> None:
    """A word that the model does not know is <unk:TAG> if there is one for its tag, else <unk>."""
    ngrams = {("<unk>",): (-3.0, 0.0), ("<unk:NN>",): (-1.0, 0.0), ("a",): (-0.5, 0.0)}
    with Store(tmp_path / "s.duckdb", create=True) as store:
        model = toy_store.fill(store, ngrams, unknown="tag")
        found = prefetch(store, model, [["a", "zebra"]], tags=["NN", "VB"])

    nouns = found.index["<unk:NN>"]
    assert found.encode(["a", "zebra", "zebra"], ["NN", "NN", "VB"]).tolist() == [found.index["a"], nouns, 0]
    assert found.encode(["zebra"]).tolist() == [0]
    assert found.unknown(["a", "zebra"]) == 1


def test_reserved_words_of_a_text_are_unknown(toy: Toy) -> None:
    """Nobody gets the symbols of the model by writing them."""
    found = prefetch(*toy, [["<s>", "</s>", "<root>", "the"]])

    assert found.encode(["<s>", "</s>", "<root>"]).tolist() == [0, 0, 0]


def test_empty_batch(toy: Toy) -> None:
    """Nothing asked for: a table that knows the ends of sentences."""
    assert prefetch(*toy, []).ngrams == 3
    assert prefetch(*toy, [[], []]).index == {}


def rows(number: int) -> Rows:
    return Rows(
        np.zeros((number, 5), np.int32), np.zeros(number, np.int32), np.zeros(number), np.zeros(number)
    )


def test_cache_is_bounded_and_drops_the_oldest() -> None:
    """Three anchors of 40 bytes a row and 600 for the entry; the limit holds two, and 1 was used last."""
    model = toy_store.ToyModel()
    cache = NgramCache(2 * (600 + 40 * 10) + 10)
    cache.put(model, 1, rows(10))
    cache.put(model, 2, rows(10))
    cache.take(model, [1])
    cache.put(model, 3, rows(10))

    assert cache.take(model, [1, 2, 3])[1] == [2]
    assert cache.statistics.bytes <= cache.limit
    assert (cache.statistics.hits, cache.statistics.misses, cache.statistics.entries) == (3, 1, 2)


def test_cache_tells_versions_apart(toy: Toy) -> None:
    """Another model or version never sees the rows of this one."""
    cache = NgramCache(2**20)
    cache.put(toy_store.ToyModel(id=1), 7, rows(1))

    assert cache.take(toy_store.ToyModel(id=2), [7])[1] == [7]
    assert cache.take(toy_store.ToyModel(id=1, version=2), [7])[1] == [7]


def test_too_large_for_the_cache_still_right(toy: Toy) -> None:
    """With a cache of nothing every batch is fetched anew, and is the same."""
    tiny, large = NgramCache(0), NgramCache(2**20)
    for bag in toy_store.SENTENCES:
        one, other = (prefetch(*toy, [bag], cache=cache) for cache in (tiny, large))
        assert all(np.array_equal(a, b) for a, b in zip(one.table, other.table, strict=True))

    assert tiny.statistics.entries == 0


def test_store_has_one_cache(toy: Toy) -> None:
    """The cache belongs to the open store."""
    assert cache_of(toy[0]) is cache_of(toy[0])


def test_imported_model_is_not_lower_cased(toy: Toy) -> None:
    """A model without corpora takes words as they are."""
    assert lowercases(*toy) is False
