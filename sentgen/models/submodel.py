"""The sub-model: all n-grams of a language model that one batch of bags can look up, fetched at once.

An n-gram whose words all lie in a bag has its anchor, the greatest of its word ids, in the bag. So the rows
of `model_ngram` with an anchor in the batch hold all that the batch can ask for: ids fall with frequency, and
the n-grams of a rare word are few. The table is sorted by model and anchor; DuckDB skips what cannot match.
The rows stream through a filter that keeps those within one bag, and are cached per anchor on the way, so
that frequent words are fetched once.

The words of all bags are looked up at once, but each bag is searched by itself: an n-gram is needed only if
some bag has all of its words. Each word has the set of its bags as bits, and the intersection of these sets
over the words of an n-gram must not be empty. Of the rows with an anchor in a hundred sentences, one in ten
to one in twenty remains.

A dynamic mixture of back-off models stores only its weights, and is summed here.

    p(w | h) = sum over the models of weight times p(w | h) in the model

The sum is no back-off model, since each model backs off with its own weights. Within a bag it is written as
one: a table of every context of any model with every word of the bag that may follow it. A word that only
another model knows has probability 0 in a model; in a context, the model reads it as <unk>, as in scoring.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import NamedTuple

import duckdb
import numpy as np

from sentgen.arrays import Bits, Bools, Floats, Ints, Longs, compiled
from sentgen.models.base.registry import DYNAMIC, STUPID_BACKOFF, ModelCounts, ModelInfo
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.ngrams.laid_out import use_of
from sentgen.models.ngrams.ngram_cache import CachedNgrams, NgramCache, anchor_slices, anchored
from sentgen.models.ngrams.ngram_table import EMPTY, MISSING_UNK, NgramTable, extend
from sentgen.schema import Store
from sentgen.schema.connections import cursor
from sentgen.schema.engine import connection_cache, one_row
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS, ROOT, UNK

_BITS = 64


class _Membership(NamedTuple):
    """The bags of each word; W words occur in B bags."""

    places: Ints  # (greatest word id + 1,) row of a word in `bits`, -1 if it is in no bag
    bits: Bits  # (W, ceil(B / 64)) bit b % 64 of column b // 64: is it in bag b?


def membership(bags: Sequence[Sequence[int]], everywhere: Iterable[int]) -> _Membership:
    """Return the bags of each word.

    Args:
        bags: the word ids of each bag.
        everywhere: word ids that count as members of every bag, and of one bag if there is none.
    """
    lengths = [len(bag) for bag in bags]
    flat = np.array([word for bag in bags for word in bag], np.int32)
    always = np.array(sorted(everywhere), np.int32)
    # Sorted, so that rows of `bits` are in the order of the ids, whatever the order of the bags.
    words = np.unique(np.concatenate((flat, always)))
    places = np.full(int(words.max(initial=-1)) + 1, -1, np.int32)
    places[words] = np.arange(len(words))
    bits = np.zeros((len(words), max(1, -(-len(bags) // _BITS))), np.uint64)
    column, bit = np.divmod(np.repeat(np.arange(len(bags)), lengths), _BITS)
    # `at`, since a word occurs in many bags of one column, of which indexing would keep only the last.
    np.bitwise_or.at(bits, (places[flat], column), np.left_shift(np.uint64(1), bit.astype(np.uint64)))
    # All bits, also beyond the last bag: n-grams of only these words are kept even without bags.
    bits[places[always]] = ~np.uint64(0)
    return _Membership(places, bits)


@compiled
def within_bags(words: Ints, places: Ints, bits: Bits) -> Longs:
    """Return the rows of the n-grams that lie within one bag, ascending; one pass.

    Args:
        words: (R, n) word ids, -1 beyond the length; none is greater than the greatest one of the bags.
        places, bits: the `_Membership`.
    """
    inside = np.empty(len(words), np.int64)
    size = 0
    for row in range(len(words)):
        # 64 bags at a time, until the first column with a bag that has all words.
        for column in range(bits.shape[1]):
            common = ~np.uint64(0)
            for i in range(words.shape[1]):
                if words[row, i] < 0:
                    break
                index = places[words[row, i]]
                common = common & bits[index, column] if index >= 0 else np.uint64(0)
                if common == 0:
                    break
            if common != 0:
                inside[size] = row
                size += 1
                break
    return inside[:size].copy()


class _BagModel(NamedTuple):
    """The n-grams of one model for some bags, over local word ids; ``known`` marks the words it has."""

    rows: CachedNgrams
    table: NgramTable
    known: Bools
    weight: float


def _mixed_table(models: Sequence[_BagModel], bags: _Membership, order: int) -> tuple[NgramTable, int]:
    """Return the table of a mixture, and the number of its n-grams.

    Args:
        models: n-grams of each model for the bags, with ``order`` columns of words.
        bags: bags of local word ids; <unk>, <s> and </s> are in every bag.
        order: the highest order of the models.
    """
    contexts = _contexts(models, bags, order)
    words = np.flatnonzero(bags.places >= 0).astype(np.int32)
    words = words[(words != BOS) & (words != ROOT)]
    context, word = _followed(contexts, words, bags.places, bags.bits)
    p = np.zeros(len(word))
    for model in models:
        _add(model.table, contexts, context, word, model.known, model.weight, p)
    grams = np.full((len(word), order), -1, np.int32)
    grams[:, : order - 1] = contexts[context]
    lengths = np.count_nonzero(grams >= 0, axis=1).astype(np.int32)
    grams[np.arange(len(word)), lengths] = word
    logp = np.log(np.maximum(p, np.exp(MISSING_UNK)))
    return NgramTable.build(grams, lengths + 1, logp, np.zeros(len(word))), len(word)


def _contexts(models: Sequence[_BagModel], bags: _Membership, order: int) -> Ints:
    """Return the contexts of all models, the empty one included: (C, order - 1)."""
    contexts = [np.full((1, order - 1), -1, np.int32)]
    if order == 1:
        return contexts[0]
    for model in models:
        words, lengths = model.rows.words, model.rows.lengths
        weighed = words[(lengths < order) & (model.rows.backoff != 0)][:, : order - 1]
        before = words[lengths > 1]
        before[np.arange(len(before)), lengths[lengths > 1] - 1] = -1
        mine = np.unique(np.concatenate((weighed, before[:, : order - 1])), axis=0)
        contexts.append(
            _with_unknown(mine, np.flatnonzero(~model.known & _in_bags(bags, len(model.known))).tolist())
        )
    return np.unique(np.concatenate(contexts), axis=0)


def _in_bags(bags: _Membership, words: int) -> Bools:
    """Return whether each word is in a bag, (words,)."""
    inside = np.zeros(words, np.bool_)
    inside[: len(bags.places)] = bags.places[:words] >= 0
    inside[[BOS, ROOT]] = False
    return inside


def _with_unknown(contexts: Ints, unknown: Sequence[int]) -> Ints:
    """Return contexts, and copies in which each word that the model does not know replaces <unk>."""
    for column in range(contexts.shape[1]):
        same = contexts[contexts[:, column] == UNK]
        for word in unknown if len(same) else ():
            other = same.copy()
            other[:, column] = word
            contexts = np.concatenate((contexts, other))
    return contexts


@compiled
def _share(bits: Bits, other: Bits) -> bool:
    """Return whether two sets have a member in common."""
    common = np.uint64(0)
    for column in range(len(bits)):
        common |= bits[column] & other[column]
    return bool(common != 0)


@compiled
def _followed(contexts: Ints, words: Ints, places: Ints, bits: Bits) -> tuple[Ints, Ints]:
    """Return the pairs of a context and a word that are in a common bag: indexes of contexts, and words."""
    pairs = np.empty((2, 1024), np.int32)
    size = 0
    for context in range(len(contexts)):
        common = np.full(bits.shape[1], ~np.uint64(0))
        for k in range(contexts.shape[1]):
            if contexts[context, k] >= 0:
                common &= bits[places[contexts[context, k]]]
        for word in words:
            if _share(common, bits[places[word]]):
                if size == pairs.shape[1]:
                    pairs = np.concatenate((pairs, np.empty_like(pairs)), axis=1)
                pairs[0, size], pairs[1, size] = context, word
                size += 1
    return pairs[0, :size].copy(), pairs[1, :size].copy()


@compiled
def _add(
    table: NgramTable, contexts: Ints, context: Ints, word: Ints, known: Bools, weight: float, p: Floats
) -> None:
    """Add to ``p`` the probability of each word after its context in a model, times the model's weight."""
    before, state = -1, EMPTY
    for i in range(len(word)):
        if context[i] != before:
            before, state = context[i], EMPTY
            for k in range(contexts.shape[1]):
                if contexts[before, k] >= 0:
                    # Replaced before the look-up, since a table backs off before it reads a word as <unk>.
                    read = contexts[before, k] if known[contexts[before, k]] else UNK
                    _, state = extend(table, state, read)
        if known[word[i]]:
            logp, _ = extend(table, state, word[i])
            p[i] += weight * np.exp(logp)


