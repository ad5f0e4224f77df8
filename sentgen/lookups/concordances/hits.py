"""The hits of a pattern of tokens, or of CQL, for concordances, frequency lists and collocations.

Filters are applied in order: each keeps the hits that have, or lack, a match of another query in a window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.attributes import Value
from sentgen.lookups.base.languages import MOST_CONDITIONS
from sentgen.lookups.base.patterns import TokenPattern
from sentgen.lookups.base.question import Lookup
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import (
    DOCUMENT,
    Bindings,
    Extent,
    HitSource,
    document_tokens,
    expressions_text,
    only_expressions,
)
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import (
    AS_USUAL,
    AcrossOption,
    Dialect,
    DialectOption,
    Reading,
    StrategyOption,
)
from sentgen.lookups.cql.search import Cql, is_cql, token_of
from sentgen.lookups.search.absence import QuestionValue
from sentgen.options import NOT, Option
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    from sentgen.lookups.search.hits import BlockHits


#: Windows: `L2-R4`, of which one side may be missing; `2L` and `4R` for one side; `2,4`, or `3` for both.
_SIDES = re.compile(r"L(\d+)(?:-R(\d+))?|R(\d+)", re.IGNORECASE | re.ASCII)
_SIDE = re.compile(r"(\d+)([LR])", re.IGNORECASE | re.ASCII)
_NUMBERS = re.compile(r"(\d+)\s*(?:,\s*(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens before and after a hit."""

    left: int
    right: int

    @classmethod
    def read(cls, text: str) -> Window:
        """Read ``L2-R4``, or ``2,4`` for the same; ``L2`` or ``2L``, ``R4`` or ``4R``, ``5`` for both sides.

        Raises:
            InputError: the text is empty, or of no such form.
        """
        given = text.strip()
        if side := _SIDE.fullmatch(given):
            given = side[2] + side[1]
        if sides := _SIDES.fullmatch(given):
            window = cls(int(sides[1] or 0), int(sides[2] or sides[3] or 0))
        elif numbers := _NUMBERS.fullmatch(given):
            window = cls(int(numbers[1]), int(numbers[2] or numbers[1]))
        else:
            raise InputError(
                f"{text!r} is no window; write 5, or L5-R2 (or 5,2) for five words before and two after"
            )
        if not (window.left or window.right):
            raise InputError("a window of no words holds nothing; write 5, or L5-R2")
        return window


#: The default window: tokens on each side.
_USUAL = "5"
#: The largest window in tokens on a side, and the largest number of filters.
_LARGEST_WINDOW, _MOST_FILTERS = 100, 20

FilterOption = Annotated[
    list[str],
    Option(
        "Only hits near which this matches, a pattern or CQL; several, one after the other.",
        shell="Only hits near which this matches, a pattern or CQL; may be repeated.",
        metavar="QUERY",
        api={"max_length": _MOST_FILTERS},
    ),
]
WithinOption = Annotated[
    list[str],
    Option(
        "How near, of each filter or of all: `5` tokens on each side (if none is given), `3L`, `2R`, `L3-R2`;"
        " `not 3L` drops the hits instead.",
        shell="How near, of each filter or of all: `5` tokens on each side (the default), `3L`, `2R`,"
        " `L3-R2`; --without drops the hits instead. May be repeated.",
        metavar="WINDOW",
        off="--without",
        api={"max_length": _MOST_FILTERS},
    ),
]


@dataclass(frozen=True, slots=True)
class HitFilter:
    """A filter of hits by a query that matches near them.

    Args:
        window: the window as it was written.
        size: the window in tokens before and behind a hit; a match must lie on one side as a whole.
        keeps: whether hits with a match are kept; else hits without one are.
    """

    query: str
    window: str
    size: Window
    keeps: bool

    def __str__(self) -> str:
        return f"{self.query} {'within' if self.keeps else 'without'} {self.window}"


