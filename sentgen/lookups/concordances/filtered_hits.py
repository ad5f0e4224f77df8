"""Hits that went through filters: those near which other queries match, or do not.

A match is near if all of it lies in the window, on one side of the hit. Windows end at the sentence, or with
``across`` at the document. Each filter is a common table expression over the one before it, so that whatever
asks for hits gets those that are left: lines, counts, frequencies and collocations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue
from sentgen.lookups.attributes import Value
from sentgen.lookups.concordances.filters import HitFilter
from sentgen.lookups.concordances.hits import CqlHits, HitSource, ReadPattern, TokenHits, read_hits
from sentgen.lookups.concordances.places import SentenceNumbers, SentenceRange, sentences_of
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import Reading
from sentgen.lookups.languages import MOST_CONDITIONS
from sentgen.lookups.reach import DOCUMENT, Reach, placed
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement
from sentgen.output.wording import quantity

#: Of two letters at least: one letter with a star is more often meant as it is.
_STAR = re.compile(r"[^\W\d_]{2,}\*")

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
_ALL = """\
unfiltered as (
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {table}
),
"""
_NEAR = "select {start} as start, {low} as first, {high} as last\n  from {table}"
_JOIN = "\n    join placed as p on p.id = {sentence}"


@dataclass(frozen=True, slots=True)
class FilteredHits:
    """Hits that went through filters.

    Args:
        hits: all of them.
        filters: the filters, each with what it looks for.
    """

    hits: ReadPattern
    filters: Sequence[tuple[HitFilter, ReadPattern]]

    @property
    def most(self) -> int:
        """As many sentences as are searched at once for any of them."""
        return min(one.most for one in (self.hits, *(near for _, near in self.filters)))

    def at_once(self, sentences: int) -> bool:
        """Return whether one statement finds the hits in that many sentences, within bounded memory."""
        return self.hits.at_once(sentences) and sentences <= self.most

    def parts(self, connection: Connection, sentences: int) -> Iterator[SentenceRange]:
        """Yield parts of that many sentences, each ready to be searched until the next one."""
        for within in self.hits.parts(connection, sentences):
            yield from within.cut(self.most)

    @property
    def values(self) -> Sequence[QuestionValue]:
        """What it names."""
        needed = (value for one, near in self.filters if one.keeps for value in near.values)
        return [*self.hits.values, *needed]

    @property
    def one_token(self) -> bool:
        """Whether each hit is one token."""
        return self.hits.one_token

    @property
    def across(self) -> bool:
        """Whether what is asked of hits reaches over the ends of sentences."""
        return self.hits.across

    @property
    def reach(self) -> Reach:
        """How far hits reach."""
        return self.hits.reach

    def source(self, bindings: Bindings, within: SentenceRange | SentenceNumbers | None = None) -> HitSource:
        """Return where the hits come from."""
        source = self.hits.source(bindings, within)
        told = {"sentence": source.sentence, "first": source.first, "last": source.last}
        parts = source.parts + _ALL.format(table=source.table, **told)
        more, kept = self.chain("unfiltered", bindings, within)
        place = ("sentence_id", "first", "last")
        return HitSource(kept, *place, parts + more, varied=source.varied, reach=source.reach)

    def chain(
        self, hits: str, bindings: Bindings, within: SentenceRange | SentenceNumbers | None
    ) -> tuple[str, str]:
        """Return the common table expressions of the filters, and the name of that with what is left.

        Args:
            hits: the name of that with all hits.
            bindings: of the statement.
            within: the part of the store that is searched.
        """
        text = ""
        places = placed([f"s.id {within.part}"] if within is not None else [])
        shifted = self.across and self.reach is not DOCUMENT
        for number, (one, near) in enumerate(self.filters, 1):
            text += _STEP.format(
                number=number,
                near=self._near(near, bindings, within),
                placed=f"with {places}\n  " if shifted else "",
                join=_JOIN.format(sentence="h.sentence_id") if shifted else "",
                start="p.start" if shifted else "h.sentence_id",
                low="p.before + h.first" if shifted else "h.first",
                high="p.before + h.last" if shifted else "h.last",
                left=bindings.bind("left", one.size.left),
                right=bindings.bind("right", one.size.right),
                hits=hits,
                which="semi" if one.keeps else "anti",
            )
            hits = f"kept_{number}"
        return text, hits

    def _near(
        self, near: ReadPattern, bindings: Bindings, within: SentenceRange | SentenceNumbers | None
    ) -> str:
        """Return the query for what is looked for, as places in sentences, or across in documents."""
        # A range whose hits were walked is one that is not, for another query.
        if isinstance(within, SentenceRange):
            within = SentenceRange(within.low, within.high, within.starts)
        source = near.source(bindings, within)
        table, first, last = source.table, source.first, source.last
        if not self.across or source.reach is DOCUMENT:
            told = _NEAR.format(start=source.sentence, low=first, high=last, table=table)
            return f"{source.alone}{told}"
        places = placed([f"s.id {within.part}"] if within is not None else [])
        found = (
            f"(select {source.sentence} as sentence_id, {first} as first, {last} as last from {table}) as f"
        )
        told = _NEAR.format(
            start="p.start",
            low="p.before + f.first",
            high="p.before + f.last",
            table=found + _JOIN.format(sentence="f.sentence_id"),
        )
        return f"{source.beginning}{places}\n{told}"

    def told(self, connection: Connection) -> tuple[str, ...]:
        """Say of each filter how many hits it has left."""
        sentences = sentences_of(connection)
        parts: list[SentenceRange | None] = [None]
        names = ["unfiltered", *(f"kept_{number}" for number in range(1, len(self.filters) + 1))]
        counts = [0] * len(names)
        for within in parts if self.at_once(sentences) else self.parts(connection, sentences):
            bindings = Bindings()
            source = self.source(bindings, within)
            columns = ", ".join(f"(select count(*) from {name})" for name in names)
            row = Statement(f"{source.alone}select [{columns}]", bindings).value(connection)
            counts = [sum(pair) for pair in zip(counts, row, strict=True)]
        return tuple(
            f"{one} leaves {after:,} of {quantity(before, 'hit')}"
            for (one, _), before, after in zip(self.filters, counts, counts[1:], strict=False)
        )


def filtered(
    connection: Connection,
    hits: ReadPattern,
    filters: Sequence[HitFilter],
    selection: Selection,
    reading: Reading,
) -> ReadPattern:
    """Return the hits that are left by filters, whose queries are read as that of the hits is.

    Raises:
        InputError: a query of a filter cannot be read, or matches everywhere, or they are too large.
    """
    if not filters:
        return hits
    near = [read_hits(connection, one.query, selection, reading=reading, surface=True) for one in filters]
    if sum(map(_conditions, (hits, *near))) > MOST_CONDITIONS:
        raise InputError(
            f"a query and its filters have {MOST_CONDITIONS} conditions at most, all together; write values"
            " as alternatives, or leave filters out"
        )
    return FilteredHits(hits, list(zip(filters, near, strict=True)))


def _conditions(hits: ReadPattern) -> int:
    """Return how many conditions a query has, or tokens a pattern: they become parts of one statement."""
    if isinstance(hits, CqlHits):
        return sum(len(list(syntax.comparisons(one))) for one in syntax.conditions(hits.cql.pattern))
    return len(hits.tokens) if isinstance(hits, TokenHits) else 0


def steps(connection: Connection, hits: ReadPattern) -> tuple[str, ...]:
    """Say of each filter how many hits it leaves, and of stars what they do not mean."""
    told: tuple[str, ...] = ()
    every = hits
    if isinstance(hits, FilteredHits):
        told, every = hits.told(connection), hits.hits
    return (*told, *_stars(every.cql.pattern)) if isinstance(every, CqlHits) else told


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
