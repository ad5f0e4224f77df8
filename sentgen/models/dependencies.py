"""The dependency side of the sub-model: relation and argument probabilities of the units of some sentences.

Wan et al. 2007, section 3, after Collins 1996. For a head A, a modifier B, the side D on which the modifier
stands and its distance bucket (1, 2, 3 and more):

    p        = rel(A, B, D) / co(A, B)
    p1       = (rel(A_tag, B, D) + rel(A, B_tag, D)) / (co(A_tag, B) + co(A, B_tag))
    p2       = rel(A_tag, B_tag, D) / co(A_tag, B_tag)
    backoff2 = l2 * p1 + (1 - l2) * p2          l2 = c1 / (c1 + 1), c1 the denominator of p1
    prob     = l1 * p + (1 - l1) * backoff2     l1 = c0 / (c0 + 1), c0 = co(A, B)

co(A, B) is the sum over the sentences of n(A) * n(B), less n(A) where A and B are the same: the number of
pairs of different tokens. The root is in every sentence once. What was never seen at a level has
probability 0 there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from sentgen.models.ngram_table import Floats
from sentgen.schema import Store
from sentgen.schema.corpus import ROOT, ROOT_TAG
from sentgen.schema.store import raw, translated_errors

Layer = Literal["word", "unit"]
TaggedWord = tuple[str, str | None]
Longs = npt.NDArray[np.int64]

LEFT, RIGHT = 0, 1
DISTANCES = 3
MAX_ARGUMENTS = 7
#: Stands for probability zero, so that logarithms stay finite.
FLOOR = 1e-12
#: Sentences whose tags are held in memory at once.
_CHUNK = 500_000
#: Entries of the tag matrix that are kept between batches.
_KEEP = 8_000_000
_ROOT_TYPE = 0


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The model of one sentence of n units: row 0 is the root, row i + 1 unit i, column j unit j.

    ``prob`` and ``distance`` are natural logarithms, ``arguments`` are probabilities. The side is 0 for left,
    1 for right of the head. A unit as its own modifier is -inf.
    """

    prob: Floats  # (n + 1, n, 2) log prob(head, modifier, side)
    distance: Floats  # (n + 1, n, 2, 3) the same by distance 1, 2, 3 and more
    arguments: Floats  # (n + 1, 2, 8) p_arg(head, number of modifiers, side); 7 stands for seven and more


def prefetch_dependencies(
    store: Store,
    corpora: Sequence[int],
    layer: Layer,
    bags: Sequence[Sequence[TaggedWord]],
    *,
    floor: float = FLOOR,
) -> list[Dependencies]:
    """Fetch the dependency model of a batch of sentences, in a number of queries that does not depend on it.

    Args:
        store: where the counts are.
        corpora: ids of the corpora whose counts are summed.
        layer: `word` for the tree over all tokens, `unit` for that over base noun phrases and other words.
        bags: the units of each sentence as (head word, tag).
        floor: what stands for probability zero.
    """
    units = sorted({(word, tag or "_") for bag in bags for word, tag in bag})
    place = {unit: i for i, unit in enumerate(units, 1)}
    with store.connect() as connection, translated_errors(store.path):
        duck = raw(connection)
        scope = _Scope(duck, _segments(duck, corpora), layer)
        counts = _fetch(store, scope, units)
    return [_model(counts, [place[word, tag or "_"] for word, tag in bag], floor) for bag in bags]


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which counts: a connection, the segments and the layer."""

    duck: duckdb.DuckDBPyConnection
    segments: tuple[int, ...]
    layer: str

    def query(self, text: str, words: Longs | None = None) -> dict[str, npt.NDArray[Any]]:
        """Run a query with $layer and {scope} filled in, and return its columns."""
        listed = ", ".join(map(str, self.segments)) or "-1"
        if words is not None:
            self.duck.register("_words", pa.table({"id": words}))
        try:
            scope = f"layer = $layer and segment_id in ({listed})"
            table = self.duck.execute(text.format(scope=scope), {"layer": self.layer}).to_arrow_table()
        finally:
            if words is not None:
                self.duck.unregister("_words")
        return {name: table[name].to_numpy() for name in table.column_names}


class _Index:
    """Numbers 0, 1, ... for keys; the number of an unknown key is the number of keys."""

    def __init__(self, keys: Longs) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]
        self.size = len(keys)

    def __call__(self, keys: npt.NDArray[Any]) -> Longs:
        places = np.searchsorted(self._sorted, keys)
        places[places == self.size] = 0
        if not self.size:
            return np.zeros(len(keys), np.int64)
        return np.where(self._sorted[places] == keys, self._order[places], self.size)


@dataclass(frozen=True, slots=True)
class _Events:
    """Counts of head-modifier events at one level, six a pair: 3 * side + distance - 1."""

    width: int
    keys: Longs  # (m,) sorted, head * width + modifier
    values: Floats  # (m + 1, 6), the last row for what was never seen

    def at(self, heads: Longs, modifiers: Longs) -> Floats:
        """Return (h, m, 6) counts of all pairs of heads and modifiers."""
        wanted = heads[:, None] * self.width + modifiers[None, :]
        places = np.searchsorted(self.keys, wanted)
        found = np.append(self.keys, -1)[places] == wanted
        return np.asarray(self.values[np.where(found, places, len(self.keys))])


def _gather(heads: Longs, modifiers: Longs, sides: Longs, counts: Floats, width: int) -> _Events:
    keys, places = np.unique(heads * width + modifiers, return_inverse=True)
    values = np.zeros((len(keys) + 1, 6))
    np.add.at(values, (places, sides), counts)
    return _Events(width, keys, values)


@dataclass(frozen=True, slots=True)
class _Tags:
    """How tags occur in sentences; tag 0 is the root's, the last one stands for a tag never seen."""

    index: _Index
    together: Floats  # (T + 1, T + 1) sum over the sentences of the products of their counts
    totals: Floats  # (T + 1,)
    chunks: tuple[tuple[int, Any], ...] = field(repr=False)  # (first sentence, (T + 1, sentences) sparse)


