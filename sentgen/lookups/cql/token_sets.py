"""The statement that says of each token into which states of an automaton it may be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton, Edges
from sentgen.lookups.cql.tokens import TokenConditions, at_edges
from sentgen.lookups.cql.walks import Walk
from sentgen.lookups.statement import Statement, where

_TOKENS = """\
select t.sentence_id, t.position, {read} as read, {begin} as begin, {final} as final
from token as t{conditions}"""
#: Types of sets of states, by the number of their bits.
_SETS = {8: "utinyint", 16: "usmallint", 32: "uinteger", 64: "ubigint"}


def walk_of(
    states: Automaton, conditions: TokenConditions, among: Sequence[str], columns: Mapping[str, str]
) -> Walk:
    """Return the walk along an automaton.

    Args:
        states: the automaton, over tokens, of `MOST_WALKED` states at most.
        conditions: writes conditions on tokens.
        among: conditions on the rows ``t`` of `token` that are read: whole sentences.
        columns: label to its column.
    """
    read: dict[syntax.Condition | None, int] = {}
    labels: dict[str, set[int]] = {}
    for number, symbol in enumerate(states.symbols):
        assert isinstance(symbol, syntax.Token)
        read[symbol.condition] = read.get(symbol.condition, 0) | 1 << number
        for label in symbol.labels:
            labels.setdefault(columns[label], set()).add(number)
    met = [
        (None if condition is None else conditions.of_token(condition, "t"), numbers)
        for condition, numbers in read.items()
    ]
    kind = next(name for size, name in _SETS.items() if len(states.symbols) <= size)
    sets = (_union(each, kind) for each in (met, _at_edges(states.firsts), _at_edges(states.lasts)))
    text = _TOKENS.format(**dict(zip(("read", "begin", "final"), sets, strict=True)), conditions=where(among))
    own = {column: frozenset(numbers) for column, numbers in labels.items()}
    return Walk(Statement(text, conditions.bindings), states.steps, own)


def _at_edges(ends: Iterable[tuple[int, Edges]]) -> list[tuple[str | None, int]]:
    """Return the states in which a match begins or ends, with the condition on its token ``t``."""
    found: dict[Edges, int] = {}
    for state, edges in ends:
        found[edges] = found.get(edges, 0) | 1 << state
    told = {edges: at_edges(edges, "t.sentence_id", "t.position", "t.position") for edges in found}
    return [(" and ".join(told[edges]) or None, states) for edges, states in found.items()]


def _union(sets: Iterable[tuple[str | None, int]], kind: str) -> str:
    """Return the set of all states whose condition is met; None: always."""
    parts = [
        f"{states}::{kind}"
        if condition is None
        else f"case when {condition} then {states} else 0 end::{kind}"
        for condition, states in sets
    ]
    return " | ".join(parts) or f"0::{kind}"
