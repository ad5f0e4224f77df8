"""A bounded cache of rows of the store, by anchor: the rarest word of what the rows count."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

import numpy as np

from sentgen.arrays import Ints

# About what some arrays, a key and a place in the dictionary take beside the rows.
_ENTRY_OVERHEAD = 600


class _Sized(Protocol):
    """Rows that say how much memory they take."""

    @property
    def nbytes(self) -> int: ...


Rows = TypeVar("Rows", bound=_Sized)


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """What a cache holds and how often it helped."""

    hits: int
    misses: int
    entries: int
    bytes: int
    limit: int


def anchor_slices(anchors: Ints) -> Iterator[tuple[int, slice]]:
    """Yield the rows of each anchor of a column, cut where it changes; an anchor may come twice."""
    cuts = [0, *(np.flatnonzero(np.diff(anchors)) + 1).tolist(), len(anchors)]
    for begin, end in pairwise(cuts):
        yield int(anchors[begin]), slice(begin, end)


class AnchorCache(Generic[Rows]):
    """The rows of recent anchors, least recently used first out, bounded in bytes.

    Who takes or puts the anchors of a batch begins with the greatest ids, the rarest words, so that they go
    first. A key beside the anchor says of what the rows are; what may change has its state in the key.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.hits = self.misses = self.bytes = 0
        self._rows: OrderedDict[tuple[Hashable, int], Rows] = OrderedDict()
        # A cache belongs to a store, which threads may share.
        self._lock = threading.Lock()

    def take(self, key: Hashable, anchors: Iterable[int]) -> tuple[list[Rows], list[int]]:
        """Return what is known of some anchors, ascending, and which of them must be fetched."""
        found, missing = [], []
        with self._lock:
            for anchor in sorted(anchors, reverse=True):
                rows = self._rows.get((key, anchor))
                if rows is None:
                    missing.append(anchor)
                else:
                    self._rows.move_to_end((key, anchor))
                    found.append(rows)
            self.hits += len(found)
            self.misses += len(missing)
        return found[::-1], missing[::-1]

    def put(self, key: Hashable, anchor: int, rows: Rows) -> None:
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
