"""Patterns of tokens as sequences, or as Glushkov automata, which have no empty steps.

A pattern with a bounded number of tokens is equivalent to a set of sequences.

Glushkov 1961, "The abstract theory of automata": each state is the symbol of the pattern that was read last,
so that a step from state i to state j reads symbol j. Begins and ends of regions are no symbols but
conditions on the edge between two tokens: before the first, behind the last, or between two. A symbol has one
state for each set of conditions under which it is entered. Begins and ends of sentences and documents cannot
be in the middle of a match, unless matches may cross the ends of sentences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from sentgen.lookups.base.languages import Either
from sentgen.lookups.cql import syntax

Symbol = syntax.Token | syntax.Joined
#: Conditions on where a match begins or ends.
Edges = frozenset[syntax.CqlEdge]
_NO_EDGES: Edges = frozenset()


@dataclass(frozen=True, slots=True)
class Automaton:
    """A Glushkov automaton, whose states are numbered from 0.

    Args:
        symbols: the symbol of each state.
        entries: conditions on the edge before the symbol of each state, unless a match begins with it.
        firsts: states with which a match may begin, each with the conditions before its symbol.
        steps: pairs of states of which the second may follow the first.
        lasts: states with which a match may end, each with the conditions behind its symbol.
    """

    symbols: tuple[Symbol, ...]
    entries: tuple[Edges, ...]
    firsts: tuple[tuple[int, Edges], ...]
    steps: tuple[tuple[int, int], ...]
    lasts: tuple[tuple[int, Edges], ...]

    @classmethod
    def of_pattern(cls, pattern: syntax.Pattern, *, across: bool = False) -> Automaton:
        """Return the automaton of a pattern; ``across``: whether matches reach over the ends of sentences."""
        maker = _Glushkov()
        part = maker.part(pattern)
        if across:
            return _split(maker.symbols, part.firsts, maker.steps, part.lasts)
        # No sentence ends before the first token of a match, and none begins behind the last.
        firsts = [state for state in part.firsts if not any(edge.end for edge in _of_sentences(state[1]))]
        lasts = [state for state in part.lasts if all(edge.end for edge in _of_sentences(state[1]))]
        steps = [step for step in maker.steps if not _of_sentences(step[2])]
        return _split(maker.symbols, firsts, steps, lasts)


@dataclass(slots=True)
class _Part:
    """The automaton of a part of the pattern; ``empty``: conditions under which it matches no token."""

    firsts: dict[tuple[int, Edges], None] = field(default_factory=dict)
    lasts: dict[tuple[int, Edges], None] = field(default_factory=dict)
    empty: dict[Edges, None] = field(default_factory=dict)


def _of_sentences(edges: Edges) -> list[syntax.CqlEdge]:
    """Return the edges that are begins and ends of sentences and documents."""
    return [edge for edge in edges if edge.region.built_in]


def _split(
    symbols: list[Symbol],
    firsts: Iterable[tuple[int, Edges]],
    steps: Iterable[tuple[int, int, Edges]],
    lasts: Iterable[tuple[int, Edges]],
) -> Automaton:
    """Return the automaton in which the conditions of steps are moved to the states that they enter.

    A state that is entered under several sets of conditions becomes a state for each.
    """
    entered = dict.fromkeys((target, edges) for _, target, edges in steps if edges)
    numbers = {entry: number for number, entry in enumerate(entered, len(symbols))}
    copies: dict[int, list[int]] = {number: [number] for number in range(len(symbols))}
    for (state, _), number in numbers.items():
        copies[state].append(number)
    return Automaton(
        (*symbols, *(symbols[state] for state, _ in entered)),
        (*(_NO_EDGES for _ in symbols), *(edges for _, edges in entered)),
        tuple(firsts),
        tuple(
            (source, numbers[target, edges] if edges else target)
            for origin, target, edges in steps
            for source in copies[origin]
        ),
        tuple((state, edges) for last, edges in lasts for state in copies[last]),
    )


class _Glushkov:
    """Numbers the symbols of a pattern, and collects the steps between them."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.steps: dict[tuple[int, int, Edges], None] = {}

    def part(self, pattern: syntax.Pattern) -> _Part:
        match pattern:
            case syntax.CqlEdge():
                return _Part(empty={frozenset([pattern]): None})
            case syntax.Sequence(parts):
                return self._join(map(self.part, parts))
            case syntax.Alternatives(parts):
                made = [self.part(part) for part in parts]
                return _Part(
                    {state: None for part in made for state in part.firsts},
                    {state: None for part in made for state in part.lasts},
                    {edges: None for part in made for edges in part.empty},
                )
            case syntax.Repetition():
                return self._repeat(pattern)
        assert isinstance(pattern, Symbol)
        state = (len(self.symbols), _NO_EDGES)
        self.symbols.append(pattern)
        return _Part({state: None}, {state: None})

    def _repeat(self, pattern: syntax.Repetition) -> _Part:
        if pattern.most is None:
            looped = self.part(pattern.part)
            self._follow(looped, looped)
            made = [self.part(pattern.part) for _ in range(pattern.least - 1)]
            if not pattern.least:
                looped.empty[_NO_EDGES] = None
            return self._join([*made, looped])
        # x{0,3} becomes (x(x(x)?)?)?, not x?x?x?, which would match two tokens in three ways.
        rest = _Part(empty={_NO_EDGES: None})
        for _ in range(pattern.most - pattern.least):
            rest = self._join([self.part(pattern.part), rest])
            rest.empty[_NO_EDGES] = None
        return self._join([*(self.part(pattern.part) for _ in range(pattern.least)), rest])

    def _join(self, parts: Iterable[_Part]) -> _Part:
        whole = _Part(empty={_NO_EDGES: None})
        for part in parts:
            self._follow(whole, part)
            firsts = {(state, edges | more): None for more in whole.empty for state, edges in part.firsts}
            lasts = {(state, edges | more): None for more in part.empty for state, edges in whole.lasts}
            whole = _Part(
                whole.firsts | firsts,
                part.lasts | lasts,
                {edges | more: None for edges in whole.empty for more in part.empty},
            )
        return whole

    def _follow(self, before: _Part, after: _Part) -> None:
        for source, leaving in before.lasts:
            for target, entering in after.firsts:
                self.steps[source, target, leaving | entering] = None


