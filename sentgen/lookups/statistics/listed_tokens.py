"""The tokens of a frequency list without a query: those whose word, lemma or tag matches a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.case_folding import fold
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.cache import ArrayCache
from sentgen.lookups.base.patterns import ANY, glob, loose
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.base.tokens import Block, Tokens
from sentgen.lookups.search.attributes import Attribute
from sentgen.lookups.search.hits import BlockHits, Spans
from sentgen.lookups.search.number_sets import among
from sentgen.schema.engine import arrow_table, raw
from sentgen.schema.tables.counts import ATTRIBUTES

if TYPE_CHECKING:
    import pyarrow as pa

#: The tokens of up to so many items are looked up in `occurrence`; for more, `token` is scanned.
_NAMED = 256
#: If more than one token in so many is listed, `token` is scanned as well.
_MANY = 8

_IDS = "select id from {table} as i where {matches}"
_OCCURRENCES = """\
select token, word_id
from occurrence
where attribute = '{attribute}' and word_id in (select unnest($words))"""
#: The tokens of each item, a word, lemma or tag.
_OF_TOKENS = """\
  select {column} as id, count(*) as count
  from token{conditions}
  group by id"""
#: The tokens of each word, from the counts of the store.
_OF_UNIGRAMS = """\
  select w1 as id, sum(count)::bigint as count
  from ngram_1{conditions}
  group by id"""


@dataclass(slots=True)
class LookedUp(Attribute):
    """An attribute whose ids are known for some tokens, so that the column need not be read for them.

    Args:
        tokens: these tokens, ascending; ``None`` if the ids are to be read from the column.
        items: the id of each of these tokens.
    """

    attribute: Attribute
    tokens: Longs | None = None
    items: Longs | None = None

    def numbers(self, block: Block, at: Longs) -> Ints | Longs:
        if self.tokens is None or self.items is None:
            return self.attribute.numbers(block, at)
        return self.items[np.searchsorted(self.tokens, block.numbers(at))]

    def of_numbers(self, numbers: Longs) -> pa.Array:
        return self.attribute.of_numbers(numbers)

    def values(self, block: Block, at: Longs) -> pa.Array:
        return self.attribute.values(block, at)


@dataclass(frozen=True, slots=True)
class ListedTokens:
    """The tokens to list.

    Args:
        by: the attribute of the tokens.
        pattern: the pattern that the attribute matches.
        limit: how many of the most frequent items to list; 0 for all.
    """

    by: str
    pattern: str
    selection: Selection
    limit: int

    def matches(self, bindings: Bindings) -> str:
        """Return the condition on a row ``i`` of the table with the strings; empty if all match."""
        if self.pattern == ANY:
            return ""
        _, table, string = COLUMNS[self.by]
        ignore_case = table == "word" and loose(self.pattern, self.selection)
        return glob(self.pattern).condition(f"i.{string}", bindings, ignore_case=ignore_case)

    def find(self, connection: Connection, key: LookedUp) -> Iterator[BlockHits]:
        """Yield the tokens of the ``limit`` most frequent items, the next one, and those that tie with it.

        Equal strings of ``key`` are one item; if the tokens are looked up, they and their ids are set in it.
        """
        column = COLUMNS[self.by][0]
        counts = item_counts(connection, column, self.selection)
        ids = self._ids(connection, key.attribute, counts)
        ids = ids[self._frequent(counts[ids], key.attribute, ids)]
        blocks = Tokens(connection).blocks()
        few = int(counts[ids].sum()) * _MANY < sum(block.size for block in blocks)
        if few and len(ids) <= _NAMED:
            key.tokens, key.items = self._occurrences(connection, ids)
        for block in blocks if len(ids) else ():
            if key.tokens is None:
                at = np.flatnonzero(among(block.column(column), ids.astype(np.int32)))
            else:
                at = block.find(key.tokens)
            chosen = block.selected_tokens(self.selection) if len(at) else None
            at = at if chosen is None else at[chosen[at]]
            if len(at):
                yield BlockHits(block, at, at, Spans(at, at, {}))

    def _ids(self, connection: Connection, attribute: Attribute, counts: Longs) -> Longs:
        """Return the ids of the items that match the pattern and occur in the corpora, ascending."""
        if self.pattern == ANY:
            return np.flatnonzero(counts)
        ids = self._known_ids(attribute)
        if ids is None:
            bindings = Bindings()
            text = _IDS.format(table=COLUMNS[self.by][1], matches=self.matches(bindings))
            rows = raw(connection).execute(text, dict(bindings)).fetchall()
            ids = np.sort(np.array([number for (number,) in rows], np.int64))
        ids = ids[(ids >= 0) & (ids < len(counts))]
        return ids[counts[ids] > 0]

    def _known_ids(self, attribute: Attribute) -> Longs | None:
        """Return the ids of a pattern without wildcards if all strings are in memory, else ``None``.

        To read the strings from the store for this would take longer than a query.
        """
        import pyarrow.compute as pc

        pattern = glob(self.pattern)
        known = None if pattern.wild else attribute.every()
        if known is None:
            return None
        text = fold(pattern.text) if self.selection.ignore_case else pattern.text
        ids: Longs = known[0][pc.equal(known[1], text).to_numpy(zero_copy_only=False)]
        return ids

    def _frequent(self, counts: Longs, attribute: Attribute, ids: Longs) -> Bools:
        """Return a mask of the ``limit`` + 1 most frequent items and of those that tie with the last."""
        same = np.arange(len(ids))
        if self.selection.ignore_case and self.limit:
            same = attribute.of_numbers(ids).dictionary_encode().indices.to_numpy()
        together = np.bincount(same, counts)
        if not 0 < self.limit < len(together):
            return np.ones(len(ids), bool)
        frequent: Bools = together[same] >= np.partition(together, -self.limit - 1)[-self.limit - 1]
        return frequent

    def _occurrences(self, connection: Connection, ids: Longs) -> tuple[Longs, Longs] | tuple[None, None]:
        """Return the tokens of items, ascending, and the id of each; ``None`` if they are not stored."""
        column = COLUMNS[self.by][0]
        attribute = next((name for name, indexed in ATTRIBUTES.items() if indexed == column), "")
        if not attribute or not len(ids):
            return None, None
        if len(ids) == 1:
            tokens = Tokens(connection).occurrences(attribute, ids)
            return (None, None) if tokens is None else (tokens, np.broadcast_to(ids, tokens.shape))
        text = _OCCURRENCES.format(attribute=attribute)
        table = arrow_table(raw(connection), text, {"words": ids.tolist()})
        tokens, items = (values.combine_chunks().to_numpy() for values in table.columns)
        order = np.argsort(tokens, kind="stable")
        return tokens[order], items[order]


def item_counts(connection: Connection, column: str, selection: Selection) -> Longs:
    """Return how often each id in a column of `token` occurs, as an array by id."""
    bindings = Bindings()
    if column == ATTRIBUTES["word"] and selection.condition is None:
        text = _OF_UNIGRAMS.format(conditions=where(selection.of_unigrams(bindings), "  "))
    else:
        conditions = [f"{column} is not null", *selection.of_tokens(bindings)]
        text = _OF_TOKENS.format(column=column, conditions=where(conditions, "  "))
    return values_by_id(connection, Statement(text, bindings), keep=selection.condition is None)


def values_by_id(connection: Connection, query: Statement, *, keep: bool) -> Longs:
    """Return the second column of a query as an array by the ids in its first column, 0 for other ids.

    ``keep``: the array is cached if the store is read-only.
    """
    known, key = ArrayCache.of_store(connection), (values_by_id, query.with_values())
    stored: Longs | None = known.find(key)
    if stored is not None:
        return stored
    ids, values = (column.to_numpy() for column in query.run(connection).columns)
    every = np.zeros(int(ids.max(initial=0)) + 1, np.int64)
    every[ids] = values
    return known.add(key, every) if keep else every