_CHUNK_ROWS = 60_000
#: N-grams to read for bags before a model is laid out: the cache holds all of a smaller model.
_LEAST_NGRAMS = 1_000_000
_BEYOND = -1


@dataclass(frozen=True, slots=True)
class SubModel:
    """The part of a model that a batch needs: a table over local word ids, and the words.

    Local ids 0 to 3 are <unk>, <s>, </s> and <root>; the words of the batch that the model knows follow.
    """

    model: ModelInfo
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
            for at in np.flatnonzero(ids == UNK).tolist():
                ids[at] = index.get(f"<unk:{tags[at]}>", UNK)
        return ids

    def unknown(self, words: Sequence[str]) -> int:
        """Return how many of the words the model does not know."""
        return sum(word not in self.index for word in words)


def prefetch(
    store: Store,
    model: ModelInfo,
    bags: Sequence[Sequence[str]],
    *,
    tags: Iterable[str] = (),
    order: int | None = None,
    cache: NgramCache | None = None,
) -> SubModel:
    """Fetch all n-grams that ordering or scoring the bags can look up in a model, in at most two queries.

    Args:
        bags: the words of each sentence, in any order.
        tags: tags of the words, where the model classes unknown words by tag.
        order: use n-grams up to this order only.
        cache: the cache to use; the store's own if ``None``.
    """
    started = time.perf_counter()
    cache = cache or NgramCache.of_store(store)
    order = min(order or model.order, model.order)
    # A word `<s>` in a text is not the start of a sentence, but an unknown word.
    forms = {word for bag in bags for word in bag} - set(RESERVED_WORDS)
    if model.unknown == "tag":
        forms |= {f"<unk:{tag}>" for tag in tags}
    parts = model.looked_up(store) if model.smoothing == DYNAMIC else []
    for each in (model, *(part for part, _ in parts)):
        use_of(store, each).expect(store, each, least=_LEAST_NGRAMS)
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        if model.smoothing == STUPID_BACKOFF:
            return _counted(duck, model, order, bags, forms, started)
        if parts:
            return _mixed(duck, store, (model, parts), order, bags, forms, cache, started)
        laid_out = use_of(store, model).laid_out
        ids = laid_out.ids(sorted(forms)) if laid_out else cache.word_ids(duck, model, forms)
        rows = _ngrams(duck, store, model, bags, ids, cache)
    return _submodel_of(model, order, ids, rows, started)


