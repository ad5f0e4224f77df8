"""Read n-grams of a model from the store by their anchors, through a bounded cache."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from weakref import WeakKeyDictionary

import duckdb
import numpy as np
import pyarrow as pa

from sentgen.arrays import Bools, Floats, Ints, Shorts
from sentgen.models.base.registry import ModelInfo
from sentgen.models.base.sql import among_bits
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader

# Approximate bytes of the arrays, the key and the dictionary slot of an entry, without its rows.
_ENTRY_OVERHEAD = 600


class _Sized(Protocol):
    """Rows with a known size in memory."""

    @property
    def nbytes(self) -> int: ...


_Rows = TypeVar("_Rows", bound=_Sized)


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """The contents of a cache, its hits and its misses."""

    hits: int
    misses: int
    entries: int
    bytes: int
    limit: int


def anchor_slices(anchors: Ints) -> Iterator[tuple[int, slice]]:
    """Yield each run of equal anchors in a column as anchor and slice; an anchor may have several runs."""
    cuts = [0, *(np.flatnonzero(np.diff(anchors)) + 1).tolist(), len(anchors)]
    for begin, end in pairwise(cuts):
        yield int(anchors[begin]), slice(begin, end)


class AnchorCache(Generic[_Rows]):
    """A cache of the rows of recent anchors, bounded in bytes, that drops the least recently used first.

    The anchors of a batch are taken and put from the greatest id, the rarest word, so that rare words are
    dropped first. The key beside the anchor identifies the model or the trees, with their state if they
    can change.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.hits = self.misses = self.bytes = 0
        self._rows: OrderedDict[tuple[Hashable, int], _Rows] = OrderedDict()
        # A cache belongs to a store, which threads may share.
        self._lock = threading.Lock()

    def take(self, key: Hashable, anchors: Iterable[int]) -> tuple[list[_Rows], list[int]]:
        """Return what is known of some anchors, ascending, and which of them must be fetched."""
        cached, missing = [], []
        with self._lock:
            for anchor in sorted(anchors, reverse=True):
                rows = self._rows.get((key, anchor))
                if rows is None:
                    missing.append(anchor)
                else:
                    self._rows.move_to_end((key, anchor))
                    cached.append(rows)
            self.hits += len(cached)
            self.misses += len(missing)
        return cached[::-1], missing[::-1]

    def put(self, key: Hashable, anchor: int, rows: _Rows) -> None:
        """Keep all rows of an anchor, and drop the least recently used anchors beyond the limit."""
        with self._lock:
            old = self._rows.pop((key, anchor), None)
            self.bytes += rows.nbytes + _ENTRY_OVERHEAD - (old.nbytes + _ENTRY_OVERHEAD if old else 0)
            self._rows[key, anchor] = rows
            while self.bytes > self.limit:
                _, dropped = self._rows.popitem(last=False)
                self.bytes -= dropped.nbytes + _ENTRY_OVERHEAD

    @property
    def statistics(self) -> CacheStatistics:
        """Return what the cache holds and how often it helped."""
        return CacheStatistics(self.hits, self.misses, len(self._rows), self.bytes, self.limit)


#: The columns of an n-gram.
NGRAM = "n, w1, w2, w3, w4, w5, logp, backoff"
#: Up to this many anchors, a union of one equality each is fastest, since DuckDB reads few other rows. For
#: more, a bit string takes a third of the time of a list, for which DuckDB reads all columns before it
#: filters. CPU ms of union, bits and list from 31M n-grams: 10, 44, 24 for 26 anchors; too many to plan, 178,
#: 524 for 908.
_UNION_LIMIT = 64
_MAX_KNOWN_FORMS = 500_000