#: Sequences to which a pattern may be expanded, and tokens of all of them together.
_MOST_SEQUENCES, _MOST_TOKENS = 64, 256

Item: TypeAlias = "syntax.Token | syntax.CqlEdge"


def sequences_of(pattern: syntax.Pattern) -> list[tuple[Item, ...]] | None:
    """Return the sequences that are equivalent to a pattern; None if they are too many, or unbounded."""
    sequences = _sequences(pattern)
    if sequences is None or sum(map(len, sequences)) > _MOST_TOKENS:
        return None
    return [one for one in dict.fromkeys(sequences) if any(isinstance(item, syntax.Token) for item in one)]


def _sequences(pattern: syntax.Pattern) -> list[tuple[Item, ...]] | None:
    match pattern:
        case syntax.Token() | syntax.CqlEdge():
            return [(pattern,)]
        case syntax.Sequence(parts):
            return _concatenations(list(map(_sequences, parts)))
        case syntax.Alternatives(parts):
            if (token := _as_one_token(parts)) is not None:
                return [(token,)]
            return _alternatives(map(_sequences, parts))
        case syntax.Repetition(part, least, int() as most):
            inner = _sequences(part)
            if inner is None or most > _MOST_SEQUENCES:
                return None
            return _alternatives(_concatenations([inner] * times) for times in range(least, most + 1))
    return None


def _as_one_token(parts: tuple[syntax.Pattern, ...]) -> syntax.Token | None:
    """Return alternatives of single tokens as one token that meets one of their conditions; else None."""
    tokens = [part for part in parts if isinstance(part, syntax.Token) and not part.labels]
    conditions = [token.condition for token in tokens if token.condition is not None]
    if len(tokens) < len(parts):
        return None
    return syntax.Token(Either(tuple(conditions)) if len(conditions) == len(tokens) else None)


def _concatenations(parts: list[list[tuple[Item, ...]] | None]) -> list[tuple[Item, ...]] | None:
    """Return all concatenations of a sequence of each part; None if they are too many."""
    size = 1
    for part in parts:
        if part is None or (size := size * len(part)) > _MOST_SEQUENCES:
            return None
    return [sum(chosen, ()) for chosen in product(*(part for part in parts if part is not None))]


def _alternatives(parts: Iterable[list[tuple[Item, ...]] | None]) -> list[tuple[Item, ...]] | None:
    sequences = list[tuple[Item, ...]]()
    for part in parts:
        if part is None or len(sequences) + len(part) > _MOST_SEQUENCES:
            return None
        sequences += part
    return sequences
