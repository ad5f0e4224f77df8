"""Patterns of a bounded number of tokens: shifted comparisons around the rarest token.

Such a pattern is the same as some sequences of single tokens. Of each, the token of the fewest occurrences
says where matches can be, and the others are compared at their distance from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.lookups.base.languages import Either
from sentgen.lookups.base.tokens import Block
from sentgen.lookups.cql import syntax
from sentgen.lookups.search.conditions import Conditions
from sentgen.lookups.search.regions import Regions
from sentgen.lookups.search.spans import Spans

#: Sequences, and tokens of all of them, that a pattern may stand for.
_MOST, _MOST_TOKENS = 64, 256
#: An occurrence is worth so many tokens that are compared one after the other.
WORTH = 8

Item: TypeAlias = "syntax.Token | syntax.CqlEdge"


def sequences_of(pattern: syntax.Pattern) -> list[tuple[Item, ...]] | None:
    """Return the sequences that a pattern stands for; none if they are too many or have no end."""
    found = _sequences(pattern)
    if found is None or sum(map(len, found)) > _MOST_TOKENS:
        return None
    return [one for one in dict.fromkeys(found) if any(isinstance(item, syntax.Token) for item in one)]


def _sequences(pattern: syntax.Pattern) -> list[tuple[Item, ...]] | None:
    match pattern:
        case syntax.Token() | syntax.CqlEdge():
            return [(pattern,)]
        case syntax.Sequence(parts):
            return _one_after_other(list(map(_sequences, parts)))
        case syntax.Alternatives(parts):
            if (token := _one_of(parts)) is not None:
                return [(token,)]
            found = list(map(_sequences, parts))
            return _few([one for each in found for one in each or ()]) if all(found) else None
        case syntax.Repetition(part, least, int() as most):
            inner = _sequences(part)
            if inner is None or most > _MOST:
                return None
            told = [_one_after_other([inner] * times) for times in range(least, most + 1)]
            return _few([one for each in told for one in each or ()]) if None not in told else None
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


def _few(found: list[tuple[Item, ...]]) -> list[tuple[Item, ...]] | None:
    return found if len(found) <= _MOST else None


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
        if counts[rarest] * WORTH > self.conditions.tokens:
            return self._compared(tokens)
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

    def _compared(self, tokens: list[syntax.Token]) -> Longs:
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