@dataclass(frozen=True, slots=True)
class _Counts:
    """All counts of a batch of K types of units; type 0 is the root."""

    tags: _Tags
    tag_of: Longs  # (K,)
    together: Any  # (K, K) sparse, sum over the sentences of the products of their counts
    with_tags: Floats  # (K, T + 1) the same with tags
    totals: Floats  # (K,)
    events: dict[str, _Events]
    arguments: Floats  # (K + 1, 2, 8)
    tag_arguments: Floats  # (T + 1, 2, 8)


def _fetch(store: Store, scope: _Scope, units: Sequence[tuple[str, str]]) -> _Counts:
    """Run the queries of a batch."""
    words = _ids(scope.duck, "word", "form", [word for word, _ in units])
    tags = _ids(scope.duck, "tag", "name", [tag for _, tag in units])
    kinds = [(ROOT, ROOT_TAG), *((words.get(word, -1), tags.get(tag, -1)) for word, tag in units)]
    word_ids, tag_ids = (np.array(column, np.int64) for column in zip(*kinds, strict=True))
    unseen = -2 - np.arange(len(kinds))
    types = _Index(np.where((word_ids < 0) | (tag_ids < 0), unseen, _pair(word_ids, tag_ids)))
    tag_model = _tags(store, scope)
    known = np.unique(word_ids[word_ids >= 0])
    together, with_tags, totals = _occurrences(scope, tag_model, types, known)
    arguments, tag_arguments = _arguments(scope, tag_model, types, known)
    return _Counts(
        tags=tag_model,
        tag_of=tag_model.index(tag_ids),
        together=together,
        with_tags=with_tags,
        totals=totals,
        events=_events(scope, tag_model, types, known),
        arguments=arguments,
        tag_arguments=tag_arguments,
    )


def _pair(words: npt.NDArray[Any], tags: npt.NDArray[Any]) -> Longs:
    return np.asarray(words, np.int64) << 32 | np.asarray(tags, np.int64)


def _segments(duck: duckdb.DuckDBPyConnection, corpora: Sequence[int]) -> tuple[int, ...]:
    rows = duck.execute(
        "select id from segment where corpus_id in (select unnest($1::integer[])) order by id",
        [list(corpora)],
    )
    return tuple(number for (number,) in rows.fetchall())


def _ids(duck: duckdb.DuckDBPyConnection, table: str, column: str, names: list[str]) -> dict[str, int]:
    duck.register("_names", pa.table({"name": pa.array(sorted(set(names)), pa.string())}))
    try:
        query = (
            f"select {column}, min(id) from {table} where {column} in (select name from _names) group by all"
        )
        return dict(duck.execute(query).fetchall())
    finally:
        duck.unregister("_names")


_tag_models: WeakKeyDictionary[Store, dict[tuple[tuple[int, ...], str], _Tags]] = WeakKeyDictionary()


