"""The statement that says of each token into which states of an automaton it may be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Automaton, Edges
from sentgen.lookups.cql.regions import RegionConditions
from sentgen.lookups.cql.walks import Walk
from sentgen.lookups.reach import DOCUMENT, SENTENCE, STARTS, Reach, TableExpression
from sentgen.lookups.statement import Statement, where

_TOKENS = """\
{before}select t.{sentence}, t.{position}, {read} as read, {begin} as begin, {final} as final
from {tokens} as t{conditions}"""
#: Types of sets of states, by the number of their bits.
_SETS = {8: "utinyint", 16: "usmallint", 32: "uinteger", 64: "ubigint"}


def walk_of(
    states: Automaton,
    regions: RegionConditions,
    among: Sequence[str],
    columns: Mapping[str, str],
    reach: Reach,
    before: Sequence[TableExpression],
    *,
    whole: bool,
) -> Walk:
    """Return the walk along an automaton.

    Args:
        states: the automaton, over tokens, of `MOST_WALKED` states at most.
        regions: writes conditions on regions, and on tokens.
        among: conditions on the rows ``t`` of `token` that are read: whole sentences.
        columns: label to its column.
        reach: how far matches reach.
        before: what tokens are read from then.
        whole: whether all tokens of documents are read.
    """
    conditions = regions.conditions
    edges = [*states.entries, *(edges for _, edges in (*states.firsts, *states.lasts))]
    # To number tokens of arrays takes less than to join them with the places of their sentences.
    numbered = reach is DOCUMENT and whole and not any(edges)
    if numbered:
        reach, before = SENTENCE, ()
    read: dict[tuple[syntax.Condition | None, Edges], int] = {}
    labels: dict[str, set[int]] = {}
    for number, (symbol, entry) in enumerate(zip(states.symbols, states.entries, strict=True)):
        assert isinstance(symbol, syntax.Token)
        read[symbol.condition, entry] = read.get((symbol.condition, entry), 0) | 1 << number
        for label in symbol.labels:
            labels.setdefault(columns[label], set()).add(number)
    place = (f"t.{reach.sentence}", f"t.{reach.position}")
    met = [
        (
            [
                *([conditions.of_token(condition, "t")] if condition is not None else []),
                *regions.before(entry, *place),
            ],
            numbers,
        )
        for (condition, entry), numbers in read.items()
    ]
    begins = [(regions.before(edges, *place), numbers) for edges, numbers in _by_edges(states.firsts)]
    ends = [(regions.behind(edges, *place), numbers) for edges, numbers in _by_edges(states.lasts)]
    kind = next(name for size, name in _SETS.items() if len(states.symbols) <= size)
    sets = (_union(each, kind) for each in (met, begins, ends))
    text = _TOKENS.format(
        **dict(zip(("read", "begin", "final"), sets, strict=True)),
        before=f"with {', '.join(map(str, before))}\n" if before else "",
        tokens=reach.tokens,
        sentence=reach.sentence,
        position=reach.position,
        conditions=where(among),
    )
    own = {column: frozenset(numbers) for column, numbers in labels.items()}
    tokens = Statement(text, conditions.bindings)
    return Walk(tokens, states.steps, own, Statement(STARTS) if numbered else None)


def _by_edges(ends: Iterable[tuple[int, Edges]]) -> Iterable[tuple[Edges, int]]:
    """Return the states in which a match begins or ends, by what must be true there."""
    found: dict[Edges, int] = {}
    for state, edges in ends:
        found[edges] = found.get(edges, 0) | 1 << state
    return found.items()


def _union(sets: Iterable[tuple[Sequence[str], int]], kind: str) -> str:
    """Return the set of all states whose conditions are met."""
    parts = [
        f"case when {' and '.join(told)} then {states} else 0 end::{kind}" if told else f"{states}::{kind}"
        for told, states in sets
    ]
    return " | ".join(parts) or f"0::{kind}"
