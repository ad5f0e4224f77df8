"""Lines of a concordance, made of hits in arrays: found block by block, chosen, put in order, and shown.

What is held is bounded by the lines that are asked for; of all lines in the order of the store, only some are
held at a time. `asked_lines` says in SQL which lines these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from sentgen.lookups.base.extent import Reach
from sentgen.lookups.base.statement import ResultBudget, Statement
from sentgen.lookups.base.tokens import Tokens
from sentgen.lookups.concordances.asked_lines import SAID, AskedLines, shuffled
from sentgen.lookups.concordances.line_text import lines_of
from sentgen.lookups.concordances.stretches import (
    Stretches,
    by_numbers,
    in_batches,
    located,
    stretches_of,
)
from sentgen.lookups.concordances.word_order import WordOrder
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.spans import NO_SPANS, Spans, together
from sentgen.schema.engine import raw, registered

if TYPE_CHECKING:
    import pyarrow as pa

#: Lines that are made of hits at once: some ten megabytes.
LINES = 20_000
#: Tokens that are held at once for lines, or to put hits in order.
TOKENS = 1_000_000

_LINE, _CHOSEN = "line", "chosen_hits"
_SAID = Statement(f"select {SAID}\nfrom {_LINE}")
#: Columns of the numbers of the tokens of hits.
_NUMBERS = ("first_number", "last_number")


class LineSearch:
    """Finds lines.

    Args:
        asked: what is asked for.

    Attributes:
        hits: how many were found.
        left: how many there are of these where equal lines are one.
    """

    def __init__(self, asked: AskedLines) -> None:
        self._asked, self._connection = asked, asked.connection
        # Words beside a hit may be in other sentences of its document.
        self._tokens = Tokens(asked.connection, across=asked.wide)
        self.hits = self.left = 0

    def count(self) -> None:
        """Find all hits, and only count them."""
        for _ in self._found():
            pass

    def first(self, limit: int) -> pa.Table:
        """Return at most so many lines, 0 for all; all hits are counted."""
        import pyarrow as pa

        held, tables = ResultBudget(self._connection), list[pa.Table]()
        for table in self.parts(limit):
            tables.append(table)
            held.add(table)
        return pa.concat_tables(tables)

    def parts(self, limit: int = 0) -> Iterator[pa.Table]:
        """Yield lines, at most so many, in parts that memory holds; the first one may be empty."""
        lines = self._ordered(limit) if self._asked.order.keys else self._in_place(limit)
        begin = 0
        for table in lines:
            ranked = table.append_column("rank", [np.arange(begin, begin + len(table))])
            begin += len(table)
            yield self._ask(_LINE, ranked, self._asked.named())

    def _found(self) -> Iterator[BlockHits]:
        """Yield the hits; of those with equal lines the first one."""
        said = set[str]()
        for hits in self._asked.pattern.find(self._connection):
            self.hits += len(hits)
            some = self._new(hits, said) if self._asked.distinct else hits
            self.left += len(some)
            yield some

    def _new(self, hits: BlockHits, said: set[str]) -> BlockHits:
        """Return the hits whose lines show what none before them does."""
        new = list[bool]()
        for shown in in_batches(self._around([hits]), LINES, TOKENS):
            for one in self._ask(_LINE, lines_of(self._connection, shown), _SAID)["said"].to_pylist():
                new.append(one not in said)
                said.add(one)
        return hits.take(np.array(new, bool))

    def _chosen(self) -> Iterator[BlockHits]:
        """Yield the hits that may be shown: all, or those that are drawn at random."""
        if not self._asked.sample:
            yield from self._found()
            return
        yield from located(self._tokens, self._drawn())

    def _drawn(self) -> Spans:
        """Return the hits that are drawn at random, by the numbers of their tokens."""
        drawn, keys, most = NO_SPANS, np.zeros(0, np.int64), self._asked.sample
        for hits in self._found():
            place = (column.to_numpy().astype(np.int64) for column in hits.rows(self._asked.reach).columns)
            new = shuffled(self._asked.seed, *place)
            some = new < (keys.max() if len(keys) == most else np.iinfo(np.int64).max)
            drawn = together([drawn, by_numbers(hits).take(some)], ())
            keys = np.append(keys, new[some])
            first = np.sort(np.argsort(keys, kind="stable")[:most])
            drawn, keys = drawn.take(first), keys[first]
        return drawn

    def _ask(self, name: str, rows: pa.Table, query: Statement) -> pa.Table:
        with registered(raw(self._connection), **{name: rows}):
            return query.run(self._connection)

    def _in_place(self, limit: int) -> Iterator[pa.Table]:
        """Yield the first lines in the order of the store."""
        first = self._chosen() if not limit else _first(self._chosen(), limit)
        for shown in in_batches(self._around(first), LINES, TOKENS):
            yield lines_of(self._connection, shown)

    def _ordered(self, limit: int) -> Iterator[pa.Table]:
        """Yield the first lines in the order that is asked for."""
        import pyarrow as pa

        order, reasons = self._asked.order, pa.table({})
        found = self._beside(self._chosen())
        if order.typical:
            reach = self._asked.line_reach
            held = [_rows(None, reach), *(_rows(hits, reach) for hits in found)]
            rows = self._ask(_CHOSEN, pa.concat_tables(held), self._asked.ordered(_CHOSEN, limit))
            places, reasons = _places(rows), rows.select(order.reasons)
        else:
            places = WordOrder(self._connection, order).first(found, limit, TOKENS)
        for begin in range(0, max(len(places), 1), LINES):
            table = self._lines(places.take(np.arange(begin, min(begin + LINES, len(places)))))
            for name in reasons.column_names:
                table = table.append_column(name, reasons[name].slice(begin, LINES))
            yield table

    def _lines(self, places: Spans) -> pa.Table:
        """Return the lines of hits in the order of these."""
        import pyarrow as pa

        by_place = np.lexsort((places.last, places.first))
        shown = self._around(located(self._tokens, places.take(by_place)))
        batches = in_batches(shown, LINES, TOKENS)
        lines = pa.concat_tables([lines_of(self._connection, one) for one in batches])
        return lines.take(pa.array(np.argsort(by_place)))

    def _around(self, found: Iterable[BlockHits]) -> Iterator[Stretches]:
        return (stretches_of(hits, self._asked.context) for hits in self._beside(found))

    def _beside(self, found: Iterable[BlockHits]) -> Iterator[BlockHits]:
        """Yield hits in blocks that have all tokens beside them."""
        for hits in found:
            if hits.block.tokens.across == self._asked.wide:
                yield hits
            else:
                yield from located(self._tokens, by_numbers(hits))


def _first(found: Iterable[BlockHits], limit: int) -> Iterator[BlockHits]:
    """Yield the first hits, and look at the others, which are counted."""
    for hits in found:
        if limit:
            some = BlockHits(hits.block, hits.first[:limit], hits.last[:limit], NO_SPANS)
            limit -= len(some)
            yield some


def _rows(hits: BlockHits | None, reach: Reach) -> pa.Table:
    """Return hits as rows: their place, as the statement has it, and the numbers of their tokens."""
    import pyarrow as pa

    if hits is None:
        names = {"sentence_id": np.int64, "first": np.int32, "last": np.int32}
        rows, numbers = pa.table({name: np.zeros(0, kind) for name, kind in names.items()}), NO_SPANS
    else:
        rows, numbers = hits.rows(reach), by_numbers(hits)
    for name, column in zip(_NUMBERS, (numbers.first, numbers.last), strict=True):
        rows = rows.append_column(name, [column])
    return rows


def _places(rows: pa.Table) -> Spans:
    first, last = (rows[name].to_numpy() for name in _NUMBERS)
    return Spans(first, last, {})