def _read_filters(queries: Sequence[str], windows: Sequence[str]) -> tuple[HitFilter, ...]:
    """Read filters with their windows: one window for all of them, or one for each."""
    if not queries and windows:
        raise InputError(
            f"{spell('within')} says how near a filter matches; give {spell('filter')} QUERY, too"
        )
    if len(queries) > _MOST_FILTERS:
        raise InputError(f"hits go through {_MOST_FILTERS} filters at most; there are {len(queries)}")
    if len(windows) not in (0, 1, len(queries)):
        raise InputError(
            f"{quantity(len(queries), 'filter')} and {len(windows)} windows;"
            f" give {spell('within')} once for all, or once for each"
        )
    if not all(query.strip() for query in queries):
        raise InputError("a filter is empty; write a pattern, or a query in CQL")
    every = windows if len(windows) == len(queries) else [*(windows or [_USUAL])] * len(queries)
    return tuple(_filter(query, window) for query, window in zip(queries, every, strict=True))


def _filter(query: str, given: str) -> HitFilter:
    text = given.strip()
    window = text.removeprefix(NOT).strip()
    size = Window.read(window)
    if max(size.left, size.right) > _LARGEST_WINDOW:
        raise InputError(f"a filter looks {_LARGEST_WINDOW} tokens far at most; {given!r} is more")
    return HitFilter(query, window, size, keeps=window == text)


#: A star behind two letters or more: behind a single letter it is more often meant as in CQL.
_STAR = re.compile(r"[^\W\d_]{2,}\*")

#: A match is near if all of it lies in the window, on one side of the hit. The query of the filter has a
#: scope of its own, as it names its tables as the query of the hits does.
_STEP = """\
near_{number} as materialized (
  {near}
),
met_{number} as (
  {placed}select distinct b.sentence_id, b.first, b.last
  from (
    select *, unnest(list_concat(range(low - {left}, low), range(high + 1, high + 1 + {right}))) as place
    from (
{hits}
    )
  ) as b
  join near_{number} as n on n.start = b.start and n.low = b.place
    and n.high <= case when b.place < b.low then b.low - 1 else b.high + {right} end
),
kept_{number} as (
  select h.*
  from {kept} as h
  {which} join met_{number} using (sentence_id, first, last)
),
"""
#: The hits with their positions in the unit, sentence or document, at whose ends windows end.
_SPOTS = "  select *, sentence_id as start, first as low, last as high\n  from {hits}"
_SPOTS_ACROSS = """\
  select h.*, p.start, p.before + h.first as low, p.before + h.last as high
  from {hits} as h
  join placed as p on p.id = h.sentence_id"""


