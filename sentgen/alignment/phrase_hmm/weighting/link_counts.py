"""Which stems gold links join, and how often they stood in both texts of a pair: a small table of counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sentgen.alignment.pair import Pair
from sentgen.alignment.words.stems import stem
from sentgen.arrays import Bools, Bytes, Longs

#: Shares of linked places from which on stems are linked some times, often and mostly.
_SHARES = (0.1, 0.35, 0.75)
#: Links from which on a share counts for more.
_MANY_LINKS = 3


@dataclass(frozen=True, slots=True)
class PairPlaces:
    """The entry of each two words of a pair (m, n), -1 for none, and which are the same but for case."""

    entries: Longs
    same: Bools


@dataclass(frozen=True)
class LinkCounts:
    """For two stems, in either order, the sure links between them and the places where both stood.

    Entry k is of the stems ``stems[first[k]]`` and ``stems[second[k]]``, sorted by both, the lower first.
    """

    stems: tuple[str, ...]
    first: Longs
    second: Longs
    linked: Longs
    together: Longs

    @staticmethod
    def of_rows(
        stems: tuple[str, ...], one: Longs, other: Longs, linked: Longs, together: Longs
    ) -> LinkCounts:
        """Return the table of entries in any order, the two stems of each in any order."""
        first, second = np.minimum(one, other), np.maximum(one, other)
        order = np.lexsort((second, first))
        return LinkCounts(stems, *(column[order] for column in (first, second, linked, together)))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.first)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {one: number for number, one in enumerate(self.stems)}

    @cached_property
    def _keys(self) -> Longs:
        return self.first * len(self.stems) + self.second

    def places(self, pair: Pair) -> PairPlaces:
        """Look the words of a pair up."""
        abstract, document = ([word.lower() for word in words] for words in (pair.abstract, pair.document))
        same = np.array(abstract, np.str_)[:, None] == np.array(document, np.str_)[None, :]
        if not len(self):
            return PairPlaces(np.full(same.shape, -1), same)
        rows, columns = (
            np.array([self._numbers.get(stem(word), -1) for word in words], np.int64)
            for words in (abstract, document)
        )
        low = np.minimum(rows[:, None], columns[None, :])
        keys = low * len(self.stems) + np.maximum(rows[:, None], columns[None, :])
        found = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        # A stem without a number is -1, and the lower one of two.
        return PairPlaces(np.where((self._keys[found] == keys) & (low >= 0), found, -1), same)

    def values(self, places: PairPlaces, own: Bools | None = None) -> Bytes:
        """Return the value of each two words in the template ``seen in gold links``, (m, n).

        Args:
            places: of the pair (``places``).
            own: sure links (m, n) of the pair, if it has been counted: it is left out then, so that a model
                does not learn to trust what it will not have.
        """
        if not len(self):
            return np.where(places.same, 10, 0).astype(np.uint8)
        entries, known = places.entries, places.entries >= 0
        linked, together = self.linked[entries], self.together[entries]
        if own is not None:
            size = len(self)
            linked = linked - np.bincount(entries[known & own], minlength=size)[entries]
            together = together - np.bincount(entries[known], minlength=size)[entries]
        known &= linked > 0
        share = np.divide(linked, together, out=np.zeros(linked.shape), where=known)
        seen = np.where(known, 1 + np.digitize(share, _SHARES), 0)
        many = known & (linked >= _MANY_LINKS)
        values: Bytes = (10 * places.same + 2 * seen + many).astype(np.uint8)
        return values


def no_counts() -> LinkCounts:
    """Return a table without entries."""
    none = np.empty(0, np.int64)
    return LinkCounts((), none, none, none, none)


def count_links(pairs: Sequence[Pair], sure: Iterable[Bools]) -> LinkCounts:
    """Count the links of pairs, (m, n) each; stems that were never linked have no entry."""
    numbers: dict[str, int] = {}
    texts = []
    for pair in pairs:
        abstract, document = (
            np.array([numbers.setdefault(stem(word), len(numbers)) for word in words], np.int64)
            for words in (pair.abstract, pair.document)
        )
        texts.append((abstract, document))
    size = max(1, len(numbers))
    together = [_keys(*one, size).ravel() for one in texts]
    linked = [keys[links.ravel()] for keys, links in zip(together, sure, strict=True)]
    none = np.empty(0, np.int64)
    keys, times = np.unique(np.concatenate([none, *linked]), return_counts=True)
    places = none
    if len(keys):
        places = np.zeros(len(keys), np.int64)
        for one in together:
            found = np.minimum(np.searchsorted(keys, one), len(keys) - 1)
            places += np.bincount(found[keys[found] == one], minlength=len(keys))
    return LinkCounts(tuple(numbers), keys // size, keys % size, times.astype(np.int64), places)


def _keys(abstract: Longs, document: Longs, size: int) -> Longs:
    low = np.minimum(abstract[:, None], document[None, :])
    keys: Longs = low * size + np.maximum(abstract[:, None], document[None, :])
    return keys