def _tags(store: Store, scope: _Scope) -> _Tags:
    """Return how tags occur; counted once for a store and a set of segments, as long as it is small."""
    models = _tag_models.setdefault(store, {})
    key = (scope.segments, scope.layer)
    if key not in models:
        models.clear()
        models[key] = _count_tags(scope)
    return models[key]


def _count_tags(scope: _Scope) -> _Tags:
    rows = scope.query("select distinct tag_id from posting where {scope} order by 1")
    index = _Index(np.array([ROOT_TAG, *(t for t in rows["tag_id"].tolist() if t != ROOT_TAG)], np.int64))
    together = np.zeros((index.size + 1, index.size + 1))
    totals = np.zeros(index.size + 1)
    chunks: list[tuple[int, Any]] = []
    entries = 0
    for first, matrix in _tag_chunks(scope, index):
        together += (matrix @ matrix.T).toarray()
        totals += np.asarray(matrix.sum(axis=1)).ravel()
        entries += matrix.nnz
        chunks = [*chunks, (first, matrix)] if entries <= _KEEP else []
    return _Tags(index, together, totals, tuple(chunks))


def _tag_chunks(scope: _Scope, index: _Index) -> Iterator[tuple[int, Any]]:
    """Yield (tags x sentences) of some hundred thousand sentences at a time; the root is in each once."""
    bounds = scope.query(
        "select min(sentence_id) as low, max(sentence_id) as high from posting where {scope}"
    )
    low, high = bounds["low"][0], bounds["high"][0]
    if low is None or np.isnan(low):
        return
    for first in range(int(low), int(high) + 1, _CHUNK):
        rows = scope.query(
            "select tag_id, sentence_id, sum(count)::double as count from posting where {scope}"
            f" and sentence_id between {first} and {first + _CHUNK - 1} group by all"
        )
        places = rows["sentence_id"] - first
        present = np.unique(places)
        tags = np.concatenate((index(rows["tag_id"]), np.zeros(len(present), np.int64)))
        counts = np.concatenate((rows["count"], np.ones(len(present))))
        columns = np.concatenate((places, present))
        yield first, sparse.csr_array((counts, (tags, columns)), shape=(index.size + 1, _CHUNK))


def _occurrences(scope: _Scope, tags: _Tags, types: _Index, words: Longs) -> tuple[Any, Floats, Floats]:
    """Return the co-occurrence sums of types with types and with tags, and the totals of the types."""
    together = sparse.csr_array((types.size, types.size))
    with_tags = np.zeros((types.size, tags.index.size + 1))
    totals = np.zeros(types.size)
    for first, matrix in tags.chunks or _tag_chunks(scope, tags.index):
        rows = scope.query(
            "select word_id, tag_id, sentence_id, count::double as count from posting where {scope}"
            f" and sentence_id between {first} and {first + _CHUNK - 1}"
            " and word_id in (select id from _words)",
            words,
        )
        kinds = types(_pair(rows["word_id"], rows["tag_id"]))
        mine = (kinds < types.size) & (kinds != _ROOT_TYPE)
        root = matrix[[0]].indices
        places = np.concatenate((rows["sentence_id"][mine] - first, root))
        counts = np.concatenate((rows["count"][mine], np.ones(len(root))))
        kinds = np.concatenate((kinds[mine], np.full(len(root), _ROOT_TYPE)))
        occurs = sparse.csr_array((counts, (kinds, places)), shape=(types.size, _CHUNK))
        together = together + occurs @ occurs.T
        with_tags += (occurs @ matrix.T).toarray()
        totals += np.asarray(occurs.sum(axis=1)).ravel()
    return together, with_tags, totals


def _events(scope: _Scope, tags: _Tags, types: _Index, words: Longs) -> dict[str, _Events]:
    """Return the counts of the events at the four levels, head first."""
    rows = scope.query(
        "select level, coalesce(head_word_id, -1) as head_word, head_tag_id,"
        " coalesce(modifier_word_id, -1) as modifier_word, modifier_tag_id,"
        " (if(direction = 'right', 3, 0) + distance - 1)::integer as side, sum(count)::double as count"
        " from dependency_event where {scope}"
        " and (head_word_id is null or head_word_id in (select id from _words))"
        " and (modifier_word_id is null or modifier_word_id in (select id from _words)) group by all",
        words,
    )
    width = max(types.size, tags.index.size) + 1
    heads = {
        "word": types(_pair(rows["head_word"], rows["head_tag_id"])),
        "tag": tags.index(rows["head_tag_id"]),
    }
    modifiers = {
        "word": types(_pair(rows["modifier_word"], rows["modifier_tag_id"])),
        "tag": tags.index(rows["modifier_tag_id"]),
    }
    size = {"word": types.size, "tag": tags.index.size}
    events = {}
    for level in ("word-word", "tag-word", "word-tag", "tag-tag"):
        head, modifier = level.split("-")
        mine = (rows["level"] == level) & (heads[head] < size[head]) & (modifiers[modifier] < size[modifier])
        events[level] = _gather(
            heads[head][mine], modifiers[modifier][mine], rows["side"][mine], rows["count"][mine], width
        )
    return events


