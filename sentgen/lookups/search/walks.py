"""Patterns of any number of tokens: a walk along an automaton, from all begins of a block at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.errors import MemoryLimitError
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton
from sentgen.lookups.cql.automaton import Edges as EdgeSet
from sentgen.lookups.search.conditions import Conditions
from sentgen.lookups.search.sequences import WORTH, Edges, at_edge
from sentgen.lookups.search.spans import Spans, together
from sentgen.lookups.search.tokens import NONE, Block, paired
from sentgen.output.wording import quantity


@dataclass(slots=True)
class WalkSearch:
    """Walks along an automaton: a step of all walks is a few operations on arrays for each pair of states.

    Args:
        states: the automaton.
        conditions: say which tokens meet them.
        block: the tokens.
        chosen: those that are asked about; none for all.
        edges: say where regions begin and end.
        spans_of: finds the spans of a symbol that is no token.
        labels: those of the query.
    """

    states: Automaton
    conditions: Conditions
    block: Block
    chosen: Bools | None
    edges: Edges
    spans_of: Callable[[syntax.Pattern], Spans]
    labels: tuple[str, ...]
    _read: dict[int, Bools] = field(default_factory=dict)
    _spans: dict[int, Spans] = field(default_factory=dict)

    def spans(self) -> Spans:
        """Return the matches; time grows with the tokens of all walks, memory with those of a step."""
        found = list[Spans]()
        walks = self._merged([(state, self._first(state, edges)) for state, edges in self.states.firsts])
        size = 0
        while walks:
            for state, edges in self.states.lasts:
                if state in walks:
                    found.append(self._accepted(walks[state], edges))
                    size += len(found[-1])
            self._check(size + sum(map(len, walks.values())))
            steps = [(two, self._step(walks[one], two)) for one, two in self.states.steps if one in walks]
            walks = self._merged(steps)
        return together(found, self.labels)

    def _check(self, size: int) -> None:
        """Refuse more matches than fit into a quarter of the memory."""
        limit = self.block.tokens.limit
        if limit is not None and size * (2 + len(self.labels)) * 8 > limit // 4:
            matches = quantity(size, "match", "matches")
            raise MemoryLimitError(
                f"more than {matches} within one text, which is too much for the memory limit; give a"
                " number of tokens at most, as in []{0,20}, or raise --memory-limit"
            )

    def _merged(self, reached: list[tuple[int, Spans]]) -> dict[int, Spans]:
        """Return walks by state; what came to one by several ways is there once."""
        by_state: dict[int, list[Spans]] = {}
        for state, walks in reached:
            if len(walks):
                by_state.setdefault(state, []).append(walks)
        return {
            state: parts[0] if len(parts) == 1 else together(parts, self.labels)
            for state, parts in by_state.items()
        }

    def _first(self, state: int, edges: EdgeSet) -> Spans:
        symbol = self.states.symbols[state]
        if isinstance(symbol, syntax.Token):
            found = self._labelled(self._begins(symbol, state), state)
        else:
            found = self._spans_of(state)
        for edge in edges:
            met = at_edge(self.block, self.edges(edge), edge.end, found.first, first=True)
            found = found.take(met)
        return found

    def _begins(self, symbol: syntax.Token, state: int) -> Spans:
        condition = symbol.condition
        if condition is None or self.conditions.count(condition) * WORTH > self.conditions.tokens:
            at = np.flatnonzero(self._reads(state))
        else:
            at = self.block.find(self.conditions.occurrences(condition))
            at = at[self._read_at(state, at)]
        return Spans(at, at, {})

    def _step(self, walks: Spans, state: int) -> Spans:
        at = walks.last + 1
        on = at < self.block.size
        on[on] = ~self.block.unit_begins()[at[on]]
        if isinstance(self.states.symbols[state], syntax.Token):
            on[on] = self._read_at(state, at[on])
            walks = walks.take(on)
            return self._labelled(Spans(walks.first, walks.last + 1, walks.labels), state)
        walks, at, spans = walks.take(on), at[on], self._spans_of(state)
        low, high = (np.searchsorted(spans.first, at, side) for side in ("left", "right"))
        rows, others = paired(low, high)
        walks, spans = walks.take(rows), spans.take(others)
        labels = {
            name: np.where(spans.label(name) == NONE, walks.label(name), spans.label(name))
            for name in self.labels
        }
        return Spans(walks.first, spans.last, labels)

    def _labelled(self, walks: Spans, state: int) -> Spans:
        symbol = self.states.symbols[state]
        assert isinstance(symbol, syntax.Token)
        own = dict.fromkeys(symbol.labels, walks.last)
        labels = {name: own.get(name, walks.label(name)) for name in self.labels}
        return Spans(walks.first, walks.last, labels)

    def _read_at(self, state: int, at: Longs) -> Bools:
        """Return which of some tokens are read into a state."""
        symbol = self.states.symbols[state]
        assert isinstance(symbol, syntax.Token)
        if state in self._read or self.states.entries[state]:
            return self._reads(state)[at]
        met = self.conditions.met_at(symbol.condition, self.block, at)
        return met if self.chosen is None else met & self.chosen[at]

    def _reads(self, state: int) -> Bools:
        """Return which tokens are read into a state."""
        if state not in self._read:
            symbol = self.states.symbols[state]
            assert isinstance(symbol, syntax.Token)
            met = self.conditions.met(symbol.condition, self.block)
            if self.chosen is not None:
                met = met & self.chosen
            for edge in self.states.entries[state]:
                everywhere = np.arange(self.block.size)
                met = met & at_edge(self.block, self.edges(edge), edge.end, everywhere, first=False)
            self._read[state] = met
        return self._read[state]

    def _spans_of(self, state: int) -> Spans:
        """Return the spans of a symbol that is no token, where what has to be before them is."""
        if state not in self._spans:
            found = self.spans_of(self.states.symbols[state])
            for edge in self.states.entries[state]:
                met = at_edge(self.block, self.edges(edge), edge.end, found.first, first=False)
                found = found.take(met)
            self._spans[state] = found
        return self._spans[state]

    def _accepted(self, walks: Spans, edges: EdgeSet) -> Spans:
        for edge in edges:
            behind: Longs = walks.last + 1
            walks = walks.take(at_edge(self.block, self.edges(edge), edge.end, behind, first=False))
        return walks
