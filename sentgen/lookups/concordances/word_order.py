"""The order of lines by words beside the node, or its own, on arrays: as `sorting` says it in SQL.

A word is the number that stands for it, until numbers are put in the order of their strings: each string is
looked up once. What cannot be among the first lines is dropped before their next words are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.case_folding import folded
from sentgen.lookups.concordances.line_text import different_numbers
from sentgen.lookups.concordances.sorting import LEFT, NODE, SortKey
from sentgen.lookups.concordances.stretches import numbers_of
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.spans import NO_SPANS, Spans
from sentgen.lookups.search.tokens import NONE
from sentgen.lookups.statement import ResultBudget
from sentgen.schema.engine import arrow_table, raw, registered

_RANKS = """\
select asked.id, dense_rank() over (order by {form}) as rank
from asked
join word as w on w.id = asked.id"""


@dataclass(frozen=True, slots=True)
class WordOrder:
    """Puts hits in the order of words.

    Args:
        connection: the store.
        keys: what they are put in order by, words all of them.
        context: how many tokens beside the node ``left`` and ``right`` look at.
    """

    connection: Connection
    keys: Sequence[SortKey]
    context: int

    def first(self, found: Iterable[BlockHits], limit: int, most: int) -> Spans:
        """Return the first hits by the numbers of their tokens, in their order; equal ones by place.

        Args:
            found: all hits, in the order of the store, in blocks with the tokens beside them.
            limit: how many; 0 for all.
            most: words that are held at once, if all need not be.
        """
        held, size = [_Held(NO_SPANS, [_NO_WORDS for _ in self.keys])], 0
        budget = ResultBudget(self.connection)
        for hits in found:
            for part in self._cut(hits, most):
                held.append(_Held(numbers_of(part), self._words(part)))
                size += held[-1].size
                if not limit:
                    budget.hold(held[-1].size * _NO_WORDS.itemsize)
                elif size > most:
                    every = _together(held)
                    held = [every.take(np.sort(self._ranked(every.words, limit)))]
                    size = held[0].size
        every = _together(held)
        return every.places.take(self._ranked(every.words, limit))

    def _cut(self, hits: BlockHits, most: int) -> Iterator[BlockHits]:
        """Yield some of the hits at a time, which have about so many words."""
        longest = int((hits.last - hits.first).max(initial=0)) + 1
        width = sum(longest if one.name == NODE else one.tokens(self.context) for one in self.keys)
        size = max(most // max(width, 1), 1)
        for begin in range(0, len(hits), size):
            some = slice(begin, begin + size)
            yield BlockHits(hits.block, hits.first[some], hits.last[some], NO_SPANS)

    def _words(self, hits: BlockHits) -> list[Ints]:
        """Return for each key the words of the hits, a row each; `NONE` where there is none."""
        words, (low, high) = hits.block.column("word_id"), hits.block.unit_ends(hits.first)
        found = []
        for one in self.keys:
            at, low_end, high_end = self._places(one, hits, low, high)
            there = (at >= low_end[:, None]) & (at <= high_end[:, None])
            found.append(np.where(there, words[np.where(there, at, 0)], NONE).astype(np.int32))
        return found

    def _places(self, one: SortKey, hits: BlockHits, low: Longs, high: Longs) -> tuple[Longs, Longs, Longs]:
        """Return the places of the words of a key, a row for each hit, and between which ones they count."""
        if one.name == NODE:
            longest = int((hits.last - hits.first).max(initial=0)) + 1
            return hits.first[:, None] + np.arange(longest), hits.first, hits.last
        steps = np.arange(1, self.context + 1)
        if one.place:
            steps = np.array([abs(one.place)])
        if one.name == LEFT or one.place < 0:
            return hits.first[:, None] - steps, low, high
        return hits.last[:, None] + steps, low, high

    def _ranked(self, words: Sequence[Ints], limit: int) -> Longs:
        """Return the rows of the first hits, in their order."""
        rows = np.arange(len(words[0]))
        before = np.zeros(len(rows), np.int64)
        columns = [(one, of_key[:, n]) for one, of_key in zip(self.keys, words, strict=True)
                   for n in range(of_key.shape[1])]  # fmt: skip
        for one, column in columns:
            ranks = self._ranks(column[rows], fold=one.fold)
            if one.descending:
                ranks = ranks.max(initial=0) - ranks
            # Equal so far, they are told apart by this word.
            different, before = np.unique(before * (ranks.max(initial=0) + 1) + ranks, return_inverse=True)
            if 0 < limit < len(rows):
                some = before <= np.partition(before, limit - 1)[limit - 1]
                rows, before = rows[some], before[some]
            if len(different) >= len(rows) and len(np.unique(before)) == len(rows):
                break
        order = np.argsort(before, kind="stable")
        return rows[order[:limit] if limit else order]

    def _ranks(self, words: Ints, *, fold: bool) -> Longs:
        """Return where words come in the order of their strings, equal ones at the same place; none is 0."""
        import pyarrow as pa

        different, rows = different_numbers(words)
        duck = raw(self.connection)
        with registered(duck, asked=pa.table({"id": different})):
            found = arrow_table(duck, _RANKS.format(form=folded("w.form") if fold else "w.form"))
        ranks = np.zeros(len(different), np.int64)
        ranks[np.searchsorted(different, found["id"].to_numpy())] = found["rank"].to_numpy()
        return ranks[rows]


_NO_WORDS = np.zeros((0, 0), np.int32)


@dataclass(frozen=True, slots=True)
class _Held:
    """Hits by the numbers of their tokens, with the words of each key, a row a hit."""

    places: Spans
    words: Sequence[Ints]

    @property
    def size(self) -> int:
        """How many numbers are held."""
        return sum(one.size for one in self.words) + 4 * len(self.places)

    def take(self, rows: Longs) -> _Held:
        """Return some of them."""
        return _Held(self.places.take(rows), [one[rows] for one in self.words])


def _together(parts: Sequence[_Held]) -> _Held:
    """Return several as one; what has fewer words than others has `NONE` behind them."""
    places = Spans(
        np.concatenate([one.places.first for one in parts]),
        np.concatenate([one.places.last for one in parts]),
        {},
    )
    words = []
    for of_key in zip(*(one.words for one in parts), strict=True):
        width = max(one.shape[1] for one in of_key)
        padded = [np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=NONE) for one in of_key]
        words.append(np.concatenate(padded))
    return _Held(places, words)