def _counted(
    duck: duckdb.DuckDBPyConnection,
    model: ModelInfo,
    order: int,
    bags: Sequence[Sequence[str]],
    forms: set[str],
    started: float,
) -> SubModel:
    """Return the sub-model of a model that reads counts, which may change: nothing is cached."""
    ids = NgramCache(0).word_ids(duck, model, forms)
    counts = ModelCounts.of_model(duck, model)
    within = membership(*_coded(bags, ids))
    words = np.flatnonzero(within.places >= 0).tolist()
    rows = stupid_backoff.count_rows(
        duck, model, counts, order, words, keep=lambda grams: within_bags(grams, *within)
    )
    submodel = _submodel_of(model, order, ids, rows, started)
    stupid_backoff.put_scores(submodel.table, order, counts.total)
    return submodel


def _mixed(
    duck: duckdb.DuckDBPyConnection,
    store: Store,
    mixed: tuple[ModelInfo, Sequence[tuple[ModelInfo, float]]],
    order: int,
    bags: Sequence[Sequence[str]],
    forms: set[str],
    cache: NgramCache,
    started: float,
) -> SubModel:
    """Return the sub-model of a dynamic mixture; the n-grams of its models are cached."""
    model, parts = mixed
    ids = cache.word_ids(duck, model, forms)
    rows = [_ngrams(duck, store, part, bags, ids, cache) for part, _ in parts]
    unigrams = set().union(*(each.words[each.lengths == 1, 0].tolist() for each in rows))
    words, index, local = _numbered(ids, unigrams)
    bag_models = []
    for each, (_, weight) in zip(rows, parts, strict=True):
        each = each.where(each.lengths <= order)
        grams = np.full((len(each.logp), order), _BEYOND, np.int32)
        grams[:, : each.words.shape[1]] = local[each.words[:, :order]]
        own, known = each._replace(words=grams), np.zeros(len(words), np.bool_)
        known[[UNK, BOS, *own.words[own.lengths == 1, 0]]] = True
        own_table = NgramTable.build(own.words, own.lengths, own.logp, own.backoff)
        bag_models.append(_BagModel(own, own_table, known, weight))
    table, ngrams = _mixed_table(bag_models, membership(*_coded(bags, index)), order)
    return SubModel(model, order, table, words, index, ngrams, time.perf_counter() - started)


def _coded(bags: Sequence[Sequence[str]], ids: dict[str, int]) -> tuple[list[list[int]], set[int]]:
    """Return the word ids of each bag, and the ids in every bag: <s> and classes of unknown words."""
    coded = [[ids[word] for word in bag if word in ids] for bag in bags]
    return coded, {UNK, BOS, EOS, *ids.values()}.difference(*coded)