@dataclass(frozen=True, slots=True)
class Query:
    """A pattern or a query that was read, with the filters of its hits.

    Args:
        cql: the query.
        values: the values that the query names, for messages on those that never occur.
        across: whether windows and contexts cross the ends of sentences, even if no hit does.
        filters: the filters, each with its query.
        written: whether the query was written in CQL.

    Attributes:
        left: number of hits without filters, and after each filter; empty before all were found.
    """

    cql: Cql
    values: Sequence[QuestionValue]
    across: bool = False
    filters: Sequence[tuple[HitFilter, Query]] = ()
    written: bool = False
    left: list[int] = field(init=False, compare=False, default_factory=list)

    @property
    def extent(self) -> Extent:
        """Whether hits lie within sentences or documents."""
        return self.cql.extent

    @property
    def one_token(self) -> bool:
        """Whether each hit is one token."""
        return self.cql.pattern.is_one_token

    def find(self, connection: Connection) -> Iterator[BlockHits]:
        """Yield the hits, block by block."""
        from sentgen.lookups.search.search import QuerySearch

        search = QuerySearch(connection, self)
        yield from search.find()
        self.left[:] = search.left

    def source(self, bindings: Bindings) -> HitSource:
        """Return the source of the hits in a statement, which defines them."""
        source = self.cql.find(bindings)
        hits, parts = source.table, source.parts
        for number, (hit_filter, near) in enumerate(self.filters, 1):
            parts += self._step(number, hit_filter, near, hits, bindings)
            hits = f"kept_{number}"
        # Without labels, the table of matches is that of the hits.
        match = hits if source.match == source.table else source.match
        return replace(source, table=hits, parts=parts, match=match)

    @classmethod
    def read(
        cls,
        connection: Connection,
        pattern: str,
        selection: Selection,
        *,
        cql: str | None = None,
        reading: Reading = AS_USUAL,
        by: Sequence[syntax.Term] = (),
    ) -> Query:
        """Read a pattern, or a query in CQL.

        Args:
            pattern: the pattern; it is read as CQL if it can be nothing else.
            cql: the query in CQL, instead of a pattern.
            reading: how CQL is read.
            by: attributes by which hits are grouped, which are checked as well.

        Raises:
            InputError: the query cannot be read, or the pattern matches everywhere.
        """
        if cql is None and (is_cql(pattern) or reading.dialect is not Dialect.SENTGEN):
            cql = pattern
        if cql is not None:
            read = Cql.read(connection, cql, selection, reading, by)
            return cls(read, [QuestionValue(*value) for value in read.values], reading.reaches, written=True)
        tokens = TokenPattern.read_all(connection, pattern, selection)
        sequence = tuple(map(token_of, tokens))
        parsed = syntax.Sequence(sequence) if len(sequence) > 1 else sequence[0]
        read = Cql.of_pattern(connection, pattern, parsed, selection, reading, by)
        return cls(read, list(map(QuestionValue.of_token, tokens)), reading.reaches)

    def steps(self, connection: Connection) -> tuple[str, ...]:
        """Return remarks: how many hits each filter leaves, and which stars may be misread."""
        if self.filters and not self.left:
            for _ in self.find(connection):
                pass
        left = zip(self.filters, self.left, self.left[1:], strict=False)
        remarks = [
            f"{each} leaves {after:,} of {quantity(before, 'hit')}" for (each, _), before, after in left
        ]
        return (*remarks, *(_stars(self.cql.pattern) if self.written else ()))

    def _step(self, number: int, hit_filter: HitFilter, near: Query, hits: str, bindings: Bindings) -> str:
        source = near.source(bindings)
        there_near, spots_near = self._spots(source.table, source.extent)
        there, spots = self._spots(hits, self.extent)
        return _STEP.format(
            number=number,
            near=only_expressions(source.parts + there_near) + spots_near,
            placed=only_expressions(there),
            left=bindings.bind("left", hit_filter.size.left),
            right=bindings.bind("right", hit_filter.size.right),
            hits=spots,
            kept=hits,
            which="semi" if hit_filter.keeps else "anti",
        )

    def _spots(self, hits: str, extent: Extent) -> tuple[str, str]:
        """Return expressions on sentences, and a query for hits with positions in the units of windows."""
        if self.across and extent is not DOCUMENT:
            return expressions_text(document_tokens()[:1]), _SPOTS_ACROSS.format(hits=hits)
        return "", _SPOTS.format(hits=hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class HitLookup(Lookup):
    """A question about the hits of a pattern or a query, with the options for how it is read."""

    LAST: ClassVar[tuple[str, ...]] = ("filter", "within", "strategy", "dialect", "across", *Lookup.LAST)

    filter: FilterOption = field(default_factory=list)
    within: WithinOption = field(default_factory=list)
    strategy: StrategyOption = None
    dialect: DialectOption = Dialect.SENTGEN
    across: AcrossOption = False

    def __post_init__(self) -> None:
        _read_filters(self.filter, self.within)

    @property
    def reading(self) -> Reading:
        """How a query is read."""
        return Reading(self.dialect, self.strategy, self.across)

    def with_filters(self, connection: Connection, query: Query, selection: Selection) -> Query:
        """Return a query with its filters, whose queries are read in the same way.

        Raises:
            InputError: the query of a filter cannot be read or matches everywhere, or filters are too large.
        """
        if not (filters := _read_filters(self.filter, self.within)):
            return query
        near = [Query.read(connection, each.query, selection, reading=self.reading) for each in filters]
        # All conditions become parts of one statement.
        if sum(len(each.cql.pattern.comparisons) for each in (query, *near)) > MOST_CONDITIONS:
            raise InputError(
                f"a query and its filters have {MOST_CONDITIONS} conditions at most, all together; write"
                " values as alternatives, or leave filters out"
            )
        pairs = tuple(zip(filters, near, strict=True))
        needed = [value for each, other in pairs if each.keeps for value in other.values]
        return replace(query, filters=pairs, values=[*query.values, *needed])


def _stars(pattern: syntax.Pattern) -> Iterator[str]:
    """Return remarks on values such as ``do*``, which mean other words in CQL than in a word pattern."""
    for value in dict.fromkeys(comparison.right for comparison in pattern.comparisons):
        for text in value.texts if isinstance(value, Value) and value.regex else ():
            if _STAR.fullmatch(text):
                begin, letter = text[:-2], text[-2]
                yield (
                    f'"{text}" is {begin} and any number of {letter};'
                    f' what begins with {text[:-1]} is "{text[:-1]}.*"'
                )
