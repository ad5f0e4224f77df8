"""The sub-model: everything of a language model that one batch of bags can need, fetched at once.

An n-gram whose words all lie in a bag has its anchor, the greatest of its word ids, in the bag. So the rows
of `model_ngram` with an anchor in the batch hold all that the batch can ask for, and few more: ids fall with
frequency, and the n-grams of a rare word are few. The table is sorted by model and anchor; DuckDB skips
the row groups that cannot match. Rows are cached per anchor, so that frequent words are fetched once.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection

from sentgen.models.ngram_table import Floats, Ints, NgramTable, build_table
from sentgen.schema import Store
from sentgen.schema.corpus import BOS, EOS, RESERVED_WORDS, ROOT, UNK
from sentgen.schema.store import raw, translated_errors

#: Up to so many anchors, a union of one equality each is best: DuckDB 1.5 prunes row groups for a list too,
#: but filters it only after reading all columns of those left (25 of 20M rows: 0.05 against 0.1 CPU s).
_UNION_LIMIT = 64
_BATCH_ROWS = 100_000
_ENTRY_OVERHEAD = 600
_MAX_KNOWN_FORMS = 500_000
_LATER_WORDS = ", ".join(f"coalesce(w{i}, -1) as w{i}" for i in range(2, 6))
_COLUMNS = f"anchor, n, w1, {_LATER_WORDS}, logp, backoff"


class ModelLike(Protocol):
    """What the sub-model must know about a model."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def unknown(self) -> str: ...


class Rows(NamedTuple):
    """Some n-grams of a model, as they stand in the store."""

    words: Ints  # (k, 5) word ids, -1 beyond the order
    lengths: Ints  # (k,)
    logp: Floats  # (k,)
    backoff: Floats  # (k,)

    def where(self, chosen: Any) -> Rows:
        """Return the rows that an index, slice or mask chooses."""
        return Rows(*(column[chosen] for column in self))

    @property
    def nbytes(self) -> int:
        """Return the memory that the rows take."""
        return sum(column.nbytes for column in self)


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """What a cache holds and how often it helped."""

    hits: int
    misses: int
    entries: int
    bytes: int
    limit: int


class NgramCache:
    """The n-grams of recent anchors, least recently used first out, bounded in bytes.

    Keys hold the id and version of the model; a built model never changes, so entries never go stale.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.hits = self.misses = self.bytes = 0
        self._rows: OrderedDict[tuple[int, int, int], Rows] = OrderedDict()
        self._forms: dict[tuple[int, int], dict[str, int]] = {}
        self._lock = threading.Lock()

    def take(self, model: ModelLike, anchors: Iterable[int]) -> tuple[list[Rows], list[int]]:
        """Return what is known of the anchors, and the anchors that must be fetched."""
        found, missing = [], []
        with self._lock:
            for anchor in anchors:
                key = (model.id, model.version, anchor)
                rows = self._rows.get(key)
                if rows is None:
                    missing.append(anchor)
                else:
                    self._rows.move_to_end(key)
                    found.append(rows)
            self.hits += len(found)
            self.misses += len(missing)
        return found, missing

    def put(self, model: ModelLike, anchor: int, rows: Rows) -> None:
        """Keep the rows of an anchor, and drop the least recently used ones beyond the limit."""
        with self._lock:
            key = (model.id, model.version, anchor)
            old = self._rows.pop(key, None)
            self.bytes += rows.nbytes + _ENTRY_OVERHEAD - (old.nbytes + _ENTRY_OVERHEAD if old else 0)
            self._rows[key] = rows
            while self.bytes > self.limit:
                _, dropped = self._rows.popitem(last=False)
                self.bytes -= dropped.nbytes + _ENTRY_OVERHEAD

    def forms(self, model: ModelLike) -> dict[str, int]:
        """Return the word ids looked up so far, -1 for a form that the model cannot know."""
        with self._lock:
            known = self._forms.setdefault((model.id, model.version), {})
            if len(known) > _MAX_KNOWN_FORMS:
                known.clear()
            return known

    @property
    def statistics(self) -> CacheStatistics:
        """Return what the cache holds and how often it helped."""
        return CacheStatistics(self.hits, self.misses, len(self._rows), self.bytes, self.limit)


_caches: WeakKeyDictionary[Store, NgramCache] = WeakKeyDictionary()


def cache_of(store: Store) -> NgramCache:
    """Return the cache of an open store: an eighth of its memory limit, at most 256 MB."""
    return _caches.setdefault(store, NgramCache(min(2**28, store.memory_limit // 8)))


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
    """Fetch everything that ordering or scoring the bags can ask a model, in at most two queries.

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
    forms = {word for bag in bags for word in bag} - set(RESERVED_WORDS)
    if model.unknown == "tag":
        forms |= {f"<unk:{tag}>" for tag in tags}
    with store.connect() as connection, translated_errors(store.path):
        ids = word_ids(connection, model, forms, cache)
        wanted = np.array(sorted({UNK, BOS, EOS, *ids.values()}), np.int32)
        rows = _ngrams(connection, model, wanted, cache)
    rows = rows.where(rows.lengths <= order)
    return submodel_of(model, order, ids, rows, started)


