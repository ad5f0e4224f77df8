"""From a query to its hits, block by block: each kind of pattern by its function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Longs
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.tokens import Block, Tokens, pair_rows
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import automaton
from sentgen.lookups.cql.search import Cql
from sentgen.lookups.search.conditions import Conditions
from sentgen.lookups.search.filters import HitFilter
from sentgen.lookups.search.hits import BlockHits, Spans, chosen_by, together
from sentgen.lookups.search.regions import Regions, lie_within
from sentgen.lookups.search.regular_patterns import SequenceSearch, WalkSearch, sequences_of

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
            for hits in self._one.find(block):
                if len(hits := self._left(hits)):
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
        needed = [one for one in syntax.required_conditions(cql.pattern) if one is not None]
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
        cql = self._cql
        selected = block.selected_tokens(cql.selection)
        return _Matching(self._conditions, block, selected, cql.labels).spans(cql.pattern)

    def _rows(self, block: Block) -> Longs | None:
        """Return which units of a block may have matches, as they have some rare tokens; none for all."""
        rare = [block.find(one) for one in self._rare]
        if not all(len(at) for at in rare):
            return np.zeros(0, np.int64)
        # What is bounded is looked for around these tokens anyway.
        if (self._ways and block.is_cached("begins")) or not rare:
            return None if self._most(block) >= block.size else np.arange(len(block.units()))
        units = block.units_of(rare[0])
        for at in rare[1:]:
            units = np.intersect1d(units, block.units_of(at), assume_unique=True)
        return units

    def _most(self, block: Block) -> int:
        """Return of how many tokens the matches are found at once, so that memory holds them."""
        ways = self._ways or block.size // max(len(block.units()), 1)
        return block.tokens.capacity // _SPAN * self._sparse // ways


def _ways(pattern: syntax.Pattern) -> int:
    """Return how many matches at most begin with a token; 0 if they may be any number."""
    if isinstance(pattern, syntax.Joined):
        ways = list(map(_ways, syntax.children(pattern)))
        return max(ways, default=1) if all(ways) else 0
    sequences = sequences_of(pattern)
    return max(len(sequences), 1) if sequences is not None else 0


def _near(hits: BlockHits, spans: Spans, hit_filter: HitFilter) -> Bools:
    """Return which hits have a span in the window of a filter, all of it on one side."""
    begin, end = hits.block.unit_ends(hits.first)
    left = np.maximum(hits.first - hit_filter.size.left, begin)
    right = np.minimum(hits.last + hit_filter.size.right, end)
    before = _any_between(spans, left, hits.first - 1)
    return before | _any_between(spans, hits.last + 1, right)


def _any_between(spans: Spans, low: Longs, high: Longs) -> Bools:
    """Return between which tokens there is a span, all of it."""
    # Of those that begin at a token or behind it, where the first one ends.
    nearest = np.append(np.minimum.accumulate(spans.last[::-1])[::-1], np.iinfo(np.int64).max)
    met: Bools = nearest[np.searchsorted(spans.first, low)] <= high
    return met


#: Pairs of spans that are compared at once.
_PAIRS = 1 << 20


@dataclass(slots=True)
class _Matching:
    """Finds the spans of patterns in a block.

    Args:
        conditions: say which tokens meet them.
        block: the tokens.
        chosen: those that are asked about; none for all.
        labels: those of the query.
    """

    conditions: Conditions
    block: Block
    chosen: Bools | None
    labels: tuple[str, ...]
    regions: Regions = field(init=False)

    def __post_init__(self) -> None:
        self.regions = Regions(self.conditions.written, self.block, self.chosen)

    def spans(self, pattern: syntax.Pattern) -> Spans:
        """Return the spans of a pattern, in their order, each with each way to place its labels."""
        match pattern:
            case syntax.RegionPattern():
                return self.regions.whole(pattern)
            case syntax.Multiword():
                return self._multiword(pattern)
            case syntax.Both(left, right):
                return self._both(left, right)
            case syntax.Within(inner, syntax.RegionPattern() as region):
                spans = self.spans(inner)
                return spans.take(self.regions.within(region, spans))
            case syntax.Within(inner, outer):
                return self._within(self.spans(inner), self.spans(outer))
            case syntax.Containing(outer, inner):
                return self._spans_around(self.spans(outer), self.spans(inner))
            case syntax.Expanded(part, region):
                return together([self.regions.expand(region, self.spans(part))], self.labels)
            case syntax.Meet():
                spans = self.spans(pattern.part)
                return spans.take(self._meets(pattern, spans.first, self.spans(pattern.other).first))
            case syntax.Constrained(part, condition):
                spans = self.spans(part)
                ends = {"match": spans.first, "matchend": spans.last}
                labels = {name: spans.label(name) for name in self.labels} | ends
                return spans.take(self.conditions.hold_of_labels(condition, self.block, labels))
        return self._regular(pattern)

    def _regular(self, pattern: syntax.Pattern) -> Spans:
        sequences = sequences_of(pattern)
        if sequences is not None:
            search = SequenceSearch(self.conditions, self.regions)
            spans = [search.spans(one) for one in sequences]
            return spans[0] if len(spans) == 1 else together(spans, self.labels)
        states = automaton(pattern, across=self.block.tokens.across)
        return WalkSearch(states, self.conditions, self.regions, self.spans, self.labels).spans()

    def _multiword(self, word: syntax.Multiword) -> Spans:
        first, last = self.block.cut(*self.conditions.multiwords(word.form))
        if self.chosen is not None:
            first, last = first[self.chosen[first]], last[self.chosen[first]]
        if word.joined:
            joined = self.conditions.hold(syntax.NoSpace(), self.block, last)
            first, last = first[joined], last[joined]
        return together([Spans(first, last, dict.fromkeys(word.labels, first))], self.labels)

    def _both(self, left: syntax.Pattern, right: syntax.Pattern) -> Spans:
        left_spans, right_spans = self.spans(left), self.spans(right)
        # As numbers of the same spans.
        keys = np.unique(
            np.stack(
                [np.append(getattr(left_spans, end), getattr(right_spans, end)) for end in ("first", "last")]
            ),
            axis=1,
            return_inverse=True,
        )[1].ravel()
        first, second = keys[: len(left_spans)], keys[len(left_spans) :]
        order = np.argsort(second, kind="stable")
        low, high = (np.searchsorted(second[order], first, side) for side in ("left", "right"))
        return together([self._join(left_spans, right_spans, order, low, high)], self.labels)

    def _within(self, inner: Spans, outer: Spans) -> Spans:
        """Return the spans that lie in others, with the labels of both."""
        if not outer.labels:
            return inner.take(lie_within(inner, outer.first, outer.last))
        unit, _ = self.block.unit_ends(inner.first)
        low = np.searchsorted(outer.first, unit)
        high = np.searchsorted(outer.first, inner.first, "right")
        return self._pairs(inner, outer, low, high, lambda m, o: o.last >= m.last)

    def _spans_around(self, outer: Spans, inner: Spans) -> Spans:
        """Return the spans in which others lie, with the labels of both."""
        low = np.searchsorted(inner.first, outer.first)
        high = np.searchsorted(inner.first, outer.last, "right")
        return self._pairs(outer, inner, low, high, lambda m, o: o.last <= m.last)

    def _pairs(
        self, left: Spans, right: Spans, low: Longs, high: Longs, is_met: Callable[[Spans, Spans], Bools]
    ) -> Spans:
        parts = list[Spans]()
        behind = np.cumsum(high - low)
        begin = 0
        while begin < len(left):
            before = behind[begin - 1] if begin else 0
            end = max(int(np.searchsorted(behind, before + _PAIRS, "right")), begin + 1)
            some = slice(begin, end)
            rows, others = pair_rows(low[some], high[some])
            part = left.take(np.arange(begin, end))
            met = is_met(part.take(rows), right.take(others))
            joined = part.take(rows[met]).with_labels(right.take(others[met]), self.labels)
            parts.append(joined.sorted_once())
            begin = end
        return together(parts, self.labels)

    def _join(self, left: Spans, right: Spans, order: Longs, low: Longs, high: Longs) -> Spans:
        rows, others = pair_rows(low, high)
        return left.take(rows).with_labels(right.take(order[others]), self.labels)

    def _meets(self, pattern: syntax.Meet, part: Longs, other: Longs) -> Bools:
        """Return which tokens have another one near them, or none if the pattern says so."""
        near, other = pattern.near, np.unique(other)
        if isinstance(near, syntax.RegionPattern):
            if near.built_in and not self.block.tokens.across:
                met: Bools = np.isin(self.block.sentence_of(part), self.block.sentence_of(other))
                return ~met if pattern.negated else met
            return self._in_region(near, part, other, pattern.negated)
        first, last = self.block.unit_ends(part)
        low, high = np.maximum(part + near[0], first), np.minimum(part + near[1], last)
        met = np.searchsorted(other, low) < np.searchsorted(other, high, "right")
        return ~met if pattern.negated else met

    def _in_region(self, region: syntax.RegionPattern, part: Longs, other: Longs, negated: bool) -> Bools:
        """Return which tokens are in a region in which another one is, or none is."""
        first, last = self.regions.parts(region)
        low, high = np.searchsorted(other, first), np.searchsorted(other, last, "right")
        having = (low < high) != negated
        low, high = np.searchsorted(part, first), np.searchsorted(part, last, "right")
        edges = np.zeros(len(part) + 1, np.int64)
        np.add.at(edges, low[having], 1)
        np.add.at(edges, high[having], -1)
        met: Bools = np.cumsum(edges[:-1]) > 0
        return met
