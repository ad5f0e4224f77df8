"""Queries for the lines of a concordance, and the statement that defines them.

A context of tokens, sentences or paragraphs may cross the ends of sentences. Hits and contexts are then given
by positions in documents (`sentgen.lookups.base.statement`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.base.attributes import Key
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import (
    DOCUMENT,
    SENTENCE,
    Bindings,
    Extent,
    HitSource,
    Statement,
    any_row,
    document_tokens,
    expressions_text,
    limit_clause,
    only_expressions,
)
from sentgen.lookups.base.surface import LINE_COLUMNS, Surface
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.concordances.sorting import LineOrder
from sentgen.options import Option
from sentgen.schema.base import quote_identifier

if TYPE_CHECKING:
    from sentgen.arrays import Longs

#: The default context, and the words by which lines are sorted if contexts are no words.
WORDS = 15
#: The largest contexts on each side, in words, sentences and paragraphs.
_MOST_BESIDE = {"": 1000, "s": 100, "p": 100}
#: The tag of paragraphs.
PARAGRAPH = "p"
#: Behind the last token of every document.
_END = 2**31 - 1

WideContextOption = Annotated[
    int | str,
    Option(
        "Words on each side at most; or `1s`, the sentence of the hit, `2s`, with those before and after it,"
        " and so on; `1p`, `2p` for paragraphs.",
        metavar="N|Ns|Np",
    ),
]

#: Sentences, or paragraphs, as ranges of positions in documents.
_SENTENCES = """\
stretch as materialized (
  select start, before + 1 as first, before + length as last,
    row_number() over (partition by start order by id) as number
  from placed
  where length > 0
),
"""
_PARAGRAPHS = f"""\
stretch as materialized (
  select b.start, b.before + region.position as first, e.before + region.last_position as last,
    row_number() over (partition by b.start order by region.sentence_id, region.position, place) as number
  from region
  join placed as b on b.id = region.sentence_id
  join placed as e on e.id = region.last_sentence_id
  where region.kind = '{PARAGRAPH}'
),
"""
#: The first and the last token of the line of a hit; outside of all paragraphs, those of its sentence.
_SHOWN = f"""\
shown as (
  select hit.*,
    case when a.last >= hit.first then coalesce(x.first, 1) else c.before + 1 end as low,
    case when b.last >= hit.last then coalesce(y.last, {_END}) else d.before + d.length end as high
  from hit
  asof join placed as c on c.start = hit.sentence_id and c.before < hit.first
  asof join placed as d on d.start = hit.sentence_id and d.before < hit.last
  asof left join stretch as a on a.start = hit.sentence_id and a.first <= hit.first
  asof left join stretch as b on b.start = hit.sentence_id and b.first <= hit.last
  left join stretch as x on x.start = hit.sentence_id and x.number = a.number - $context + 1
  left join stretch as y on y.start = hit.sentence_id and y.number = b.number + $context - 1
),
"""


@dataclass(frozen=True, slots=True)
class LineContext:
    """The context on each side of a hit: a number of words, sentences (``s``) or paragraphs (``p``)."""

    size: int
    unit: str = ""

    @property
    def sorted_by(self) -> int:
        """The number of words beside a hit by which lines are sorted."""
        return WORDS if self.unit else self.size

    @classmethod
    def read(cls, given: int | str) -> LineContext:
        """Read ``10``, ``2s`` or ``1p``.

        Raises:
            InputError: the text is of no such form, or the context is too wide.
        """
        match = re.fullmatch(r"(\d{1,9})([sp]?)", str(given).strip())
        least = 1 if match and match[2] else 0
        if not match or int(match[1]) < least:
            raise InputError(
                f"{str(given)!r} is no context; write 10 for words, 2s for sentences, 1p for paragraphs"
            )
        size, unit = int(match[1]), match[2]
        if size > _MOST_BESIDE[unit]:
            raise InputError(
                f"a context has at most {_MOST_BESIDE[unit]}{unit} on each side; {given} is more"
            )
        return cls(size, unit)

    def check(self, connection: Connection) -> None:
        """Refuse paragraphs of a store whose sources mark none.

        Raises:
            NotFoundError: the store has no paragraphs.
        """
        if self.unit == PARAGRAPH and not any_row(connection, "region", [f"kind = '{PARAGRAPH}'"]):
            raise NotFoundError("no paragraphs here: no source marks any (p); write 2s for sentences")


_COUNT = """\
{parts}select {hits} as hits
from {source}"""

#: Hits drawn at random by a hash of the seed and their position, so that any way to find hits draws the same.
_DRAWN = """\
drawn as materialized (
  select *
  from {hits}
  order by list_reduce(
    [{seed}::bigint, sentence_id, first, last, 0, 0, 0],
    lambda h, x: xor((xor(h, h >> 16) * {factor}) & {mask}, x & {mask})
  ), sentence_id, first, last
  limit {sample}
),
"""
#: Hits in sentences converted to hits in documents, as words beside them may be in other sentences.
_WIDE = """\
wide as (
  select p.start as sentence_id, p.before + h.first as first, p.before + h.last as last
  from {hits} as h
  join placed as p on p.id = h.sentence_id
),
"""
_FIRST = """\
hit as materialized (
  select *
  from {hits}
  order by sentence_id, first, last{limit}
)"""
#: Columns that every line has before its words, and those of the words and their places.
_ALWAYS = ("corpus", "document", "sent_id")
_BY_PLACE = ("sentence_id", "first", "last")
_TAKEN = ("left", "node", "right", *_BY_PLACE)
#: The largest number of keys that are shown.
_MOST = 50
#: The columns with the position of the node.
_PLACE = ",\n  line.sentence_id, first, last"
#: An odd number that spreads bits well, below the half of what a bigint holds behind 32 bits.
_FACTOR, _MASK = 0x7FEB352D, 0xFFFFFFFF
#: The text that a line shows.
SHOWN_TEXT = """\
md5(
    concat_ws(chr(31), rtrim(coalesce("left", '')), rtrim(node), rtrim(coalesce("right", '')))
  ) as said"""
#: The first hit of those whose lines show the same text; the lines are computed in a scope of their own.
_ONCE = f"""\
once as (
  select sentence_id, first, last
  from (
{{lines}}select line.sentence_id, first, last,
  {SHOWN_TEXT}
from line
  )
  qualify row_number() over (partition by said order by sentence_id, first, last) = 1
),
"""
_DOCUMENTS = (
    "s.document_id in (select document_id from sentence where id in (select sentence_id from {table}))"
)


@dataclass(frozen=True, slots=True)
class LineQuery:
    """The query for a concordance.

    Args:
        shown: the keys of further columns, by the names of the columns.
        distinct: whether only the first line of those with the same text is kept.
        sample: number of hits that are drawn at random, 0 for all hits; ``seed``: of the random draw.
        placed: whether lines have columns with the position of the node.
    """

    connection: Connection
    selection: Selection
    pattern: Query
    context: LineContext
    order: LineOrder
    shown: Mapping[str, Key]
    distinct: bool = False
    sample: int = 0
    seed: int = 0
    placed: bool = False

    @property
    def wide(self) -> bool:
        """Whether contexts may cross the ends of sentences."""
        return self.pattern.across or bool(self.context.unit)

    @property
    def extent(self) -> Extent:
        """Whether positions of hits count from sentences or documents; of distinct lines, sentences."""
        return SENTENCE if self.distinct else self.pattern.extent

    @property
    def line_extent(self) -> Extent:
        """Whether positions count from sentences or documents while lines are sorted and computed."""
        return DOCUMENT if self.wide else SENTENCE

    def count(self) -> Statement:
        """Return the statement that counts the hits, up to the size of the sample."""
        bindings = Bindings()
        source = self._source(bindings)
        hits = f"least(count(*), {bindings.bind('sample', self.sample)})" if self.sample else "count(*)"
        parts = only_expressions(source.parts)
        return Statement(_COUNT.format(parts=parts, hits=hits, source=source.table), bindings)

    def lines(self, limit: int) -> Statement:
        """Return the statement for at most ``limit`` lines; 0 for all."""
        bindings = Bindings()
        text = self._line_tables(self._source(bindings), limit, bindings)
        return Statement(f"{text}{self._columns(bindings)}\norder by {self.order.by}", bindings)

    def shown_lines(self) -> Statement:
        """Return the statement for sorted lines, from a table ``line`` with their text and ``rank``."""
        bindings = Bindings()
        return Statement(f"{self._columns(bindings)}\norder by rank", bindings)

    def order_hits(self, table: str, limit: int) -> Statement:
        """Return the statement that sorts the hits of a table, and keeps the first ``limit``."""
        bindings = Bindings()
        hit = self.order.hits(table, self.line_extent, bindings, limit)
        text = f"with {self._document_tables(table)}{hit}\nselect *\nfrom hit\norder by rank"
        return Statement(text, bindings)

    def _columns(self, bindings: Bindings) -> str:
        reasons = "".join(f"\n  line.{name}," for name in self.order.reasons)
        # Without dollar signs, which begin parameters.
        columns = {quote_identifier(name.replace("$", "")): key for name, key in self.shown.items()}
        shown = "".join(
            f"\n  {key.value_at('sentence', 'line.first', bindings)} as {column},"
            for column, key in columns.items()
        )
        return LINE_COLUMNS.format(shown=shown + reasons, node="node", more=_PLACE if self.placed else "")

    def _source(self, bindings: Bindings) -> HitSource:
        """Return the hits that may be shown: all, or the first one of those with the same text."""
        source = self.pattern.source(bindings)
        if not self.distinct:
            return source
        lines = replace(self, order=LineOrder(), sample=0)._line_tables(source, 0, bindings)
        return HitSource("once", *_BY_PLACE, _ONCE.format(lines=lines))

    def _line_tables(self, source: HitSource, limit: int, bindings: Bindings) -> str:
        """Return the common table expressions up to ``line``, which has the words of the lines."""
        bindings["context"] = self.context.size
        text, hits = source.with_start, source.table
        if self.sample:
            seed, sample = bindings.bind("seed", self.seed & _MASK), bindings.bind("sample", self.sample)
            text += _DRAWN.format(hits=hits, seed=seed, sample=sample, factor=_FACTOR, mask=_MASK)
            hits = "drawn"
        if self.wide and source.extent is SENTENCE:
            text, hits = text + self._document_tables(hits) + _WIDE.format(hits=hits), "wide"
        if self.order.keys:
            text += self.order.hits(hits, self.line_extent, bindings, limit)
        else:
            text += _FIRST.format(hits=hits, limit=limit_clause(limit, bindings, "  "))
        more = ["rank", *self.order.reasons] if self.order.keys else []
        surface, extent = Surface.of_store(self.connection), self.line_extent
        if not self.context.unit:
            return f"{text},\n{surface.lines('hit', more, extent=extent)}"
        stretches = _SENTENCES if self.context.unit == "s" else _PARAGRAPHS
        lines = surface.lines("shown", more, extent=extent, low="hit.low", high="hit.high")
        return f"{text},\n{stretches}{_SHOWN}{lines}"

    def _document_tables(self, table: str) -> str:
        """Return the expressions for the documents of hits, if contexts may cross the ends of sentences."""
        return expressions_text(document_tokens([_DOCUMENTS.format(table=table)])) if self.wide else ""


def read_shown(given: Sequence[str], others: Collection[str] = ()) -> tuple[str, ...]:
    """Read names of keys, one each or several with commas between them; leave out what every line has.

    Raises:
        InputError: a name is empty or given twice, or is that of a column with words, or one of ``others``.
    """
    names = [name.strip() for listed in given for name in listed.split(",")]
    if not all(names) or len(set(names)) < len(names) or len(names) > _MOST:
        raise InputError(
            f"{', '.join(given)!r} has an empty key, or one twice, or more than {_MOST}; write keys as in"
            " genre,year"
        )
    if taken := [name for name in names if name in (*_TAKEN, *others)]:
        raise InputError(f"a line has a column {taken[0]!r} already; write meta.{taken[0]} for metadata")
    return tuple(name for name in names if name not in _ALWAYS)


def random_keys(seed: int, *columns: Longs) -> Longs:
    """Return a random number for each position: the hits with the smallest ones are drawn; see `_DRAWN`."""
    keys: Longs = columns[0] & 0 | (seed & _MASK)
    all_columns: tuple[Longs | int, ...] = (*columns, 0, 0, 0)
    for column in all_columns:
        keys = ((keys ^ keys >> 16) * _FACTOR & _MASK) ^ (column & _MASK)
    return keys
