"""From a query to its hits, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Longs
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.tokens import Block, Tokens
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.search import Cql
from sentgen.lookups.search.conditions import Conditions
from sentgen.lookups.search.filters import HitFilter
from sentgen.lookups.search.hits import BlockHits, chosen_by
from sentgen.lookups.search.matching import Matching
from sentgen.lookups.search.sequences import sequences_of
from sentgen.lookups.search.spans import Spans

if TYPE_CHECKING:
    from sentgen.lookups.concordances.hits import Query

#: Tokens of which one in so many is rare: only the sentences that have it are looked at.
_RARE = 16
#: Bytes of a match while matches are found, ordered and chosen from.
_SPAN = 64


class QuerySearch:
    """Looks for the hits of a query.

    Args:
        connection: the store.
        query: the query, with its filters.

    Attributes:
        left: how many hits there were so far, and how many of them each filter left.
    """

    def __init__(self, connection: Connection, query: Query) -> None:
        self.left = [0] * (len(query.filters) + 1)
        self._query = query
        self._blocks = Tokens(connection, across=query.across).blocks()
        tokens = sum(block.size for block in self._blocks)
        self._one = _OneSearch(query.cql, tokens)
        self._near = [_OneSearch(near.cql, tokens) for _, near in query.filters]

    def find(self) -> Iterator[BlockHits]:
        """Yield the hits, those of a block of tokens at a time; of blocks without hits nothing."""
        for block in self._blocks:
            for found in self._one.find(block):
                if len(hits := self._left(found)):
                    yield hits

    def _left(self, hits: BlockHits) -> BlockHits:
        """Return the hits that the filters leave."""
        self.left[0] += len(hits)
        for number, (one, _) in enumerate(self._query.filters):
            spans = self._near[number].spans(hits.block)
            hits = hits.take(_near(hits, spans, one) == one.keeps)
            self.left[number + 1] += len(hits)
        return hits


class _OneSearch:
    """Looks for the hits of a query without filters."""

    def __init__(self, cql: Cql, tokens: int) -> None:
        self._cql = cql
        self._conditions = Conditions(cql.conditions(Bindings()), tokens)
        needed = [one for one in syntax.required(cql.pattern) if one is not None]
        counts = [(self._conditions.count(one), one) for one in needed]
        self._rare = [
            self._conditions.occurrences(one) for count, one in counts if count * _RARE < max(tokens, 1)
        ]
        self._ways = _ways(cql.pattern)
        # Of all tokens, one in so many may begin a match.
        self._sparse = max(tokens, 1) // max(min((count for count, _ in counts), default=tokens), 1) or 1

    def find(self, block: Block) -> Iterator[BlockHits]:
        """Yield the hits in a block; nothing where it has no token that all of them have."""
        rows = self._rows(block)
        for part in [block] if rows is None else block.some(rows, self._most(block)):
            every = self._every(part)
            spans = chosen_by(self._cql.strategy, every)
            yield BlockHits(part, spans.first, spans.last, every)

    def spans(self, block: Block) -> Spans:
        """Return the hits in a block without their labels."""
        return chosen_by(self._cql.strategy, self._every(block))

    def _every(self, block: Block) -> Spans:
        matching = Matching(self._conditions, block, block.chosen(self._cql.selection), self._cql.labels)
        return matching.spans(self._cql.pattern)

    def _rows(self, block: Block) -> Longs | None:
        """Return which units of a block may have matches, as they have some rare tokens; none for all."""
        found = [block.find(one) for one in self._rare]
        if not all(len(at) for at in found):
            return np.zeros(0, np.int64)
        # What is bounded is looked for around these tokens anyway.
        if (self._ways and block.is_kept("begins")) or not found:
            return None if self._most(block) >= block.size else np.arange(len(block.units()))
        units = block.units_of(found[0])
        for at in found[1:]:
            units = np.intersect1d(units, block.units_of(at), assume_unique=True)
        return units

    def _most(self, block: Block) -> int:
        """Return of how many tokens the matches are found at once, so that memory holds them."""
        ways = self._ways or block.size // max(len(block.units()), 1)
        return block.tokens.room // _SPAN * self._sparse // ways


def _ways(pattern: syntax.Pattern) -> int:
    """Return how many matches at most begin with a token; 0 if they may be any number."""
    if isinstance(pattern, syntax.Joined):
        ways = list(map(_ways, syntax.children(pattern)))
        return max(ways, default=1) if all(ways) else 0
    sequences = sequences_of(pattern)
    return max(len(sequences), 1) if sequences is not None else 0


def _near(hits: BlockHits, spans: Spans, one: HitFilter) -> Bools:
    """Return which hits have a span in the window of a filter, all of it on one side."""
    begin, end = hits.block.unit_ends(hits.first)
    left = np.maximum(hits.first - one.size.left, begin)
    right = np.minimum(hits.last + one.size.right, end)
    before = _any_between(spans, left, hits.first - 1)
    return before | _any_between(spans, hits.last + 1, right)


def _any_between(spans: Spans, low: Longs, high: Longs) -> Bools:
    """Return between which tokens there is a span, all of it."""
    # Of those that begin at a token or behind it, where the first one ends.
    nearest = np.append(np.minimum.accumulate(spans.last[::-1])[::-1], np.iinfo(np.int64).max)
    met: Bools = nearest[np.searchsorted(spans.first, low)] <= high
    return met