def anchored(
    duck: duckdb.DuckDBPyConnection, model: ModelInfo, anchors: Sequence[int], columns: str, *, rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield columns of the n-grams of ascending anchors, in batches of 1 to about ``rows`` rows."""
    select = f"select {columns} from model_ngram where model_id = {int(model.id)}"
    parameters: dict[str, bytes] = {}
    if len(anchors) <= _UNION_LIMIT:
        query = "\nunion all\n".join(f"{select} and anchor = {int(anchor)}" for anchor in anchors)
    else:
        condition, parameters = among_bits("anchor", anchors)
        query = f"{select} and {condition}"
    for batch in arrow_reader(duck, query, parameters, rows=rows):
        if batch.num_rows:
            yield batch


class StoredNgrams(NamedTuple):
    """Rows of n-grams as stored; the word columns beyond the length of an n-gram are undefined."""

    lengths: Shorts
    w1: Ints
    w2: Ints
    w3: Ints
    w4: Ints
    w5: Ints
    logp: Floats
    backoff: Floats

    @classmethod
    def of_batch(cls, batch: pa.RecordBatch) -> StoredNgrams:
        """Return the n-grams of a batch of the columns `NGRAM`, without a copy."""
        n, *words, logp, backoff = batch.columns
        columns = [np.frombuffer(word.buffers()[1], np.int32, len(word), 4 * word.offset) for word in words]
        return StoredNgrams._make([n.to_numpy(), *columns, logp.to_numpy(), backoff.to_numpy()])


class CachedNgrams(NamedTuple):
    """Some n-grams of a model as arrays, with the ids of the store."""

    words: Ints  # (k, order of the model or more) word ids, -1 beyond the length
    logp: Floats  # (k,)
    backoff: Floats  # (k,)

    def where(self, chosen: Any) -> CachedNgrams:
        """Return the rows that an index, slice or mask chooses."""
        return CachedNgrams(*(column[chosen] for column in self))

    @property
    def lengths(self) -> Ints:
        """Return the order of each n-gram."""
        counted: Ints = np.count_nonzero(self.words >= 0, axis=1).astype(np.int32)
        return counted

    @property
    def nbytes(self) -> int:
        """Return the memory that the rows take."""
        return sum(column.nbytes for column in self)

    @classmethod
    def joined(cls, parts: Iterable[CachedNgrams], order: int) -> CachedNgrams:
        """Return all rows of some parts in new arrays; without parts, empty arrays for the given order."""
        nothing = cls(np.zeros((0, order), np.int32), np.zeros(0), np.zeros(0))
        return cls(*map(np.concatenate, zip(nothing, *parts, strict=True)))


class NgramCache(AnchorCache[CachedNgrams]):
    """The n-grams of recent anchors, bounded in bytes, and the forms that were looked up.

    Keys hold the id and version of the model; a built model never changes, so entries never go stale.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._forms: dict[tuple[int, int], dict[str, int]] = {}
        self._unigrams: dict[tuple[int, int], Bools] = {}

    def forms(self, model: ModelInfo) -> dict[str, int]:
        """Return the word ids looked up so far, -1 for a form that the model cannot know."""
        with self._lock:
            key = (model.id, model.version)
            if len(self._forms.get(key, ())) > _MAX_KNOWN_FORMS:
                del self._forms[key]  # callers keep the dictionaries that they hold
            return self._forms.setdefault(key, {})

    def unigrams(self, model: ModelInfo, read: Callable[[], Ints]) -> Bools:
        """Return for each word id whether the model has it as a unigram; read once.

        Args:
            read: returns the ids.
        """
        key = (model.id, model.version)
        if key not in self._unigrams:
            ids = read()
            known = np.zeros(int(ids.max(initial=0)) + 1, np.bool_)
            known[ids] = True
            self._unigrams[key] = known
        return self._unigrams[key]

    def word_ids(self, duck: duckdb.DuckDBPyConnection, model: ModelInfo, forms: set[str]) -> dict[str, int]:
        """Return the ids of the forms that the store knows; only forms that are not cached are queried."""
        known = self.forms(model)
        missing = sorted(form for form in forms if form not in known)
        if missing:
            # A list, not an Arrow table, for which DuckDB imports modules longer than most look-ups take.
            rows = duck.execute(
                "select form, min(id) as id from word where form in (select unnest($forms)) group by form",
                {"forms": missing},
            ).fetchall()
            known.update(dict.fromkeys(missing, -1) | dict(rows))
        return {form: number for form in forms if (number := known[form]) >= 0}

    @classmethod
    def of_store(cls, store: Store) -> NgramCache:
        """Return the cache of an open store: a third of its memory limit, at most 256 MB."""
        return _caches.setdefault(store, cls(min(2**28, store.memory_limit // 3)))


# Weak keys: the cache of a store is dropped with the store.
_caches: WeakKeyDictionary[Store, NgramCache] = WeakKeyDictionary()
