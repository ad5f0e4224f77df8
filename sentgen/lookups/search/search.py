"""Find the hits of a query, block by block: each kind of pattern has a function of arrays.

A pattern with a bounded number of tokens is expanded into sequences of single tokens. In each sequence, the
token with the fewest occurrences says where matches can be, and the other tokens are tested at their distance
from it.

Other regular patterns are walks along an automaton, from all begins in a block at once. A state with a
transition to itself reads a range of tokens at once: its walks are at all places from where they entered the
state to where its tokens end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Longs
from sentgen.errors import MemoryLimitError, spell
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.tokens import Block, Tokens, places
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton, Edges, Item, Symbol, sequences_of
from sentgen.lookups.cql.search import Cql
from sentgen.lookups.search.conditions import Conditions
from sentgen.lookups.search.hits import BlockHits, Spans
from sentgen.lookups.search.regions import Regions
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    from sentgen.lookups.concordances.hits import HitFilter, Query


#: Testing one occurrence takes as long as testing this many consecutive tokens.
_WORTH = 8


@dataclass(frozen=True, slots=True)
class _SequenceSearch:
    """Finds sequences of tokens in a block."""

    conditions: Conditions
    regions: Regions

    @property
    def _block(self) -> Block:
        return self.regions.block

    def spans(self, items: tuple[Item, ...]) -> Spans:
        """Return the matches of a sequence, sorted by their first tokens."""
        tokens = [item for item in items if isinstance(item, syntax.Token)]
        first = self._begins(tokens)
        if (chosen := self.regions.chosen) is not None:
            for offset in range(len(tokens) if self._block.tokens.across else 1):
                first = first[chosen[first + offset]]
        for gap, edge in _gaps(items):
            first = first[self.regions.at(edge, first + gap, first=gap == 0)]
        labels = {name: first + offset for offset, token in enumerate(tokens) for name in token.labels}
        return Spans(first, first + (len(tokens) - 1), labels)

    def _begins(self, tokens: list[syntax.Token]) -> Longs:
        """Return the places from which on all tokens of a sequence match."""
        size = len(tokens)
        counts = [self.conditions.count(token.condition) for token in tokens]
        rarest = min(range(size), key=counts.__getitem__)
        if counts[rarest] * _WORTH > self.conditions.tokens:
            return self._compare_all(tokens)
        condition = tokens[rarest].condition
        assert condition is not None
        at = self._block.find(self.conditions.occurrences(condition))
        first = at[(at >= rarest) & (at < self._block.size - (size - 1 - rarest))] - rarest
        unit_begins = self._block.unit_begins()
        for offset in range(1, size):
            first = first[~unit_begins[first + offset]]
        if not self.conditions.exact(condition):
            first = first[self.conditions.met_at(condition, self._block, first + rarest)]
        for offset in sorted(range(size), key=counts.__getitem__):
            if offset != rarest and tokens[offset].condition is not None:
                first = first[self.conditions.met_at(tokens[offset].condition, self._block, first + offset)]
        return first

    def _compare_all(self, tokens: list[syntax.Token]) -> Longs:
        """Return the same places as `_begins`, by testing all tokens of the block."""
        length = self._block.size - len(tokens) + 1
        if length <= 0:
            return np.zeros(0, np.int64)
        met: Bools | None = None
        for offset, token in enumerate(tokens):
            if token.condition is not None:
                own = self.conditions.met(token.condition, self._block)[offset : offset + length]
                met = own if met is None else met & own
        for offset in range(1, len(tokens)):
            inside = ~self._block.unit_begins()[offset : offset + length]
            met = inside if met is None else met & inside
        return np.arange(length) if met is None else np.flatnonzero(met)


def _gaps(items: tuple[Item, ...]) -> Iterator[tuple[int, syntax.CqlEdge]]:
    """Yield the edges of a sequence, each with the number of tokens before it."""
    before = 0
    for item in items:
        if isinstance(item, syntax.CqlEdge):
            yield before, item
        else:
            before += 1


def _pair_rows(low: Longs, high: Longs) -> tuple[Longs, Longs]:
    """Return as two arrays the pairs of each row i with every j from ``low[i]`` to before ``high[i]``."""
    lengths = np.maximum(high - low, 0)
    return np.repeat(np.arange(len(low)), lengths), places(low, lengths)


#: Tokens are tested one by one if they are fewer than the block divided by this.
_FEW = 4


@dataclass(slots=True)
class WalkSearch:
    """Walks along an automaton: a step of all walks is a few operations on arrays for each pair of states.

    ``spans_of`` returns the spans of a symbol that is no single token.
    """

    states: Automaton
    conditions: Conditions
    regions: Regions
    spans_of: Callable[[syntax.Pattern], Spans]
    labels: tuple[str, ...]
    _loops: set[int] = field(init=False)
    _read: dict[int, Bools] = field(default_factory=dict)
    _spans: dict[int, Spans] = field(default_factory=dict)
    _found: dict[Symbol, Spans] = field(default_factory=dict)
    _ends: dict[int, Longs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._loops = {one for one, two in self.states.steps if one == two and self._symbol(one) is not None}

    def spans(self) -> Spans:
        """Return the matches; time and memory grow with the number of whole and partial matches."""
        accepted, size = list[Spans](), 0
        walks = self._merge([(state, self._first(state, edges)) for state, edges in self.states.firsts])
        while walks:
            for state, edges in self.states.lasts:
                if state in walks:
                    accepted.append(self._accept(state, walks[state], edges))
                    size += len(accepted[-1])
            self._check(size + sum(map(len, walks.values())))
            walks = self._merge(
                [
                    (end, self._step(begin, walks[begin], end))
                    for begin, end in self.states.steps
                    if begin in walks and not (begin == end and begin in self._loops)
                ]
            )
        return Spans.together(accepted, self.labels)

    def _check(self, size: int) -> None:
        """Raise an error if more matches are found than fit into a quarter of the memory."""
        limit = self.regions.block.tokens.limit
        if limit is not None and size * (2 + len(self.labels)) * 8 > limit // 4:
            matches = quantity(size, "match", "matches")
            raise MemoryLimitError(
                f"more than {matches} within one text, which is too much for the memory limit; give a"
                f" number of tokens at most, as in []{{0,20}}, or raise {spell('memory_limit')}"
            )

    def _symbol(self, state: int) -> syntax.Token | None:
        """Return the symbol that is read on entering a state, if it is a single token; else None."""
        symbol = self.states.symbols[state]
        return symbol if isinstance(symbol, syntax.Token) else None

    def _merge(self, reached: list[tuple[int, Spans]]) -> dict[int, Spans]:
        """Return the distinct walks of each state, sorted; several paths may lead to the same walk."""
        by_state: dict[int, list[Spans]] = {}
        for state, walks in reached:
            if len(walks):
                by_state.setdefault(state, []).append(walks)
        return {state: Spans.together(parts, self.labels) for state, parts in by_state.items()}

    def _first(self, state: int, edges: Edges) -> Spans:
        symbol = self._symbol(state)
        if symbol is None:
            spans = self._inner(state)
        else:
            at = self._begins(symbol, state)
            spans = self._add_labels(Spans(at, at, {}), state)
        for edge in edges:
            spans = spans.take(self.regions.at(edge, spans.first, first=True))
        return spans

    def _begins(self, symbol: syntax.Token, state: int) -> Longs:
        condition = symbol.condition
        if condition is None or self.conditions.count(condition) * _WORTH > self.conditions.tokens:
            return np.flatnonzero(self._reads(state))
        at = self.regions.block.find(self.conditions.occurrences(condition))
        return at[self._read_at(state, at)]

    def _step(self, source: int, walks: Spans, target: int) -> Spans:
        furthest, block = self._furthest(source, walks), self.regions.block
        size = len(walks) + int((furthest - walks.last).sum())
        if self._symbol(target) is None or (source in self._loops and size * _FEW > block.size):
            return self._join(source, walks, furthest, target)
        rows, at = _pair_rows(walks.last + 1, furthest + 2)
        on = at < block.size
        on[on] = ~block.unit_begins()[at[on]]
        on[on] = self._read_at(target, at[on])
        walks, at = walks.take(rows[on]), at[on]
        walks = self._add_labels(Spans(walks.first, at - 1, walks.labels), source)
        return self._add_labels(Spans(walks.first, at, walks.labels), target)

    def _join(self, source: int, walks: Spans, furthest: Longs, target: int) -> Spans:
        """Return walks continued by spans that are read into another state behind their places."""
        spans = self._continuations(target)
        low = np.searchsorted(spans.first, walks.last + 1)
        high = np.searchsorted(spans.first, furthest + 1, "right")
        self._check(int((high - low).sum()))
        rows, others = _pair_rows(low, high)
        walks, spans = walks.take(rows), spans.take(others)
        walks = self._add_labels(Spans(walks.first, spans.first - 1, walks.labels), source)
        return Spans(walks.first, spans.last, spans.with_labels(walks, self.labels).labels)

    def _furthest(self, state: int, walks: Spans) -> Longs:
        """Return the last place of each walk in a state, before another walk of the same begin enters it."""
        if state not in self._loops:
            return walks.last
        if state not in self._ends:
            goes_on = self._reads(state) & ~self.regions.block.unit_begins()
            self._ends[state] = np.flatnonzero(self._reads(state) & ~np.append(goes_on[1:], False))
        furthest = self._ends[state][np.searchsorted(self._ends[state], walks.last)]
        if not self.labels:
            same = np.flatnonzero(walks.first[1:] == walks.first[:-1])
            furthest[same] = np.minimum(furthest[same], walks.last[same + 1] - 1)
        return furthest

    def _add_labels(self, walks: Spans, state: int) -> Spans:
        symbol = self._symbol(state)
        own = dict.fromkeys(symbol.labels if symbol else (), walks.last)
        labels = {name: own[name] if name in own else walks.label(name) for name in self.labels}
        return Spans(walks.first, walks.last, labels)

    def _read_at(self, state: int, at: Longs) -> Bools:
        if state in self._read or self.states.entries[state]:
            return self._reads(state)[at]
        symbol, chosen = self._symbol(state), self.regions.chosen
        assert symbol is not None
        met = self.conditions.met_at(symbol.condition, self.regions.block, at)
        return met if chosen is None else met & chosen[at]

    def _reads(self, state: int) -> Bools:
        """Return which tokens of the block can be read into a state."""
        if state not in self._read:
            symbol, chosen, block = self._symbol(state), self.regions.chosen, self.regions.block
            assert symbol is not None
            met = self.conditions.met(symbol.condition, block)
            if chosen is not None:
                met = met & chosen
            for edge in self.states.entries[state]:
                met = met & self.regions.at(edge, np.arange(block.size), first=False)
            self._read[state] = met
        return self._read[state]

    def _continuations(self, state: int) -> Spans:
        """Return the spans that can be read into a state that is not the first."""
        if state not in self._spans:
            if self._symbol(state) is not None:
                at = np.flatnonzero(self._reads(state))
                spans = self._add_labels(Spans(at, at, {}), state)
            else:
                spans = self._inner(state)
                for edge in self.states.entries[state]:
                    spans = spans.take(self.regions.at(edge, spans.first, first=False))
            self._spans[state] = spans.take(~self.regions.block.unit_begins()[spans.first])
        return self._spans[state]

    def _inner(self, state: int) -> Spans:
        symbol = self.states.symbols[state]
        if symbol not in self._found:
            self._found[symbol] = self.spans_of(symbol)
        return self._found[symbol]

    def _accept(self, state: int, walks: Spans, edges: Edges) -> Spans:
        if state in self._loops:
            furthest = self._furthest(state, walks)
            self._check(len(walks) + int((furthest - walks.last).sum()))
            rows, at = _pair_rows(walks.last, furthest + 1)
            walks = walks.take(rows)
            walks = self._add_labels(Spans(walks.first, at, walks.labels), state)
        for edge in edges:
            walks = walks.take(self.regions.at(edge, walks.last + 1, first=False))
        return walks


#: A token is rare if there is at most one in this many: only sentences with a rare token are searched.
_RARE = 16
#: Bytes that a match takes while matches are found, sorted and chosen.
_SPAN = 64


class QuerySearch:
    """Finds the hits of a query.

    Attributes:
        left: number of hits so far, and of those that are left after each filter.
    """

    def __init__(self, connection: Connection, query: Query) -> None:
        self.left = [0] * (len(query.filters) + 1)
        self._query = query
        self._blocks = Tokens(connection, across=query.across).blocks()
        tokens = sum(block.size for block in self._blocks)
        self._one = _OneSearch(query.cql, tokens)
        self._near = [_OneSearch(near.cql, tokens) for _, near in query.filters]

    def find(self) -> Iterator[BlockHits]:
        """Yield the hits of each block, or of parts of it; nothing for blocks without hits."""
        for block in self._blocks:
            for hits in self._one.find(block):
                if len(hits := self._left(hits)):
                    yield hits

    def _left(self, hits: BlockHits) -> BlockHits:
        self.left[0] += len(hits)
        for number, (hit_filter, _) in enumerate(self._query.filters):
            spans = self._near[number].spans(hits.block)
            hits = hits.take(_near(hits, spans, hit_filter) == hit_filter.keeps)
            self.left[number + 1] += len(hits)
        return hits


class _OneSearch:
    """Finds the hits of a query without filters."""

    def __init__(self, cql: Cql, tokens: int) -> None:
        self._cql = cql
        self._conditions = Conditions(cql.conditions(Bindings()), tokens)
        needed = [condition for condition in cql.pattern.required_conditions if condition is not None]
        counts = [(self._conditions.count(condition), condition) for condition in needed]
        self._rare = [
            self._conditions.occurrences(each) for count, each in counts if count * _RARE < max(tokens, 1)
        ]
        self._ways = _ways(cql.pattern)
        # At most one in this many tokens begins a match.
        self._sparse = max(tokens, 1) // max(min((count for count, _ in counts), default=tokens), 1) or 1

    def find(self, block: Block) -> Iterator[BlockHits]:
        """Yield the hits in a block; nothing if it lacks a token that all hits have."""
        rows = self._rows(block)
        for part in [block] if rows is None else block.some(rows, self._most(block)):
            every = self._every(part)
            spans = every.chosen_by(self._cql.strategy)
            yield BlockHits(part, spans.first, spans.last, every)

    def spans(self, block: Block) -> Spans:
        """Return the hits in a block without their labels."""
        return self._every(block).chosen_by(self._cql.strategy)

    def _every(self, block: Block) -> Spans:
        cql = self._cql
        selected = block.selected_tokens(cql.selection)
        return _Matching(self._conditions, block, selected, cql.labels).spans(cql.pattern)

    def _rows(self, block: Block) -> Longs | None:
        """Return the units of a block that have the rare tokens of all matches; None for all units."""
        rare = [block.find(ids) for ids in self._rare]
        if not all(len(at) for at in rare):
            return np.zeros(0, np.int64)
        # Patterns of bounded length are searched around the rare tokens anyway.
        if (self._ways and block.is_cached("begins")) or not rare:
            return None if self._most(block) >= block.size else np.arange(len(block.units()))
        units = block.units_of(rare[0])
        for at in rare[1:]:
            units = np.intersect1d(units, block.units_of(at), assume_unique=True)
        return units

    def _most(self, block: Block) -> int:
        """Return the number of tokens to search at once, so that their matches fit into memory."""
        ways = self._ways or block.size // max(len(block.units()), 1)
        return block.tokens.capacity // _SPAN * self._sparse // ways


def _ways(pattern: syntax.Pattern) -> int:
    """Return an upper bound of the matches that begin with a token; 0 if there is none."""
    if isinstance(pattern, syntax.Joined):
        ways = list(map(_ways, pattern.children))
        return max(ways, default=1) if all(ways) else 0
    sequences = sequences_of(pattern)
    return max(len(sequences), 1) if sequences is not None else 0


def _near(hits: BlockHits, spans: Spans, hit_filter: HitFilter) -> Bools:
    """Return which hits have a whole span in the window of a filter, on one side of the hit."""
    begin, end = hits.block.unit_ends(hits.first)
    left = np.maximum(hits.first - hit_filter.size.left, begin)
    right = np.minimum(hits.last + hit_filter.size.right, end)
    before = _any_between(spans, left, hits.first - 1)
    return before | _any_between(spans, hits.last + 1, right)


def _any_between(spans: Spans, low: Longs, high: Longs) -> Bools:
    """Return for which ranges, from ``low`` to ``high``, there is a span that lies in the range."""
    # The smallest end of the spans from each span on.
    nearest = np.append(np.minimum.accumulate(spans.last[::-1])[::-1], np.iinfo(np.int64).max)
    met: Bools = nearest[np.searchsorted(spans.first, low)] <= high
    return met


#: Pairs of spans that are compared at once.
_PAIRS = 1 << 20


@dataclass(slots=True)
class _Matching:
    """Finds the spans of patterns in a block; see `Regions` for ``chosen``."""

    conditions: Conditions
    block: Block
    chosen: Bools | None
    labels: tuple[str, ...]
    regions: Regions = field(init=False)

    def __post_init__(self) -> None:
        self.regions = Regions(self.conditions.written, self.block, self.chosen)

    def spans(self, pattern: syntax.Pattern) -> Spans:
        """Return the spans of a pattern, sorted, with a row for each assignment of tokens to labels."""
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
                around, inside = self.spans(outer), self.spans(inner)
                low = np.searchsorted(inside.first, around.first)
                high = np.searchsorted(inside.first, around.last, "right")
                return self._pairs(around, inside, low, high, lambda m, o: o.last <= m.last)
            case syntax.Expanded(part, region):
                return Spans.together([self.regions.expand(region, self.spans(part))], self.labels)
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
            search = _SequenceSearch(self.conditions, self.regions)
            spans = [search.spans(sequence) for sequence in sequences]
            return spans[0] if len(spans) == 1 else Spans.together(spans, self.labels)
        states = Automaton.of_pattern(pattern, across=self.block.tokens.across)
        return WalkSearch(states, self.conditions, self.regions, self.spans, self.labels).spans()

    def _multiword(self, word: syntax.Multiword) -> Spans:
        first, last = self.block.cut(*self.conditions.multiwords(word.form))
        if self.chosen is not None:
            first, last = first[self.chosen[first]], last[self.chosen[first]]
        if word.joined:
            joined = self.conditions.hold(syntax.NoSpace(), self.block, last)
            first, last = first[joined], last[joined]
        return Spans.together([Spans(first, last, dict.fromkeys(word.labels, first))], self.labels)

    def _both(self, left: syntax.Pattern, right: syntax.Pattern) -> Spans:
        left_spans, right_spans = self.spans(left), self.spans(right)
        # Packed numbers are equal for equal spans.
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
        rows, others = _pair_rows(low, high)
        both = left_spans.take(rows).with_labels(right_spans.take(order[others]), self.labels)
        return Spans.together([both], self.labels)

    def _within(self, inner: Spans, outer: Spans) -> Spans:
        """Return the inner spans that lie in outer ones, with the labels of both."""
        if not outer.labels:
            return inner.take(inner.lie_within(outer.first, outer.last))
        unit, _ = self.block.unit_ends(inner.first)
        low = np.searchsorted(outer.first, unit)
        high = np.searchsorted(outer.first, inner.first, "right")
        return self._pairs(inner, outer, low, high, lambda m, o: o.last >= m.last)

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
            rows, others = _pair_rows(low[some], high[some])
            part = left.take(np.arange(begin, end))
            met = is_met(part.take(rows), right.take(others))
            joined = part.take(rows[met]).with_labels(right.take(others[met]), self.labels)
            parts.append(joined.sorted_once())
            begin = end
        return Spans.together(parts, self.labels)

    def _meets(self, pattern: syntax.Meet, part: Longs, other: Longs) -> Bools:
        """Return which tokens have a token of ``other`` near them, or have none for a negated pattern."""
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
        """Return which tokens are in a region that has, or if ``negated`` lacks, a token of ``other``."""
        first, last = self.regions.parts(region)
        low, high = np.searchsorted(other, first), np.searchsorted(other, last, "right")
        having = (low < high) != negated
        low, high = np.searchsorted(part, first), np.searchsorted(part, last, "right")
        edges = np.zeros(len(part) + 1, np.int64)
        np.add.at(edges, low[having], 1)
        np.add.at(edges, high[having], -1)
        met: Bools = np.cumsum(edges[:-1]) > 0
        return met