def _arguments(scope: _Scope, tags: _Tags, types: _Index, words: Longs) -> tuple[Floats, Floats]:
    """Return how often types and tags were seen with each number of modifiers on each side."""
    rows = scope.query(
        "select level, coalesce(word_id, -1) as word_id, tag_id, (direction = 'right')::integer as side,"
        " arguments, sum(count)::double as count from argument_count where {scope}"
        " and (word_id is null or word_id in (select id from _words)) group by all",
        words,
    )
    by_type = np.zeros((types.size + 1, 2, MAX_ARGUMENTS + 1))
    by_tag = np.zeros((tags.index.size + 1, 2, MAX_ARGUMENTS + 1))
    kinds, labels = types(_pair(rows["word_id"], rows["tag_id"])), tags.index(rows["tag_id"])
    for level, table, places in (("word", by_type, kinds), ("tag", by_tag, labels)):
        mine = (rows["level"] == level) & (places < len(table) - 1)
        np.add.at(table, (places[mine], rows["side"][mine], rows["arguments"][mine]), rows["count"][mine])
    return by_type, by_tag


def _model(counts: _Counts, units: Sequence[int], floor: float) -> Dependencies:
    """Put the probabilities of one sentence together from the counts of its batch."""
    modifiers = np.array(units, np.int64)
    heads = np.concatenate((np.array([_ROOT_TYPE]), modifiers))
    distance = _probability(counts, heads, modifiers).reshape(len(heads), len(modifiers), 2, DISTANCES)
    logs = [np.log(np.maximum(values, floor)) for values in (distance.sum(axis=-1), distance)]
    for values in logs:
        values[np.arange(1, len(heads)), np.arange(len(modifiers))] = -np.inf
    return Dependencies(logs[0], logs[1], _argument_probability(counts, heads))


def _probability(counts: _Counts, heads: Longs, modifiers: Longs) -> Floats:
    """Return (h, m, 6) prob, with the four-level back-off of the module's docstring."""
    head_tags, modifier_tags = counts.tag_of[heads], counts.tag_of[modifiers]
    same_tag = head_tags[:, None] == modifier_tags[None, :]
    c0 = np.asarray(counts.together[heads][:, modifiers].toarray())
    c0 -= (heads[:, None] == modifiers[None, :]) * counts.totals[heads][:, None]
    tag_word = counts.with_tags[modifiers][:, head_tags].T - same_tag * counts.totals[modifiers][None, :]
    word_tag = counts.with_tags[heads][:, modifier_tags] - same_tag * counts.totals[heads][:, None]
    c1 = tag_word + word_tag
    c2 = (
        counts.tags.together[np.ix_(head_tags, modifier_tags)]
        - same_tag * counts.tags.totals[head_tags][:, None]
    )
    events = counts.events
    p0 = _ratio(events["word-word"].at(heads, modifiers), c0)
    p1 = _ratio(events["tag-word"].at(head_tags, modifiers) + events["word-tag"].at(heads, modifier_tags), c1)
    p2 = _ratio(events["tag-tag"].at(head_tags, modifier_tags), c2)
    l1, l2 = (c0 / (c0 + 1))[:, :, None], (c1 / (c1 + 1))[:, :, None]
    return np.asarray(l1 * p0 + (1 - l1) * (l2 * p1 + (1 - l2) * p2))


def _argument_probability(counts: _Counts, heads: Longs) -> Floats:
    """Return (h, 2, 8) p_arg: that of the word with weight cnt(W) / (cnt(W) + 1), the rest from its tag."""
    mine, of_tag = counts.arguments[heads], counts.tag_arguments[counts.tag_of[heads]]
    total = mine.sum(axis=-1)
    weight = (total / (total + 1))[:, :, None]
    return np.asarray(weight * _ratio(mine, total) + (1 - weight) * _ratio(of_tag, of_tag.sum(axis=-1)))


def _ratio(values: Floats, denominators: Floats) -> Floats:
    """Divide along the last axis; nothing over nothing is nothing."""
    return np.asarray(values / np.where(denominators > 0, denominators, 1)[..., None])
