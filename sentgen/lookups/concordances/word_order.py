"""The order of lines by words and by what is said of them, on arrays: as `sorting` says it in SQL.

A word or a value is the number that stands for it, until numbers are put in the order of their strings: those
of the first words are looked up, and then at once those of all others, of what may be among the first lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.case_folding import fold, folded
from sentgen.lookups.base.statement import Bindings, ResultBudget
from sentgen.lookups.base.tokens import NONE
from sentgen.lookups.base.words import forms_of
from sentgen.lookups.concordances.sorting import NODE, LineOrder, SortKey, by_value
from sentgen.lookups.concordances.stretches import by_numbers
from sentgen.lookups.search.attributes import of_key
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.number_sets import each_once, numbered
from sentgen.lookups.search.spans import NO_SPANS, Spans
from sentgen.schema.engine import arrow_table, raw, registered

_RANKS = """\
select dense_rank() over (order by {order}) as rank
from (select id, {key} as key from asked)
order by id"""


class WordOrder:
    """Puts hits in an order.

    Args:
        connection: the store.
        order: the order, of words and values.
    """

    def __init__(self, connection: Connection, order: LineOrder) -> None:
        self.connection, self.keys, self.context = connection, order.keys, order.context
        self.values = {name: of_key(connection, key, Bindings()) for name, key in order.found.items()}

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
                held.append(_Held(by_numbers(part), self._words(part)))
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
        words = [one for one in self.keys if one.name not in self.values]
        width = sum(longest if one.name == NODE else len(one.beside(self.context)) for one in words)
        size = max(most // max(width, 1), 1)
        for begin in range(0, len(hits), size):
            some = slice(begin, begin + size)
            yield BlockHits(hits.block, hits.first[some], hits.last[some], NO_SPANS)

    def _words(self, hits: BlockHits) -> list[Ints | Longs]:
        """Return for each key the words or the value of the hits, a row each; `NONE` where there is none."""
        words, (low, high) = hits.block.column("word_id"), hits.block.unit_ends(hits.first)
        found = list[Ints | Longs]()
        for one in self.keys:
            if one.name in self.values:
                found.append(self.values[one.name].numbers(hits.block, hits.first)[:, None])
                continue
            at, low_end, high_end = self._places(one, hits, low, high)
            there = (at >= low_end[:, None]) & (at <= high_end[:, None])
            found.append(np.where(there, words[np.where(there, at, 0)], NONE).astype(np.int32))
        return found

    def _places(self, one: SortKey, hits: BlockHits, low: Longs, high: Longs) -> tuple[Longs, Longs, Longs]:
        """Return the places of the words of a key, a row for each hit, and between which ones they count."""
        if one.name == NODE:
            longest = int((hits.last - hits.first).max(initial=0)) + 1
            return hits.first[:, None] + np.arange(longest), hits.first, hits.last
        beside = np.array(one.beside(self.context), np.int64)
        return np.where(beside < 0, hits.first[:, None], hits.last[:, None]) + beside, low, high

    def _ranked(self, words: Sequence[Ints | Longs], limit: int) -> Longs:
        """Return the rows of the first hits, in their order."""
        rows = np.arange(len(words[0]))
        before = np.zeros(len(rows), np.int64)
        by_key = zip(self.keys, words, strict=True)
        columns = [(one, column) for one, of_key in by_key for column in of_key.T]
        of_words, looked_up = [column for one, column in columns if one.name not in self.values], 0
        for one, column in columns:
            if one.name in self.values:
                places = self._of_values(column[rows], one)
            else:
                # The first words leave few hits, as a rule, and one look-up takes less than one for each.
                if looked_up < 2:
                    asked = of_words[1:] if looked_up else of_words[:1]
                    ranks = _Ranks(self.connection, [words[rows] for words in asked])
                places, looked_up = ranks.of(column[rows], fold_case=one.fold), looked_up + 1
            if one.descending:
                places = places.max(initial=0) - places
            # Equal so far, they are told apart by this word.
            before = before * (places.max(initial=0) + 1) + places
            different, before = numbered(before)
            if len(different) == len(rows):
                break
            if 0 < limit < len(rows):
                some = before <= np.partition(before, limit - 1)[limit - 1]
                rows, before = rows[some], before[some]
        order = np.argsort(before, kind="stable")
        return rows[order[:limit] if limit else order]

    def _of_values(self, values: Ints | Longs, one: SortKey) -> Longs:
        """Return where values come in the order of their strings, equal ones at the same place."""
        import pyarrow as pa

        different: Longs
        different, rows = np.unique(values, return_inverse=True)
        asked = pa.table({"id": different, "key": self.values[one.name].of_numbers(different)})
        text = _RANKS.format(order=by_value("key"), key=folded("key") if one.fold else "key")
        duck = raw(self.connection)
        with registered(duck, asked=asked):
            found: Longs = arrow_table(duck, text)["rank"].to_numpy()[rows]
        return found


class _Ranks:
    """Where words come in the order of their strings, equal ones at the same place; none is 0."""

    def __init__(self, connection: Connection, words: Sequence[Ints | Longs]) -> None:
        parts = [np.zeros(0, np.int64), *(each_once(one.ravel()) for one in words)]
        self._words = each_once(np.concatenate(parts))
        self._forms = forms_of(connection, self._words[self._words != NONE]).to_pylist()
        self._known: dict[bool, Longs] = {}

    def of(self, words: Ints | Longs, *, fold_case: bool) -> Longs:
        """Return the places of words, with capital and small letters as the same if wanted."""
        if fold_case not in self._known:
            strings = [fold(form) for form in self._forms] if fold_case else self._forms
            # In the order of their letters, which is that of their bytes in UTF-8, as DuckDB has it.
            places = {string: place for place, string in enumerate(sorted(set(strings)), 1)}
            nothing = [0] * (len(self._words) - len(strings))
            # By their numbers, of which `NONE` comes before 0.
            every = np.zeros(int(self._words.max(initial=0)) + 2, np.int64)
            every[self._words + 1] = [*nothing, *map(places.__getitem__, strings)]
            self._known[fold_case] = every
        found: Longs = self._known[fold_case][words + 1]
        return found


_NO_WORDS = np.zeros((0, 0), np.int32)


@dataclass(frozen=True, slots=True)
class _Held:
    """Hits by the numbers of their tokens, with the words of each key, a row a hit."""

    places: Spans
    words: Sequence[Ints | Longs]

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
    for of_one in zip(*(one.words for one in parts), strict=True):
        width = max(one.shape[1] for one in of_one)
        padded = [np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=NONE) for one in of_one]
        words.append(np.concatenate(padded))
    return _Held(places, words)
