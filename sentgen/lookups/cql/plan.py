"""What is looked up first, and how much at once: estimates from a sample of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import automaton
from sentgen.lookups.cql.tokens import TokenConditions
from sentgen.lookups.statement import Statement, where

#: Sentences of the sample: some milliseconds for ten conditions.
SAMPLE = 10_000
#: Share of the sentences up to which looking at those with a token alone is less work than at all of them.
_FEW = 0.2
#: Rows of tokens and steps that a statement may keep: some hundred megabytes.
_ROWS = 6_000_000
#: Sentences that are searched at once at most, and at least.
_MOST, _LEAST = 500_000, 2_000
#: Rows from which on a walk over arrays is worth its beginning, and tokens that it reads at once.
WALKED = 500_000
_TOKENS = 2_000_000

_SAMPLE = """\
select count(*) as tokens, count(distinct t.sentence_id) as sentences, {documents} as documents{counts}
from token as t{conditions}"""
#: Those that begin among the sentences of the sample.
_DOCUMENTS = "(select count(*) from document where first_sentence between {low} and {high})"


@dataclass(frozen=True, slots=True)
class CqlPlan:
    """How a query is asked.

    Args:
        rare: the condition of a token that every match has, if it is so rare that only the sentences with one
            are to be looked at.
        sentences: how many are searched at once.
        walked: whether automata are walked over arrays.
    """

    rare: syntax.Condition | None
    sentences: int
    walked: bool


def plan(
    connection: Connection,
    pattern: syntax.Pattern,
    conditions: TokenConditions,
    sentences: int,
    *,
    across: bool = False,
) -> CqlPlan:
    """Look at a sample from the middle of the store; ``across``: for matches over the ends of sentences."""
    asked = list(dict.fromkeys(_conditions(pattern)))
    low = max((sentences - SAMPLE) // 2, 0)
    counts = "".join(
        f",\n  count(*) filter (where {conditions.of_token(one, 't')}) as count_{number}"
        for number, one in enumerate(asked)
    )
    told = [f"t.sentence_id between {low} and {low + SAMPLE}"]
    told += conditions.selection.of_tokens(conditions.bindings, "t")
    documents = _DOCUMENTS.format(low=low, high=low + SAMPLE) if across else "0"
    text = _SAMPLE.format(documents=documents, counts=counts, conditions=where(told))
    query = Statement(text, conditions.bindings)
    row: dict[str, Any] = query.fetch(connection, 1).to_pylist()[0]
    tokens, sampled, _, *found = row.values()
    share: dict[syntax.Condition | None, float] = {
        one: count / max(sampled, 1) for one, count in zip(asked, found, strict=True)
    }
    share[None] = length = tokens / max(sampled, 1)
    always = required(pattern)
    needed = sorted((one for one in asked if one in always), key=share.__getitem__)
    around = _around(syntax.longest(pattern), row["documents"] / max(sampled, 1)) if across else 1
    few = needed and share[needed[0]] * around < _FEW
    rare = needed[0] if few and len(asked) > 1 else None
    rows = _rows(pattern, share, length)
    # What the sample lacks is still somewhere.
    looked_at = 1.0 if rare is None else share[rare] * around
    most = int(max(_ROWS / max(looked_at * (rows + (0 if rare is None else length)), 0.1), _LEAST))
    if rare is None:
        most = min(most, _MOST)
    walked = min(looked_at, 1.0 if rare is None else share[rare]) * rows * sentences > WALKED
    if walked:
        most = min(most, max(int(_TOKENS / max(looked_at * length, 0.1)), 1))
    return CqlPlan(rare, most, walked)


def _around(longest: int | None, documents: float) -> float:
    """Return how many sentences there are around a rare token, over whose ends a match may reach to it.

    Args:
        longest: how far apart tokens of a match are at most, or none if that is any number.
        documents: how many there are to a sentence.
    """
    of_document = 1 / max(documents, 1 / SAMPLE)
    return of_document if longest is None else min(2 * longest - 1, of_document)


def _conditions(pattern: syntax.Pattern) -> list[syntax.Condition]:
    own = [pattern.condition] if isinstance(pattern, syntax.Token) and pattern.condition else []
    return own + [one for part in syntax.children(pattern) for one in _conditions(part)]


def required(pattern: syntax.Pattern) -> set[syntax.Condition | None]:
    """Return conditions that some token meets in every sentence that has a match."""
    match pattern:
        case syntax.Token(condition):
            return {condition}
        case syntax.Alternatives(parts):
            first, *others = map(required, parts)
            return first.intersection(*others)
        case syntax.Repetition(_, 0):
            return set()
        case syntax.Meet(part, negated=True):
            return required(part)
    return {one for part in syntax.children(pattern) for one in required(part)}


def _rows(pattern: syntax.Pattern, share: dict[syntax.Condition | None, float], length: float) -> float:
    """Return how many rows a sentence has on the average, at most."""
    if isinstance(pattern, syntax.Joined):
        return sum(_rows(part, share, length) for part in syntax.children(pattern)) or 1
    states = automaton(pattern)
    loops = {one for one, two in states.steps if one == two}
    rows = 0.0
    for number, symbol in enumerate(states.symbols):
        if isinstance(symbol, syntax.Token):
            found = share[symbol.condition]
            # What is in every other place makes long runs.
            rows += found * (length / 2 if number in loops and found > length / 2 else 1)
        else:
            rows += _rows(symbol, share, length)
    return rows