def _submodel_of(
    model: ModelInfo, order: int, ids: dict[str, int], rows: CachedNgrams, started: float
) -> SubModel:
    """Renumber the words from 0, reserved ones first, and build the table of the n-grams up to an order."""
    lengths = rows.lengths
    if lengths.max(initial=0) > order:
        rows, lengths = rows.where(lengths <= order), lengths[lengths <= order]
    words, index, local = _numbered(ids, set(rows.words[lengths == 1, 0].tolist()))
    table = NgramTable.build(local[rows.words[:, :order]], lengths, rows.logp, rows.backoff)
    return SubModel(model, order, table, words, index, len(lengths), time.perf_counter() - started)


def _numbered(ids: dict[str, int], unigrams: set[int]) -> tuple[tuple[str, ...], dict[str, int], Ints]:
    """Return the words that are unigrams, reserved ones first, their local ids, and local ids by id."""
    # Sorted, since `ids` has the order of a set, which differs from run to run.
    known = sorted((number, form) for form, number in ids.items() if number in unigrams)
    words = (*RESERVED_WORDS, *(form for _, form in known))
    local = np.full(max([ROOT, *ids.values()]) + 2, -1, np.int32)  # the last one stays -1: beyond the order
    local[[UNK, BOS, EOS, ROOT, *(number for number, _ in known)]] = np.arange(len(words))
    return words, {form: number for number, form in enumerate(words) if number > ROOT}, local


def _ngrams(
    duck: duckdb.DuckDBPyConnection,
    store: Store,
    model: ModelInfo,
    bags: Sequence[Sequence[str]],
    ids: dict[str, int],
    cache: NgramCache,
) -> CachedNgrams:
    """Return all n-grams that lie within one bag, in the order of their anchors."""
    if laid_out := use_of(store, model).laid_out:
        return laid_out.records.of_bags(model.order, *_coded(bags, ids))
    within = membership(*_coded(bags, ids))
    cached, missing = cache.take((model.id, model.version), np.flatnonzero(within.places >= 0).tolist())
    fetched = _fetch(duck, store, model, missing, cache) if missing else ()
    parts = (part.where(within_bags(part.words, *within)) for part in chain(cached, fetched))
    rows = CachedNgrams.joined(parts, model.order)
    # Sorted, so that the order of the rows does not depend on what was cached.
    return rows.where(np.argsort(reduce(np.maximum, rows.words.T), kind="stable"))


def _fetch(
    duck: duckdb.DuckDBPyConnection, store: Store, model: ModelInfo, anchors: list[int], cache: NgramCache
) -> Iterator[CachedNgrams]:
    """Yield the rows of ascending anchors, and cache the first anchors, up to half of the cache.

    The first anchors are the most frequent words, which will be looked up again. Memory is bounded by the
    limit of the cache, whatever the size of the model.
    """
    whole: dict[int, list[CachedNgrams]] = {anchor: [] for anchor in anchors}
    # Half of the cache is left to the anchors of earlier batches.
    free, unfinished, ascending = cache.limit // 2, -1, True
    for column, rows in _stream(duck, model, anchors):
        yield rows
        use_of(store, model).has_read(len(rows.logp))
        # DuckDB keeps the order of a sorted table, but does not guarantee it.
        ascending &= bool(unfinished <= column[0] and (column[:-1] <= column[1:]).all())
        if free >= 0:
            free -= rows.nbytes
            unfinished = int(column[-1])
            for anchor, part in anchor_slices(column):
                whole[anchor].append(rows.where(part))
    # The rows of the anchor at which the cache was full are incomplete, and must not be cached.
    if free < 0:
        whole = {anchor: parts for anchor, parts in whole.items() if ascending and anchor < unfinished}
    # Anchors without rows are cached, too, so that they are not queried again.
    for anchor in sorted(whole, reverse=True):
        cache.put((model.id, model.version), anchor, CachedNgrams.joined(whole.pop(anchor), model.order))


def _stream(
    duck: duckdb.DuckDBPyConnection, model: ModelInfo, anchors: list[int]
) -> Iterator[tuple[Ints, CachedNgrams]]:
    """Run the query for ascending anchors, and yield anchors and rows in chunks of one row or more."""
    words = ", ".join(f"w{i}" for i in range(1, model.order + 1))
    for batch in anchored(duck, model, anchors, f"{words}, logp, backoff", rows=_CHUNK_ROWS):
        *padded, logp, backoff = (column.fill_null(_BEYOND).to_numpy() for column in batch.columns)
        yield reduce(np.maximum, padded), CachedNgrams(np.stack(padded, axis=1), logp, backoff)


def lowercases(store: Store, model: ModelInfo) -> bool:
    """Return whether all corpora of a model were lower-cased by ingestion, as its input then must be."""
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
