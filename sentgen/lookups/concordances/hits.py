"""What a concordance, a frequency list or collocations are asked of: a pattern of tokens, or CQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue, values_of
from sentgen.lookups.concordances.filters import FilterOption, HitFilter, WithinOption, read_filters
from sentgen.lookups.concordances.places import SentenceRange
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import (
    AS_USUAL,
    AcrossOption,
    Dialect,
    DialectOption,
    Reading,
    StrategyOption,
)
from sentgen.lookups.cql.search import Cql, is_cql, parse_cql, query_of, token_of
from sentgen.lookups.cql.spans import CqlMatches
from sentgen.lookups.patterns import TokenPattern, split_pattern, tag_query, token_pattern, word_query
from sentgen.lookups.question import Lookup
from sentgen.lookups.reach import DOCUMENT, SENTENCE, Reach, placed, running, starts_of, written
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings
from sentgen.schema.engine import raw, registered

if TYPE_CHECKING:
    from sentgen.lookups.search.hits import BlockHits

#: Each token of a pattern is a join: DuckDB took seconds for ten thousand of them on an empty store.
MOST_TOKENS = 50

#: Names of what is looked for near hits stand in a scope of its own: its query has the same ones.
_STEP = """\
near_{number} as materialized (
  {near}
),
met_{number} as (
  {placed}select distinct b.sentence_id, b.first, b.last
  from (
    select h.sentence_id, h.first, h.last, {start} as start, {low} as low, {high} as high,
      unnest(list_concat(range({low} - {left}, {low}), range({high} + 1, {high} + 1 + {right}))) as place
    from {hits} as h{join}
  ) as b
  join near_{number} as n on n.start = b.start and n.first = b.place
    and n.last <= case when b.place < b.low then b.low - 1 else b.high + {right} end
),
kept_{number} as (
  select h.sentence_id, h.first, h.last
  from {hits} as h
  {which} join met_{number} using (sentence_id, first, last)
),
"""
_NEAR = "select {start} as start, {low} as first, {high} as last\n  from {table}"
_JOIN = "\n    join placed as p on p.id = {sentence}"
#: Tables of the hits of a part of the store, and of each way to place the labels of the query in them.
_FOUND, _WAYS = "found_hits", "found_ways"
#: No sentence has the number 0.
_NOWHERE = SentenceRange(0, 0)


@dataclass(frozen=True, slots=True)
class HitSource:
    """Where hits come from in a statement.

    Args:
        table: what follows ``from``.
        sentence: the number of the sentence.
        first: the position of the first token.
        last: the position of the last one.
        parts: common table expressions before it, each with a comma and a line feed behind it.
        reach: how far hits reach, and so what they are counted from.
    """

    table: str
    sentence: str
    first: str
    last: str
    parts: str = ""
    reach: Reach = SENTENCE

    @property
    def beginning(self) -> str:
        """What a statement begins with that has a common table expression after these."""
        return f"with recursive {self.parts}" if self.parts else "with "

    @property
    def alone(self) -> str:
        """What a statement begins with that has no others."""
        return f"with recursive {self.parts.rstrip().rstrip(',')}\n" if self.parts else ""


class FoundHits(SentenceRange):
    """Sentences whose hits are known, and lent to the connection as tables."""


@dataclass(frozen=True, slots=True)
class Query:
    """A pattern or a query that was read, with what has to stand near its hits.

    Args:
        cql: the query.
        values: what it names, to say what of it never occurs.
        across: whether what is asked of hits reaches over the ends of sentences; some hits need not.
        filters: the filters, each with what it looks for.
        written: whether it was written in CQL.
    """

    cql: Cql
    values: Sequence[QuestionValue]
    across: bool = False
    filters: Sequence[tuple[HitFilter, Query]] = ()
    written: bool = False

    @property
    def reach(self) -> Reach:
        """How far hits reach."""
        return self.cql.reach

    @property
    def one_token(self) -> bool:
        """Whether each hit is one token."""
        return syntax.one_token(self.cql.pattern)

    def find(self, connection: Connection) -> Iterator[BlockHits]:
        """Yield the hits, those of a block of tokens at a time."""
        from sentgen.lookups.search.search import QuerySearch

        yield from QuerySearch(connection, self).find()

    def parts(self, connection: Connection) -> Iterator[SentenceRange]:
        """Yield parts of the store with hits, lent to the connection until the next one; one at least."""
        starts = starts_of(connection) if self.across else ()
        within = None
        for hits in self.find(connection):
            within = FoundHits(hits.block.low, hits.block.high, starts)
            found, ways = hits.rows(self.reach), hits.rows_of_ways(self.reach, self.labels)
            with registered(raw(connection), **{_FOUND: found, _WAYS: ways}):
                yield within
        if within is None:
            yield _NOWHERE

    @property
    def labels(self) -> dict[str, str]:
        """Label to its column among the ways to place labels."""
        return {label: f"label_{number}" for number, label in enumerate(self.cql.labels, 1)}

    def source(self, bindings: Bindings, within: SentenceRange | None = None) -> HitSource:
        """Return where the hits come from: those found in a part of the store, or the definition."""
        found = self.found(bindings, within)
        place = ("sentence_id", "first", "last")
        return HitSource(found.hits, *place, found.parts, reach=self.reach)

    def found(self, bindings: Bindings, within: SentenceRange | None = None) -> CqlMatches:
        """Return the hits, with the places of labels."""
        if within is not None:
            # What goes on with hits of documents reads the tokens of these.
            parts = written(running([f"s.id {within.part}"])) if self.reach is DOCUMENT else ""
            if isinstance(within, FoundHits):
                return CqlMatches(parts, _FOUND, _WAYS, self.labels)
            places = ["first", "last", *self.labels.values()]
            nothing = f"select 0::bigint as sentence_id, {', '.join(f'0 as {one}' for one in places)}"
            none = f"({nothing} where false)"
            return CqlMatches(parts, none, none, self.labels)
        found = self.cql.find(bindings)
        parts, kept = found.parts, found.hits
        for number, (one, near) in enumerate(self.filters, 1):
            parts += self._step(number, one, near, kept, bindings)
            kept = f"kept_{number}"
        # Where nothing has labels, what matched is the same as the hits.
        match = kept if found.match == found.hits else found.match
        return CqlMatches(parts, kept, match, found.labels)

    def _step(self, number: int, one: HitFilter, near: Query, hits: str, bindings: Bindings) -> str:
        """Return the common table expressions of a filter over the hits before it."""
        shifted = self.across and self.reach is not DOCUMENT
        return _STEP.format(
            number=number,
            near=self._near(near, bindings),
            placed=f"with {placed()}\n  " if shifted else "",
            join=_JOIN.format(sentence="h.sentence_id") if shifted else "",
            start="p.start" if shifted else "h.sentence_id",
            low="p.before + h.first" if shifted else "h.first",
            high="p.before + h.last" if shifted else "h.last",
            left=bindings.bind("left", one.size.left),
            right=bindings.bind("right", one.size.right),
            hits=hits,
            which="semi" if one.keeps else "anti",
        )

    def _near(self, near: Query, bindings: Bindings) -> str:
        """Return the query for what is looked for, as places in sentences, or across in documents."""
        source = near.source(bindings)
        table, first, last = source.table, source.first, source.last
        if not self.across or source.reach is DOCUMENT:
            told = _NEAR.format(start=source.sentence, low=first, high=last, table=table)
            return f"{source.alone}{told}"
        found = (
            f"(select {source.sentence} as sentence_id, {first} as first, {last} as last from {table}) as f"
        )
        told = _NEAR.format(
            start="p.start",
            low="p.before + f.first",
            high="p.before + f.last",
            table=found + _JOIN.format(sentence="f.sentence_id"),
        )
        return f"{source.beginning}{placed()}\n{told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HitLookup(Lookup):
    """A question about the hits of a pattern or a query: how these are read."""

    LAST: ClassVar[tuple[str, ...]] = ("filter", "within", "strategy", "dialect", "across", *Lookup.LAST)

    filter: FilterOption = field(default_factory=list)
    within: WithinOption = field(default_factory=list)
    strategy: StrategyOption = None
    dialect: DialectOption = Dialect.SENTGEN
    across: AcrossOption = False

    def __post_init__(self) -> None:
        read_filters(self.filter, self.within)

    @property
    def filters(self) -> tuple[HitFilter, ...]:
        """What has to stand near the hits, or must not."""
        return read_filters(self.filter, self.within)

    @property
    def reading(self) -> Reading:
        """How a query is read."""
        return Reading(self.dialect, self.strategy, self.across)


def read_query(
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
        connection: the store.
        pattern: the pattern; a query if it can only be one.
        selection: the corpora.
        cql: the query, instead of a pattern.
        reading: how it is read.
        by: attributes that hits are told apart by, which are checked as well.

    Raises:
        InputError: it cannot be read, or the pattern is one that matches everywhere.
    """
    if cql is None and (is_cql(pattern) or reading.dialect is not Dialect.SENTGEN):
        cql = pattern
    if cql is not None:
        read = parse_cql(connection, cql, selection, reading, by)
        return Query(read, [QuestionValue(*one) for one in read.values], reading.reaches, written=True)
    tokens = read_pattern(connection, pattern, selection)
    sequence = tuple(map(token_of, tokens))
    parsed = syntax.Sequence(sequence) if len(sequence) > 1 else sequence[0]
    read = query_of(connection, pattern, parsed, selection, reading, by)
    return Query(read, values_of(tokens), reading.reaches)


def read_pattern(connection: Connection, pattern: str, selection: Selection) -> list[TokenPattern]:
    """Read a pattern of tokens.

    Raises:
        InputError: it is empty or too long, names an attribute that there is not, or every token matches it.
    """

    def is_tag(text: str) -> bool:
        return tag_query(text).value(connection) is not None

    def is_word(text: str) -> bool:
        return word_query(text, selection).value(connection) is not None

    words = split_pattern(pattern, most=MOST_TOKENS)
    tokens = [token_pattern(text, selection, is_tag, is_word) for text in words]
    if all(token.free for token in tokens):
        raise InputError("a pattern of stars alone matches everywhere; give at least one word, tag or lemma")
    return tokens