def submodel_of(model: ModelLike, order: int, ids: dict[str, int], rows: Rows, started: float) -> SubModel:
    """Renumber the words from 0, reserved ones first, and build the table."""
    unigrams = set(rows.words[rows.lengths == 1, 0].tolist())
    known = sorted((number, form) for form, number in ids.items() if number in unigrams)
    words = (*RESERVED_WORDS, *(form for _, form in known))
    local = np.full(max([ROOT, *ids.values()]) + 2, -1, np.int32)  # the last one stays -1: beyond the order
    local[[UNK, BOS, EOS, ROOT, *(number for number, _ in known)]] = np.arange(len(words))
    table = build_table(
        np.ascontiguousarray(local[rows.words][:, :order]), rows.lengths, rows.logp, rows.backoff
    )
    index = {form: place for place, form in enumerate(words) if place > ROOT}
    return SubModel(model, order, table, words, index, len(rows.lengths), time.perf_counter() - started)


def word_ids(connection: Connection, model: ModelLike, forms: set[str], cache: NgramCache) -> dict[str, int]:
    """Return the ids of the forms that the store knows; asks only for those not looked up before."""
    known = cache.forms(model)
    missing = sorted(form for form in forms if form not in known)
    if missing:
        duck = raw(connection)
        duck.register("_forms", pa.table({"form": pa.array(missing, pa.string())}))
        try:
            found = duck.execute(
                "select form, min(id) as id from word where form in (select form from _forms) group by form"
            ).fetchall()
        finally:
            duck.unregister("_forms")
        known.update(dict.fromkeys(missing, -1))
        known.update(found)
    return {form: number for form in forms if (number := known[form]) >= 0}


def _ngrams(connection: Connection, model: ModelLike, wanted: Ints, cache: NgramCache) -> Rows:
    """Return all n-grams made of the wanted words only."""
    member = np.zeros(int(wanted[-1]) + 2, np.bool_)
    member[wanted] = True
    member[-1] = True  # index -1: beyond the order
    cached, missing = cache.take(model, wanted.tolist())
    kept = [_EMPTY_ROWS]
    if cached:
        kept.append(_inside(Rows(*map(np.concatenate, zip(*cached, strict=True))), member))
    if missing:
        kept += _fetch(connection, model, missing, member, cache)
    rows = Rows(*map(np.concatenate, zip(*kept, strict=True)))
    # What was cached must not show in the order of the rows.
    return rows.where(np.argsort(rows.words.max(axis=1, initial=-1), kind="stable"))


def _inside(rows: Rows, member: np.ndarray[Any, np.dtype[np.bool_]]) -> Rows:
    """Keep the n-grams whose words are all members."""
    return rows.where(member[rows.words].all(axis=1))


def _fetch(
    connection: Connection,
    model: ModelLike,
    anchors: list[int],
    member: np.ndarray[Any, np.dtype[np.bool_]],
    cache: NgramCache,
) -> list[Rows]:
    """Stream the rows of some anchors; keep those inside the batch, and cache all if they fit.

    Memory is bounded by the cache's limit and the batch's own n-grams, whatever the size of the model.
    """
    kept: list[Rows] = []
    whole: dict[int, list[Rows]] = {anchor: [] for anchor in anchors}
    size = 0
    for anchor_column, rows in _stream(connection, model, anchors):
        kept.append(_inside(rows, member))
        size += rows.nbytes
        if size > cache.limit // 2:
            whole.clear()
            continue
        for anchor, part in _by_anchor(anchor_column, rows):
            whole[anchor].append(part)
    for anchor, parts in whole.items():
        cache.put(model, anchor, Rows(*map(np.concatenate, zip(_EMPTY_ROWS, *parts, strict=True))))
    return kept


def _by_anchor(anchors: Ints, rows: Rows) -> Iterable[tuple[int, Rows]]:
    """Split rows by anchor."""
    if (np.diff(anchors) < 0).any():
        by_anchor = np.argsort(anchors, kind="stable")
        anchors, rows = anchors[by_anchor], rows.where(by_anchor)
    cuts = [0, *(np.flatnonzero(np.diff(anchors)) + 1).tolist(), len(anchors)]
    for begin, end in pairwise(cuts):
        if end > begin:
            yield int(anchors[begin]), rows.where(slice(begin, end))


def _stream(connection: Connection, model: ModelLike, anchors: list[int]) -> Iterable[tuple[Ints, Rows]]:
    """Run the query for some anchors and yield its rows in batches."""
    duck = raw(connection)
    where = f"from model_ngram where model_id = {int(model.id)}"
    if len(anchors) <= _UNION_LIMIT:
        query = "\nunion all\n".join(f"select {_COLUMNS} {where} and anchor = {int(x)}" for x in anchors)
        reader = duck.execute(query).to_arrow_reader(_BATCH_ROWS)
    else:
        query = f"select {_COLUMNS} {where} and anchor in ({', '.join(map(str, anchors))})"
        reader = duck.execute(query).to_arrow_reader(_BATCH_ROWS)
    for batch in reader:
        columns = dict(zip(batch.schema.names, (column.to_numpy() for column in batch.columns), strict=True))
        words = np.stack([columns[f"w{i}"] for i in range(1, 6)], axis=1).astype(np.int32, copy=False)
        lengths = columns["n"].astype(np.int32)
        yield columns["anchor"], Rows(words, lengths, columns["logp"].copy(), columns["backoff"].copy())


_EMPTY_ROWS = Rows(np.zeros((0, 5), np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros(0))


def lowercases(store: Store, model: ModelLike) -> bool:
    """Return whether all corpora of a model were lower-cased on the way in; then its input must be, too."""
    with store.connect() as connection, translated_errors(store.path):
        row = (
            raw(connection)
            .execute(
                "select count(*), count(*) filter (c.lowercase) from model_corpus m"
                " left join corpus c on c.id = m.corpus_id where m.model_id = ?",
                [model.id],
            )
            .fetchone()
        )
    return row is not None and row[0] > 0 and row[0] == row[1]
