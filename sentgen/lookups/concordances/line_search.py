"""Lines of a concordance: hits in arrays, found block by block, drawn, sorted, and turned into text.

Memory is bounded by the number of lines; all lines in the order of the store are computed a part at a time.
`line_query` defines the lines in SQL, and `sorting` their order.

In arrays, words and values are ids. To sort hits, ids are ranked by their strings: strings of the first words
are looked up, and then at once those of all other words of hits that may be among the first lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.case_folding import fold, fold_sql
from sentgen.lookups.base.attributes import by_value
from sentgen.lookups.base.cache import forms_of
from sentgen.lookups.base.statement import Bindings, Extent, ResultBudget, Statement
from sentgen.lookups.base.tokens import NONE, Tokens
from sentgen.lookups.concordances.line_query import SHOWN_TEXT, LineQuery, random_keys
from sentgen.lookups.concordances.line_text import Stretches
from sentgen.lookups.concordances.sorting import NODE, LineOrder, SortKey
from sentgen.lookups.search.attributes import of_key
from sentgen.lookups.search.hits import NO_SPANS, BlockHits, Spans
from sentgen.lookups.search.number_sets import unique, unique_inverse
from sentgen.schema.engine import arrow_table, raw, register_arrow

if TYPE_CHECKING:
    import pyarrow as pa

#: Lines that are computed at once: some ten megabytes.
LINES = 20_000
#: Tokens that are held in memory at once for lines, or for sorting hits.
TOKENS = 1_000_000

_LINE, _CHOSEN = "line", "chosen_hits"
_SHOWN_TEXT = Statement(f"select {SHOWN_TEXT}\nfrom {_LINE}")
#: Columns with the numbers of the first and last token of hits.
_NUMBERS = ("first_number", "last_number")


class LineSearch:
    """Finds the lines of a concordance.

    Attributes:
        hits: number of hits that were found.
        left: number of hits without those whose line equals an earlier one.
    """

    def __init__(self, query: LineQuery) -> None:
        self._query, self._connection = query, query.connection
        # Words beside a hit may be in other sentences of its document.
        self._tokens = Tokens(query.connection, across=query.wide)
        self.hits = self.left = 0

    def count(self) -> None:
        """Find all hits to count them."""
        for _ in self._all_hits():
            pass

    def first(self, limit: int) -> pa.Table:
        """Return at most ``limit`` lines, 0 for all; all hits are counted."""
        import pyarrow as pa

        held, tables = ResultBudget(self._connection), list[pa.Table]()
        for table in self.parts(limit):
            tables.append(table)
            held.add(table.nbytes)
        return pa.concat_tables(tables)

    def parts(self, limit: int = 0) -> Iterator[pa.Table]:
        """Yield at most ``limit`` lines in parts that fit in memory; the first part may be empty."""
        begin = 0
        for table in self._in_order(limit) if self._query.order.keys else self._in_place(limit):
            ranked = table.append_column("rank", [np.arange(begin, begin + len(table))])
            begin += len(table)
            yield self._rows_of(_LINE, ranked, self._query.shown_lines())

    def _all_hits(self) -> Iterator[BlockHits]:
        """Yield the hits; for ``distinct``, the first one of those with equal lines."""
        seen = set[str]()
        for hits in self._query.pattern.find(self._connection):
            self.hits += len(hits)
            some = self._new(hits, seen) if self._query.distinct else hits
            self.left += len(some)
            yield some

    def _new(self, hits: BlockHits, seen: set[str]) -> BlockHits:
        """Return the hits whose lines differ from all earlier ones."""
        new = list[bool]()
        for shown in Stretches.in_batches(self._around([hits]), LINES, TOKENS):
            texts = self._rows_of(_LINE, Stretches.lines(self._connection, shown), _SHOWN_TEXT)
            for text in texts["said"].to_pylist():
                new.append(text not in seen)
                seen.add(text)
        return hits.take(np.array(new, bool))

    def _chosen(self) -> Iterator[BlockHits]:
        """Yield the hits that may be shown: all, or those that are drawn at random."""
        if not self._query.sample:
            yield from self._all_hits()
            return
        yield from BlockHits.located(self._tokens, self._draw())

    def _draw(self) -> Spans:
        """Return the token numbers of the hits that are drawn at random."""
        drawn, keys, most = NO_SPANS, np.zeros(0, np.int64), self._query.sample
        for hits in self._all_hits():
            columns = (column.to_numpy().astype(np.int64) for column in hits.rows(self._query.extent).columns)
            new = random_keys(self._query.seed, *columns)
            some = new < (keys.max() if len(keys) == most else np.iinfo(np.int64).max)
            drawn = Spans.together([drawn, hits.token_numbers().take(some)], ())
            keys = np.append(keys, new[some])
            first = np.sort(np.argsort(keys, kind="stable")[:most])
            drawn, keys = drawn.take(first), keys[first]
        return drawn

    def _rows_of(self, name: str, rows: pa.Table, query: Statement) -> pa.Table:
        with register_arrow(raw(self._connection), **{name: rows}):
            return query.run(self._connection)

    def _in_place(self, limit: int) -> Iterator[pa.Table]:
        first = self._chosen() if not limit else _first(self._chosen(), limit)
        for shown in Stretches.in_batches(self._around(first), LINES, TOKENS):
            yield Stretches.lines(self._connection, shown)

    def _in_order(self, limit: int) -> Iterator[pa.Table]:
        import pyarrow as pa

        order, reasons = self._query.order, pa.table({})
        all_hits = self._beside(self._chosen())
        if order.typical:
            extent = self._query.line_extent
            held = [_rows(None, extent), *(_rows(hits, extent) for hits in all_hits)]
            rows = self._rows_of(_CHOSEN, pa.concat_tables(held), self._query.order_hits(_CHOSEN, limit))
            first, last = (rows[name].to_numpy() for name in _NUMBERS)
            places, reasons = Spans(first, last, {}), rows.select(order.reasons)
        else:
            places = _WordOrder(self._connection, order).first(all_hits, limit, TOKENS)
        for begin in range(0, max(len(places), 1), LINES):
            table = self._lines(places.take(np.arange(begin, min(begin + LINES, len(places)))))
            for name in reasons.column_names:
                table = table.append_column(name, reasons[name].slice(begin, LINES))
            yield table

    def _lines(self, places: Spans) -> pa.Table:
        """Return the lines of hits, in the order of the hits."""
        import pyarrow as pa

        by_place = np.lexsort((places.last, places.first))
        shown = self._around(BlockHits.located(self._tokens, places.take(by_place)))
        batches = Stretches.in_batches(shown, LINES, TOKENS)
        lines = pa.concat_tables([Stretches.lines(self._connection, batch) for batch in batches])
        return lines.take(pa.array(np.argsort(by_place)))

    def _around(self, all_hits: Iterable[BlockHits]) -> Iterator[Stretches]:
        return (Stretches.of_hits(hits, self._query.context) for hits in self._beside(all_hits))

    def _beside(self, all_hits: Iterable[BlockHits]) -> Iterator[BlockHits]:
        """Yield hits in blocks that have all tokens of their contexts."""
        for hits in all_hits:
            if hits.block.tokens.across == self._query.wide:
                yield hits
            else:
                yield from BlockHits.located(self._tokens, hits.token_numbers())


def _first(all_hits: Iterable[BlockHits], limit: int) -> Iterator[BlockHits]:
    """Yield the first hits, but read the others, too, so that they are counted."""
    for hits in all_hits:
        if limit:
            some = BlockHits(hits.block, hits.first[:limit], hits.last[:limit], NO_SPANS)
            limit -= len(some)
            yield some


def _rows(hits: BlockHits | None, extent: Extent) -> pa.Table:
    """Return a table of hits: their position, as in the statement, and the numbers of their tokens."""
    import pyarrow as pa

    if hits is None:
        names = {"sentence_id": np.int64, "first": np.int32, "last": np.int32}
        rows, numbers = pa.table({name: np.zeros(0, kind) for name, kind in names.items()}), NO_SPANS
    else:
        rows, numbers = hits.rows(extent), hits.token_numbers()
    for name, column in zip(_NUMBERS, (numbers.first, numbers.last), strict=True):
        rows = rows.append_column(name, [column])
    return rows


_RANKS = """\
select dense_rank() over (order by {order}) as rank
from (select id, {key} as key from asked)
order by id"""


class _WordOrder:
    """Sorts hits by words and values."""

    def __init__(self, connection: Connection, order: LineOrder) -> None:
        self.connection, self.keys, self.context = connection, order.keys, order.context
        self.values = {name: of_key(connection, key, Bindings()) for name, key in order.values.items()}

    def first(self, all_hits: Iterable[BlockHits], limit: int, most: int) -> Spans:
        """Return the token numbers of the first hits, sorted; equal hits keep the order of the store.

        Args:
            all_hits: hits in the order of the store, in blocks with the tokens of their contexts.
            limit: number of hits; 0 for all.
            most: words that are held in memory at once, if there is a limit.
        """
        held, size = [_Held(NO_SPANS, [_NO_WORDS for _ in self.keys])], 0
        budget = ResultBudget(self.connection)
        for hits in all_hits:
            for part in self._cut(hits, most):
                held.append(_Held(part.token_numbers(), self._words(part)))
                size += held[-1].size
                if not limit:
                    budget.add(held[-1].size * _NO_WORDS.itemsize)
                elif size > most:
                    every = _together(held)
                    held = [every.take(np.sort(self._rank(every.words, limit)))]
                    size = held[0].size
        every = _together(held)
        return every.places.take(self._rank(every.words, limit))

    def _cut(self, hits: BlockHits, most: int) -> Iterator[BlockHits]:
        """Yield parts of the hits with about ``most`` words each."""
        longest = int((hits.last - hits.first).max(initial=0)) + 1
        words = [key for key in self.keys if key.name not in self.values]
        width = sum(longest if key.name == NODE else len(key.beside(self.context)) for key in words)
        size = max(most // max(width, 1), 1)
        for begin in range(0, len(hits), size):
            some = slice(begin, begin + size)
            yield BlockHits(hits.block, hits.first[some], hits.last[some], NO_SPANS)

    def _words(self, hits: BlockHits) -> list[Ints | Longs]:
        """Return for each key the ids of the words or the value of each hit; `NONE` where there is none."""
        words, (low, high) = hits.block.column("word_id"), hits.block.unit_ends(hits.first)
        words_of_keys = list[Ints | Longs]()
        for key in self.keys:
            if key.name in self.values:
                words_of_keys.append(self.values[key.name].numbers(hits.block, hits.first)[:, None])
                continue
            at, low_end, high_end = self._places(key, hits, low, high)
            there = (at >= low_end[:, None]) & (at <= high_end[:, None])
            words_of_keys.append(np.where(there, words[np.where(there, at, 0)], NONE).astype(np.int32))
        return words_of_keys

    def _places(self, key: SortKey, hits: BlockHits, low: Longs, high: Longs) -> tuple[Longs, Longs, Longs]:
        """Return the places of the words of a key, a row for each hit, and their valid bounds."""
        if key.name == NODE:
            longest = int((hits.last - hits.first).max(initial=0)) + 1
            return hits.first[:, None] + np.arange(longest), hits.first, hits.last
        beside = np.array(key.beside(self.context), np.int64)
        return np.where(beside < 0, hits.first[:, None], hits.last[:, None]) + beside, low, high

    def _rank(self, words: Sequence[Ints | Longs], limit: int) -> Longs:
        rows = np.arange(len(words[0]))
        before = np.zeros(len(rows), np.int64)
        by_key = zip(self.keys, words, strict=True)
        columns = [(key, column) for key, key_words in by_key for column in key_words.T]
        of_words, looked_up = [column for key, column in columns if key.name not in self.values], 0
        for key, column in columns:
            if key.name in self.values:
                places = self._of_values(column[rows], key)
            else:
                # Few hits are usually left behind the first words: one look-up for all other words is faster.
                if looked_up < 2:
                    looked_for = of_words[1:] if looked_up else of_words[:1]
                    ranks = _Ranks(self.connection, [words[rows] for words in looked_for])
                places, looked_up = ranks.ranks_of(column[rows], fold_case=key.fold), looked_up + 1
            if key.descending:
                places = places.max(initial=0) - places
            # Hits that are equal so far are compared by this word.
            before = before * (places.max(initial=0) + 1) + places
            different, before = unique_inverse(before)
            if len(different) == len(rows):
                break
            if 0 < limit < len(rows):
                some = before <= np.partition(before, limit - 1)[limit - 1]
                rows, before = rows[some], before[some]
        order = np.argsort(before, kind="stable")
        return rows[order[:limit] if limit else order]

    def _of_values(self, values: Ints | Longs, key: SortKey) -> Longs:
        """Return the ranks of values by their strings; equal strings have equal ranks."""
        import pyarrow as pa

        different: Longs
        different, rows = np.unique(values, return_inverse=True)
        rows_of_keys = pa.table({"id": different, "key": self.values[key.name].of_numbers(different)})
        text = _RANKS.format(order=by_value("key"), key=fold_sql("key") if key.fold else "key")
        duck = raw(self.connection)
        with register_arrow(duck, asked=rows_of_keys):
            ranks: Longs = arrow_table(duck, text)["rank"].to_numpy()[rows]
        return ranks


class _Ranks:
    """The ranks of words by their strings; equal strings have equal ranks, and `NONE` has 0."""

    def __init__(self, connection: Connection, words: Sequence[Ints | Longs]) -> None:
        parts = [np.zeros(0, np.int64), *(unique(one.ravel()) for one in words)]
        self._words = unique(np.concatenate(parts))
        self._forms = forms_of(connection, self._words[self._words != NONE]).to_pylist()
        self._known: dict[bool, Longs] = {}

    def ranks_of(self, words: Ints | Longs, *, fold_case: bool) -> Longs:
        if fold_case not in self._known:
            strings = [fold(form) for form in self._forms] if fold_case else self._forms
            # Sorted by code points, which is the order of the bytes in UTF-8, as in DuckDB.
            ranks_of_strings = {string: rank for rank, string in enumerate(sorted(set(strings)), 1)}
            nothing = [0] * (len(self._words) - len(strings))
            # Indexed by the id of a word plus 1, so that `NONE` is 0.
            every = np.zeros(int(self._words.max(initial=0)) + 2, np.int64)
            every[self._words + 1] = [*nothing, *map(ranks_of_strings.__getitem__, strings)]
            self._known[fold_case] = every
        ranks: Longs = self._known[fold_case][words + 1]
        return ranks


_NO_WORDS = np.zeros((0, 0), np.int32)


@dataclass(frozen=True, slots=True)
class _Held:
    """Hits by the numbers of their tokens, with arrays (hits, words) of word ids for each key."""

    places: Spans
    words: Sequence[Ints | Longs]

    @property
    def size(self) -> int:
        """The number of integers in memory."""
        return sum(words.size for words in self.words) + 4 * len(self.places)

    def take(self, rows: Longs) -> _Held:
        return _Held(self.places.take(rows), [words[rows] for words in self.words])


def _together(parts: Sequence[_Held]) -> _Held:
    """Concatenate parts; rows with fewer words than others are filled with `NONE`."""
    places = Spans(
        np.concatenate([held.places.first for held in parts]),
        np.concatenate([held.places.last for held in parts]),
        {},
    )
    words = []
    for of_one in zip(*(held.words for held in parts), strict=True):
        width = max(held.shape[1] for held in of_one)
        padded = [np.pad(held, ((0, 0), (0, width - held.shape[1])), constant_values=NONE) for held in of_one]
        words.append(np.concatenate(padded))
    return _Held(places, words)
