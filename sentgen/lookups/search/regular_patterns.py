"""Regular patterns in a block: sequences of a bounded number of tokens, and walks along an automaton.

A pattern of a bounded number of tokens is the same as some sequences of single tokens. Of each, the token of
the fewest occurrences says where matches can be, and the others are compared at their distance from it.

Others are walks from all begins of a block at once. A state that goes on to itself reads a stretch of tokens
at once: walks are in all places from where they came into it to where its tokens end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.errors import MemoryLimitError, spell
from sentgen.lookups.base.languages import Either
from sentgen.lookups.base.tokens import Block, pair_rows
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton, Edges, Symbol
from sentgen.lookups.search.conditions import Conditions
from sentgen.lookups.search.hits import Spans, together
from sentgen.lookups.search.regions import Regions
from sentgen.output.wording import quantity

#: Sequences, and tokens of all of them, that a pattern may stand for.
_MOST, _MOST_TOKENS = 64, 256
#: An occurrence is worth so many tokens that are compared one after the other.
_WORTH = 8

Item: TypeAlias = "syntax.Token | syntax.CqlEdge"


def sequences_of(pattern: syntax.Pattern) -> list[tuple[Item, ...]] | None:
    """Return the sequences that a pattern stands for; none if they are too many or have no end."""
    sequences = _sequences(pattern)
    if sequences is None or sum(map(len, sequences)) > _MOST_TOKENS:
        return None
    return [one for one in dict.fromkeys(sequences) if any(isinstance(item, syntax.Token) for item in one)]


def _sequences(pattern: syntax.Pattern) -> list[tuple[Item, ...]] | None:
    match pattern:
        case syntax.Token() | syntax.CqlEdge():
            return [(pattern,)]
        case syntax.Sequence(parts):
            return _one_after_other(list(map(_sequences, parts)))
        case syntax.Alternatives(parts):
            if (token := _one_of(parts)) is not None:
                return [(token,)]
            return _alternatives(map(_sequences, parts))
        case syntax.Repetition(part, least, int() as most):
            inner = _sequences(part)
            if inner is None or most > _MOST:
                return None
            return _alternatives(_one_after_other([inner] * times) for times in range(least, most + 1))
    return None


def _one_of(parts: tuple[syntax.Pattern, ...]) -> syntax.Token | None:
    """Return alternatives of one token each as one token."""
    tokens = [part for part in parts if isinstance(part, syntax.Token) and not part.labels]
    conditions = [one.condition for one in tokens if one.condition is not None]
    if len(tokens) < len(parts):
        return None
    return syntax.Token(Either(tuple(conditions)) if len(conditions) == len(tokens) else None)


def _one_after_other(parts: list[list[tuple[Item, ...]] | None]) -> list[tuple[Item, ...]] | None:
    size = 1
    for part in parts:
        if part is None or (size := size * len(part)) > _MOST:
            return None
    return [sum(chosen, ()) for chosen in product(*(part for part in parts if part is not None))]


def _alternatives(parts: Iterable[list[tuple[Item, ...]] | None]) -> list[tuple[Item, ...]] | None:
    sequences = list[tuple[Item, ...]]()
    for part in parts:
        if part is None or len(sequences) + len(part) > _MOST:
            return None
        sequences += part
    return sequences


@dataclass(frozen=True, slots=True)
class SequenceSearch:
    """Looks for sequences in a block.

    Args:
        conditions: say which tokens meet them.
        regions: of the block.
    """

    conditions: Conditions
    regions: Regions

    @property
    def _block(self) -> Block:
        return self.regions.block

    def spans(self, items: tuple[Item, ...]) -> Spans:
        """Return the matches of a sequence, by their first tokens."""
        tokens = [item for item in items if isinstance(item, syntax.Token)]
        first = self._begins(tokens)
        if (chosen := self.regions.chosen) is not None:
            for offset in range(len(tokens) if self._block.tokens.across else 1):
                first = first[chosen[first + offset]]
        for gap, edge in _gaps(items):
            first = first[self.regions.at(edge, first + gap, first=gap == 0)]
        labels = {name: first + offset for offset, one in enumerate(tokens) for name in one.labels}
        return Spans(first, first + (len(tokens) - 1), labels)

    def _begins(self, tokens: list[syntax.Token]) -> Longs:
        """Return where sequences may begin, as their tokens are what they should be."""
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
        """Return the same by a comparison of all tokens of the block."""
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
                    (two, self._step(one, walks[one], two))
                    for one, two in self.states.steps
                    if one in walks and not (one == two and one in self._loops)
                ]
            )
        return together(accepted, self.labels)

    def _check(self, size: int) -> None:
        """Refuse more matches than fit into a quarter of the memory."""
        limit = self.regions.block.tokens.limit
        if limit is not None and size * (2 + len(self.labels)) * 8 > limit // 4:
            matches = quantity(size, "match", "matches")
            raise MemoryLimitError(
                f"more than {matches} within one text, which is too much for the memory limit; give a"
                f" number of tokens at most, as in []{{0,20}}, or raise {spell('memory_limit')}"
            )

    def _symbol(self, state: int) -> syntax.Token | None:
        """Return the token that is read by reaching a state; none if it is no single token."""
        symbol = self.states.symbols[state]
        return symbol if isinstance(symbol, syntax.Token) else None

    def _merge(self, reached: list[tuple[int, Spans]]) -> dict[int, Spans]:
        """Return walks by state, in their order; what came to one by several ways is there once."""
        by_state: dict[int, list[Spans]] = {}
        for state, walks in reached:
            if len(walks):
                by_state.setdefault(state, []).append(walks)
        return {state: together(parts, self.labels) for state, parts in by_state.items()}

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
        places = len(walks) + int((furthest - walks.last).sum())
        if self._symbol(target) is None or (source in self._loops and places * _FEW > block.size):
            return self._join(source, walks, furthest, target)
        rows, at = pair_rows(walks.last + 1, furthest + 2)
        on = at < block.size
        on[on] = ~block.unit_begins()[at[on]]
        on[on] = self._read_at(target, at[on])
        walks, at = walks.take(rows[on]), at[on]
        walks = self._add_labels(Spans(walks.first, at - 1, walks.labels), source)
        return self._add_labels(Spans(walks.first, at, walks.labels), target)

    def _join(self, source: int, walks: Spans, furthest: Longs, target: int) -> Spans:
        """Return walks with what is read into another state behind any place where they are."""
        spans = self._continuations(target)
        low = np.searchsorted(spans.first, walks.last + 1)
        high = np.searchsorted(spans.first, furthest + 1, "right")
        self._check(int((high - low).sum()))
        rows, others = pair_rows(low, high)
        walks, spans = walks.take(rows), spans.take(others)
        walks = self._add_labels(Spans(walks.first, spans.first - 1, walks.labels), source)
        return Spans(walks.first, spans.last, spans.with_labels(walks, self.labels).labels)

    def _furthest(self, state: int, walks: Spans) -> Longs:
        """Return the last places of walks in a state, up to where another one of the same begin comes in."""
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

    def _continuations(self, state: int) -> Spans:
        """Return what is read into a state behind other tokens."""
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
        """Return the spans of a symbol that is no token."""
        symbol = self.states.symbols[state]
        if symbol not in self._found:
            self._found[symbol] = self.spans_of(symbol)
        return self._found[symbol]

    def _accept(self, state: int, walks: Spans, edges: Edges) -> Spans:
        if state in self._loops:
            furthest = self._furthest(state, walks)
            self._check(len(walks) + int((furthest - walks.last).sum()))
            rows, at = pair_rows(walks.last, furthest + 1)
            walks = walks.take(rows)
            walks = self._add_labels(Spans(walks.first, at, walks.labels), state)
        for edge in edges:
            walks = walks.take(self.regions.at(edge, walks.last + 1, first=False))
        return walks
