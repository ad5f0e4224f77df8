"""Prefetching: the n-grams that are fetched, the number of queries, and the cache."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import toy_store

from sentgen.models import submodel
from sentgen.models.ngrams import ngram_cache
from sentgen.models.ngrams.ngram_cache import NgramCache
from sentgen.models.ngrams.ngram_table import backoff_logp, score_words
from sentgen.models.submodel import SubModel, lowercases, prefetch
from sentgen.schema import Store
from sentgen.schema.store import raw

Toy = tuple[Store, toy_store.ToyModel]


class Counting:
    """A DuckDB connection that counts what is executed."""

    def __init__(self, duck: object, seen: list[str]) -> None:
        self.duck, self.seen = duck, seen

    def __getattr__(self, name: str) -> object:
        if name in ("execute", "sql"):
            self.seen.append(name)
        return getattr(self.duck, name)

    def cursor(self) -> Counting:
        return Counting(self.duck.cursor(), self.seen)  # type: ignore[attr-defined]

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *error: object) -> None:
        self.duck.close()  # type: ignore[attr-defined]


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every query that the sub-model runs."""
    seen: list[str] = []
    real = submodel.raw
    monkeypatch.setattr(submodel, "raw", lambda connection: Counting(real(connection), seen))
    return seen


def test_two_queries_a_batch_and_none_when_warm(toy: Toy, queries: list[str]) -> None:
    """A hundred sentences of any content cost two queries, and none the second time."""
    bags = toy_store.SENTENCES * 20
    prefetch(*toy, bags)
    cold = len(queries)
    prefetch(*toy, bags)

    assert (cold, len(queries)) == (2, 2)


