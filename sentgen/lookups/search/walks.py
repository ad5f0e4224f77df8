"""Patterns of any number of tokens: a walk along an automaton, from all begins of a block at once.

A state that goes on to itself reads a stretch of tokens at once: walks are in all places from where they came
into it to where its tokens end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.errors import MemoryLimitError
from sentgen.lookups.base.tokens import paired
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton, Edges, Symbol
from sentgen.lookups.search.conditions import Conditions
from sentgen.lookups.search.regions import Regions
from sentgen.lookups.search.sequences import WORTH
from sentgen.lookups.search.spans import Spans, together
from sentgen.output.wording import quantity

#: Of so many tokens one is looked at by itself: else all are.
_FEW = 4


@dataclass(slots=True)
class WalkSearch:
    """Walks along an automaton: a step of all walks is a few operations on arrays for each pair of states.

    Args:
        states: the automaton.
        conditions: say which tokens meet them.
        regions: of the block.
        spans_of: finds the spans of a symbol that is no token.
        labels: those of the query.
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
        """Return the matches; time and memory grow with their number, and that of their parts."""
        found, size = list[Spans](), 0
        walks = self._merged([(state, self._first(state, edges)) for state, edges in self.states.firsts])
        while walks:
            for state, edges in self.states.lasts:
                if state in walks:
                    found.append(self._accepted(state, walks[state], edges))
                    size += len(found[-1])
            self._check(size + sum(map(len, walks.values())))
            walks = self._merged(
                [
                    (two, self._step(one, walks[one], two))
                    for one, two in self.states.steps
                    if one in walks and not (one == two and one in self._loops)
                ]
            )
        return together(found, self.labels)

    def _check(self, size: int) -> None:
        """Refuse more matches than fit into a quarter of the memory."""
        limit = self.regions.block.tokens.limit
        if limit is not None and size * (2 + len(self.labels)) * 8 > limit // 4:
            matches = quantity(size, "match", "matches")
            raise MemoryLimitError(
                f"more than {matches} within one text, which is too much for the memory limit; give a"
                " number of tokens at most, as in []{0,20}, or raise --memory-limit"
            )

    def _symbol(self, state: int) -> syntax.Token | None:
        """Return the token that is read by reaching a state; none if it is no single token."""
        symbol = self.states.symbols[state]
        return symbol if isinstance(symbol, syntax.Token) else None

    def _merged(self, reached: list[tuple[int, Spans]]) -> dict[int, Spans]:
        """Return walks by state, in their order; what came to one by several ways is there once."""
        by_state: dict[int, list[Spans]] = {}
        for state, walks in reached:
            if len(walks):
                by_state.setdefault(state, []).append(walks)
        return {state: together(parts, self.labels) for state, parts in by_state.items()}

    def _first(self, state: int, edges: Edges) -> Spans:
        symbol = self._symbol(state)
        if symbol is None:
            found = self._inner(state)
        else:
            at = self._begins(symbol, state)
            found = self._labelled(Spans(at, at, {}), state)
        for edge in edges:
            found = found.take(self.regions.at(edge, found.first, first=True))
        return found

    def _begins(self, symbol: syntax.Token, state: int) -> Longs:
        condition = symbol.condition
        if condition is None or self.conditions.count(condition) * WORTH > self.conditions.tokens:
            return np.flatnonzero(self._reads(state))
        at = self.regions.block.find(self.conditions.occurrences(condition))
        return at[self._read_at(state, at)]

    def _step(self, one: int, walks: Spans, two: int) -> Spans:
        furthest, block = self._furthest(one, walks), self.regions.block
        places = len(walks) + int((furthest - walks.last).sum())
        if self._symbol(two) is None or (one in self._loops and places * _FEW > block.size):
            return self._joined(one, walks, furthest, two)
        rows, at = paired(walks.last + 1, furthest + 2)
        on = at < block.size
        on[on] = ~block.unit_begins()[at[on]]
        on[on] = self._read_at(two, at[on])
        walks, at = walks.take(rows[on]), at[on]
        walks = self._labelled(Spans(walks.first, at - 1, walks.labels), one)
        return self._labelled(Spans(walks.first, at, walks.labels), two)

    def _joined(self, one: int, walks: Spans, furthest: Longs, two: int) -> Spans:
        """Return walks with what is read into another state behind any place where they are."""
        spans = self._following(two)
        low = np.searchsorted(spans.first, walks.last + 1)
        high = np.searchsorted(spans.first, furthest + 1, "right")
        self._check(int((high - low).sum()))
        rows, others = paired(low, high)
        walks, spans = walks.take(rows), spans.take(others)
        walks = self._labelled(Spans(walks.first, spans.first - 1, walks.labels), one)
        return Spans(walks.first, spans.last, spans.with_labels(walks, self.labels).labels)

    def _furthest(self, state: int, walks: Spans) -> Longs:
        """Return the last places of walks in a state, up to where another one of the same begin comes in."""
        if state not in self._loops:
            return walks.last
        if state not in self._ends:
            goes_on = self._reads(state) & ~self.regions.block.unit_begins()
            self._ends[state] = np.flatnonzero(self._reads(state) & ~np.append(goes_on[1:], False))
        found = self._ends[state][np.searchsorted(self._ends[state], walks.last)]
        if not self.labels:
            same = np.flatnonzero(walks.first[1:] == walks.first[:-1])
            found[same] = np.minimum(found[same], walks.last[same + 1] - 1)
        return found

    def _labelled(self, walks: Spans, state: int) -> Spans:
        symbol = self._symbol(state)
        own = dict.fromkeys(symbol.labels if symbol else (), walks.last)
        labels = {name: own[name] if name in own else walks.label(name) for name in self.labels}
        return Spans(walks.first, walks.last, labels)

    def _read_at(self, state: int, at: Longs) -> Bools:
        """Return which of some tokens are read into a state."""
        if state in self._read or self.states.entries[state]:
            return self._reads(state)[at]
        symbol, chosen = self._symbol(state), self.regions.chosen
        assert symbol is not None
        met = self.conditions.met_at(symbol.condition, self.regions.block, at)
        return met if chosen is None else met & chosen[at]

    def _reads(self, state: int) -> Bools:
        """Return which tokens are read into a state."""
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

    def _following(self, state: int) -> Spans:
        """Return what is read into a state behind other tokens."""
        if state not in self._spans:
            if self._symbol(state) is not None:
                at = np.flatnonzero(self._reads(state))
                found = self._labelled(Spans(at, at, {}), state)
            else:
                found = self._inner(state)
                for edge in self.states.entries[state]:
                    found = found.take(self.regions.at(edge, found.first, first=False))
            self._spans[state] = found.take(~self.regions.block.unit_begins()[found.first])
        return self._spans[state]

    def _inner(self, state: int) -> Spans:
        """Return the spans of a symbol that is no token."""
        symbol = self.states.symbols[state]
        if symbol not in self._found:
            self._found[symbol] = self.spans_of(symbol)
        return self._found[symbol]

    def _accepted(self, state: int, walks: Spans, edges: Edges) -> Spans:
        if state in self._loops:
            furthest = self._furthest(state, walks)
            self._check(len(walks) + int((furthest - walks.last).sum()))
            rows, at = paired(walks.last, furthest + 1)
            walks = walks.take(rows)
            walks = self._labelled(Spans(walks.first, at, walks.labels), state)
        for edge in edges:
            walks = walks.take(self.regions.at(edge, walks.last + 1, first=False))
        return walks
