"""Hits that go through filters: those near which other queries match, or do not; and what is said of them.

A match is near if all of it lies in the window, on one side of the hit. Windows end at the sentence, or with
``across`` at the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.attributes import Value
from sentgen.lookups.concordances.filters import HitFilter
from sentgen.lookups.concordances.hits import Query, read_query
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import Reading
from sentgen.lookups.languages import MOST_CONDITIONS
from sentgen.lookups.selection import Selection
from sentgen.output.wording import quantity

#: Of two letters at least: one letter with a star is more often meant as it is.
_STAR = re.compile(r"[^\W\d_]{2,}\*")


def filtered(
    connection: Connection,
    query: Query,
    filters: Sequence[HitFilter],
    selection: Selection,
    reading: Reading,
) -> Query:
    """Return a query with filters, whose queries are read as it is.

    Raises:
        InputError: a query of a filter cannot be read, or matches everywhere, or they are too large.
    """
    if not filters:
        return query
    near = [read_query(connection, one.query, selection, reading=reading) for one in filters]
    if sum(map(_conditions, (query, *near))) > MOST_CONDITIONS:
        raise InputError(
            f"a query and its filters have {MOST_CONDITIONS} conditions at most, all together; write values"
            " as alternatives, or leave filters out"
        )
    needed = [value for one, other in zip(filters, near, strict=True) if one.keeps for value in other.values]
    pairs = tuple(zip(filters, near, strict=True))
    return replace(query, filters=pairs, values=[*query.values, *needed])


def _conditions(query: Query) -> int:
    """Return how many conditions a query has: they become parts of one statement."""
    return sum(len(syntax.comparisons(one)) for one in syntax.conditions(query.cql.pattern))


def steps(connection: Connection, query: Query) -> tuple[str, ...]:
    """Say of each filter how many hits it leaves, and of stars what they do not mean."""
    told = tuple(_left(connection, query)) if query.filters else ()
    return (*told, *_stars(query.cql.pattern)) if query.written else told


def _left(connection: Connection, query: Query) -> Iterator[str]:
    from sentgen.lookups.search.search import QuerySearch

    search = QuerySearch(connection, query)
    for _ in search.find():
        pass
    for (one, _), before, after in zip(query.filters, search.left, search.left[1:], strict=False):
        yield f"{one} leaves {after:,} of {quantity(before, 'hit')}"


def _stars(pattern: syntax.Pattern) -> Iterator[str]:
    """Say of values such as ``do*``, which would be other words as a word pattern, what they are."""
    comparisons = (one for condition in syntax.conditions(pattern) for one in syntax.comparisons(condition))
    for value in dict.fromkeys(one.right for one in comparisons):
        for text in value.texts if isinstance(value, Value) and value.regex else ():
            if _STAR.fullmatch(text):
                begin, letter = text[:-2], text[-2]
                yield (
                    f'"{text}" is {begin} and any number of {letter};'
                    f' what begins with {text[:-1]} is "{text[:-1]}.*"'
                )
