"""The sub-model: everything of a language model that one batch of bags can need, fetched at once.

An n-gram whose words all lie in a bag has its anchor, the greatest of its word ids, in the bag. So the rows
of `model_ngram` with an anchor in the batch hold all that the batch can ask for: ids fall with frequency, and
the n-grams of a rare word are few. The table is sorted by model and anchor; DuckDB skips what cannot match.
The rows stream through a filter that keeps those within one bag, and are cached per anchor on the way, so
that frequent words are fetched once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain

import duckdb
import numpy as np

from sentgen.arrays import Ints
from sentgen.models.base import registry
from sentgen.models.base.anchor_cache import anchor_slices
from sentgen.models.base.registry import DYNAMIC, STUPID_BACKOFF, ModelLike, counts_of
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.ngrams.bag_ngrams import bag_model, membership, mixed_table, ngrams_of_bags, within_bags
from sentgen.models.ngrams.laid_out import use_of
from sentgen.models.ngrams.ngram_cache import CachedNgrams, NgramCache, anchored, cache_of, joined, word_ids
from sentgen.models.ngrams.ngram_table import NgramTable, build_table
from sentgen.schema import Store
from sentgen.schema.connections import cursor
from sentgen.schema.engine import connection_cache, one_row
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS, ROOT, UNK

_CHUNK_ROWS = 60_000
#: N-grams to read for bags before a model is laid out: all of a smaller one stays in the cache.
_LEAST = 1_000_000
_BEYOND = -1


@dataclass(frozen=True, slots=True)
class SubModel:
    """The part of a model that a batch needs: a table over local word ids, and the words.

    Local ids 0 to 3 are <unk>, <s>, </s> and <root>; the words of the batch that the model knows follow.
    """

    model: ModelLike
    order: int
    table: NgramTable
    words: tuple[str, ...]
    index: dict[str, int]
    ngrams: int
    seconds: float

    def encode(self, words: Sequence[str], tags: Sequence[str | None] | None = None) -> Ints:
        """Return local ids; an unknown word is <unk>, or the <unk:TAG> of its tag if the model has that."""
        index = self.index
        ids: Ints = np.array([index.get(word, UNK) for word in words], np.int32)
        if tags is not None and self.model.unknown == "tag":
            for place in np.flatnonzero(ids == UNK).tolist():
                ids[place] = index.get(f"<unk:{tags[place]}>", UNK)
        return ids

    def unknown(self, words: Sequence[str]) -> int:
        """Return how many of the words the model does not know."""
        return sum(word not in self.index for word in words)


def prefetch(
    store: Store,
    model: ModelLike,
    bags: Sequence[Sequence[str]],
    *,
    tags: Iterable[str] = (),
    order: int | None = None,
    cache: NgramCache | None = None,
) -> SubModel:
    """Fetch everything that ordering or scoring each of the bags can ask a model, in at most two queries.

    Args:
        store: where the model lives.
        model: the model.
        bags: the words of each sentence, in any order.
        tags: tags of the words, where the model classes unknown words by tag.
        order: use n-grams up to this order only.
        cache: the cache to use; the store's own if ``None``.
    """
    started = time.perf_counter()
    cache = cache or cache_of(store)
    order = min(order or model.order, model.order)
    # A word `<s>` in a text is no start of a sentence: it is unknown.
    forms = {word for bag in bags for word in bag} - set(RESERVED_WORDS)
    if model.unknown == "tag":
        forms |= {f"<unk:{tag}>" for tag in tags}
    parts = registry.looked_up(store, model) if model.smoothing == DYNAMIC else []
    for each in (model, *(part for part, _ in parts)):
        use_of(store, each).expect(store, each, least=_LEAST)
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        if model.smoothing == STUPID_BACKOFF:
            return _counted(duck, model, order, bags, forms, started)
        if parts:
            return _mixed(duck, store, (model, parts), order, bags, forms, cache, started)
        found = use_of(store, model).laid_out
        ids = found.ids(sorted(forms)) if found else word_ids(duck, model, forms, cache)
        rows = _ngrams(duck, store, model, bags, ids, cache)
    return _submodel_of(model, order, ids, rows, started)


def _counted(
    duck: duckdb.DuckDBPyConnection,
    model: ModelLike,
    order: int,
    bags: Sequence[Sequence[str]],
    forms: set[str],
    started: float,
) -> SubModel:
    """Return the sub-model of a model that reads counts, which may change: nothing is cached."""
    ids = word_ids(duck, model, forms, NgramCache(0))
    counts = counts_of(duck, model)
    within = membership(*_coded(bags, ids))
    words = np.flatnonzero(within.places >= 0).tolist()
    rows = stupid_backoff.count_rows(
        duck, model, counts, order, words, keep=lambda grams: within_bags(grams, *within)
    )
    found = _submodel_of(model, order, ids, rows, started)
    stupid_backoff.put_scores(found.table, order, counts.total)
    return found


def _mixed(
    duck: duckdb.DuckDBPyConnection,
    store: Store,
    mixed: tuple[ModelLike, Sequence[tuple[ModelLike, float]]],
    order: int,
    bags: Sequence[Sequence[str]],
    forms: set[str],
    cache: NgramCache,
    started: float,
) -> SubModel:
    """Return the sub-model of a mixture that is summed when it is asked; what its models have is cached."""
    model, parts = mixed
    ids = word_ids(duck, model, forms, cache)
    rows = [_ngrams(duck, store, part, bags, ids, cache) for part, _ in parts]
    unigrams = set().union(*(each.words[each.lengths == 1, 0].tolist() for each in rows))
    words, index, local = _numbered(ids, unigrams)
    found = []
    for each, (_, weight) in zip(rows, parts, strict=True):
        each = each.where(each.lengths <= order)
        grams = np.full((len(each.logp), order), _BEYOND, np.int32)
        grams[:, : each.words.shape[1]] = local[each.words[:, :order]]
        found.append(bag_model(each._replace(words=grams), len(words), weight))
    table, ngrams = mixed_table(found, membership(*_coded(bags, index)), order)
    return SubModel(model, order, table, words, index, ngrams, time.perf_counter() - started)


def _coded(bags: Sequence[Sequence[str]], ids: dict[str, int]) -> tuple[list[list[int]], set[int]]:
    """Return the words of each bag, and those of every bag: classes of unknown words, as <s>."""
    coded = [[ids[word] for word in bag if word in ids] for bag in bags]
    return coded, {UNK, BOS, EOS, *ids.values()}.difference(*coded)


def _submodel_of(
    model: ModelLike, order: int, ids: dict[str, int], rows: CachedNgrams, started: float
) -> SubModel:
    """Renumber the words from 0, reserved ones first, and build the table of the n-grams up to an order."""
    lengths = rows.lengths
    if lengths.max(initial=0) > order:
        rows, lengths = rows.where(lengths <= order), lengths[lengths <= order]
    words, index, local = _numbered(ids, set(rows.words[lengths == 1, 0].tolist()))
    table = build_table(local[rows.words[:, :order]], lengths, rows.logp, rows.backoff)
    return SubModel(model, order, table, words, index, len(lengths), time.perf_counter() - started)


def _numbered(ids: dict[str, int], unigrams: set[int]) -> tuple[tuple[str, ...], dict[str, int], Ints]:
    """Return the words that are unigrams, reserved ones first, their places, and these by ids."""
    # Sorted: `ids` comes in the order of a set, which differs from run to run.
    known = sorted((number, form) for form, number in ids.items() if number in unigrams)
    words = (*RESERVED_WORDS, *(form for _, form in known))
    local = np.full(max([ROOT, *ids.values()]) + 2, -1, np.int32)  # the last one stays -1: beyond the order
    local[[UNK, BOS, EOS, ROOT, *(number for number, _ in known)]] = np.arange(len(words))
    return words, {form: place for place, form in enumerate(words) if place > ROOT}, local


def _ngrams(
    duck: duckdb.DuckDBPyConnection,
    store: Store,
    model: ModelLike,
    bags: Sequence[Sequence[str]],
    ids: dict[str, int],
    cache: NgramCache,
) -> CachedNgrams:
    """Return all n-grams that lie within one bag, in the order of their anchors."""
    if found := use_of(store, model).laid_out:
        return ngrams_of_bags(found.records, model.order, *_coded(bags, ids))
    within = membership(*_coded(bags, ids))
    cached, missing = cache.take(model, np.flatnonzero(within.places >= 0).tolist())
    fetched = _fetch(duck, store, model, missing, cache) if missing else ()
    parts = (part.where(within_bags(part.words, *within)) for part in chain(cached, fetched))
    rows = joined(parts, model.order)
    # What was cached must not show in the order of the rows.
    return rows.where(np.argsort(reduce(np.maximum, rows.words.T), kind="stable"))


def _fetch(
    duck: duckdb.DuckDBPyConnection, store: Store, model: ModelLike, anchors: list[int], cache: NgramCache
) -> Iterator[CachedNgrams]:
    """Yield the rows of some anchors, ascending, and cache the first anchors, up to half of the cache.

    The first are the smallest ids, whose words are frequent and will come again. Memory is bounded by the
    limit of the cache, whatever the size of the model.
    """
    whole: dict[int, list[CachedNgrams]] = {anchor: [] for anchor in anchors}
    # Half: the other half keeps what earlier batches wanted.
    room, unfinished, ascending = cache.limit // 2, -1, True
    for column, rows in _stream(duck, model, anchors):
        yield rows
        use_of(store, model).has_read(len(rows.logp))
        # DuckDB keeps the order of a sorted table, but promises it to nobody.
        ascending &= bool(unfinished <= column[0] and (column[:-1] <= column[1:]).all())
        if room >= 0:
            room -= rows.nbytes
            unfinished = int(column[-1])
            for anchor, part in anchor_slices(column):
                whole[anchor].append(rows.where(part))
    # The anchor at which the room ended is not whole, and half of an anchor must never be cached.
    if room < 0:
        whole = {anchor: parts for anchor, parts in whole.items() if ascending and anchor < unfinished}
    # Empty ones as well: that a word has no n-gram is worth to be known.
    for anchor in sorted(whole, reverse=True):
        cache.put(model, anchor, joined(whole.pop(anchor), model.order))


def _stream(
    duck: duckdb.DuckDBPyConnection, model: ModelLike, anchors: list[int]
) -> Iterator[tuple[Ints, CachedNgrams]]:
    """Run the query for some anchors, ascending, and yield anchors and rows in chunks of one row or more."""
    words = ", ".join(f"w{i}" for i in range(1, model.order + 1))
    for batch in anchored(duck, model, anchors, f"{words}, logp, backoff", rows=_CHUNK_ROWS):
        *padded, logp, backoff = (column.fill_null(_BEYOND).to_numpy() for column in batch.columns)
        yield reduce(np.maximum, padded), CachedNgrams(np.stack(padded, axis=1), logp, backoff)


def lowercases(store: Store, model: ModelLike) -> bool:
    """Return whether all corpora of a model were lower-cased on the way in; then its input must be, too."""
    with store.connect() as connection, translated_errors(store.path):
        known, key = connection_cache(connection), ("lowercases", model.id)
        if key not in known:
            row = one_row(
                raw(connection),
                "select count(*), count(*) filter (c.lowercase) from model_corpus m"
                " left join corpus c on c.id = m.corpus_id where m.model_id = ?",
                [model.id],
            )
            known[key] = row is not None and row[0] > 0 and row[0] == row[1]
        return bool(known[key])