def test_many_anchors_are_one_query(toy: Toy, queries: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit of a union the query changes, its answer does not."""
    union = prefetch(*toy, toy_store.SENTENCES, cache=NgramCache(2**20))
    monkeypatch.setattr(ngram_cache, "_UNION_LIMIT", 2)
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
    logp, _ = score_words(found.table, found.table.start, found.encode(words))
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
    """Symbols of the model in a text are unknown words."""
    found = prefetch(*toy, [["<s>", "</s>", "<root>", "the"]])

    assert found.encode(["<s>", "</s>", "<root>"]).tolist() == [0, 0, 0]


def ngrams_of(found: SubModel) -> set[tuple[str, ...]]:
    """Return the n-grams of a sub-model, read from the keys of its table."""
    by_row: list[tuple[str, ...]] = [()]
    for prefix, word in zip(found.table.prefix[1:], found.table.word[1:], strict=True):
        by_row.append((*by_row[prefix], found.words[word]))  # sorted by length: prefixes come first
    return set(by_row) - {()}


@pytest.mark.parametrize("limit", [0, 2**10, 2**20])
def test_a_batch_is_the_union_of_its_bags(toy: Toy, limit: int) -> None:
    """A batch has the n-grams that its bags have alone, and no others, cached or not."""
    cache = NgramCache(limit)
    for size in (1, 2, 3, len(toy_store.SENTENCES)):
        bags = toy_store.SENTENCES[:size]
        alone = [ngrams_of(prefetch(*toy, [bag], cache=NgramCache(0))) for bag in bags]
        assert ngrams_of(prefetch(*toy, bags, cache=cache)) == set().union(*alone)


def test_ngrams_across_bags_are_left_out(toy: Toy) -> None:
    """ "the" and "dog" are both asked for, but "the dog" is in no bag."""
    assert ("the", "dog") in ngrams_of(prefetch(*toy, [["the", "dog"]]))
    assert ngrams_of(prefetch(*toy, [["the"], ["dog"]])).isdisjoint({("the", "dog"), ("<s>", "the", "dog")})


def test_classes_of_unknown_words_go_with_every_bag(tmp_path: Path) -> None:
    """Classes of unknown words count as words of every bag: "a <unk:NN>" is fetched for a bag of "a"."""
    ngrams = {("<unk>",): (-3.0, 0.0), ("<unk:NN>",): (-1.0, 0.0), ("a",): (-0.5, 0.0)}
    with Store(tmp_path / "s.duckdb", create=True) as store:
        model = toy_store.fill(store, {**ngrams, ("a", "<unk:NN>"): (-0.2, 0.0)}, unknown="tag")
        found = prefetch(store, model, [["a"], ["zebra"]], tags=["NN"])

    assert ("a", "<unk:NN>") in ngrams_of(found)


def test_empty_batch(toy: Toy) -> None:
    """An empty batch has a table with the ends of sentences."""
    assert prefetch(*toy, []).ngrams == 3
    assert prefetch(*toy, [[], []]).index == {}


def test_too_large_for_the_cache_still_right(toy: Toy) -> None:
    """With a cache of size 0 every batch is fetched again, with the same result."""
    tiny, large = NgramCache(0), NgramCache(2**20)
    for bag in toy_store.SENTENCES:
        one, other = (prefetch(*toy, [bag], cache=cache) for cache in (tiny, large))
        assert all(np.array_equal(a, b) for a, b in zip(one.table, other.table, strict=True))

    assert tiny.statistics.entries == 0


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("limit", [2**10, 2**11, 2**12, 2**13])
@pytest.mark.parametrize("union", [0, 64])
def test_cached_anchors_are_whole(toy: Toy, monkeypatch: pytest.MonkeyPatch, limit: int, union: int) -> None:
    """A cache with part of a batch does not change the result, even if rows come in small chunks."""
    monkeypatch.setattr(ngram_cache, "_UNION_LIMIT", union)
    monkeypatch.setattr(submodel, "_CHUNK_ROWS", 3)
    cache = NgramCache(limit)
    first, again = (prefetch(*toy, toy_store.SENTENCES, cache=cache) for _ in range(2))
    expected = prefetch(*toy, toy_store.SENTENCES, cache=NgramCache(0))

    assert all(np.array_equal(a, b) for a, b in zip(first.table, expected.table, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(again.table, expected.table, strict=True))
    assert cache.statistics.hits > 0


def test_frequent_words_are_cached_first(toy: Toy) -> None:
    """A cache that is too small keeps the smallest ids: <unk>, <s>, </s> (0 to 2) and the words from 4 on."""
    cache = NgramCache(2**12)
    prefetch(*toy, toy_store.SENTENCES, cache=cache)
    kept = cache.statistics.entries

    assert 3 < kept < len({word for bag in toy_store.SENTENCES for word in bag})
    assert cache.take((1, 1), [0, 1, 2, *range(4, kept + 1)])[1] == []


def test_a_model_out_of_order(toy: Toy) -> None:
    """Rows that are not sorted by anchor are found all the same, and only whole anchors are cached."""
    store, model = toy
    with store.begin() as connection:
        duck = raw(connection)
        duck.execute("create temp table turned as select * from model_ngram order by logp")
        duck.execute("insert into model_ngram select 2 as model_id, * exclude (model_id) from turned")
        duck.execute("drop table turned")
    turned = toy_store.ToyModel(id=2)
    expected = ngrams_of(prefetch(store, model, toy_store.SENTENCES))
    for limit in (0, 2**11, 2**12, 2**20):
        cache = NgramCache(limit)
        for _ in range(2):
            assert ngrams_of(prefetch(store, turned, toy_store.SENTENCES, cache=cache)) == expected


def test_threads_share_a_store(toy: Toy) -> None:
    """Each look-up has its own cursor, so that several threads fetch the same as one."""
    bags = [[bag] for bag in toy_store.SENTENCES] * 4
    cache = NgramCache(2**12)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda batch: ngrams_of(prefetch(*toy, batch, cache=cache)), bags))

    assert found == [ngrams_of(prefetch(*toy, batch)) for batch in bags]


def test_imported_model_is_not_lower_cased(toy: Toy) -> None:
    """A model without corpora takes words as they are."""
    assert lowercases(*toy) is False
