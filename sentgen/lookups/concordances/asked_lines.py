"""Lines of a concordance that are asked for, and the statement that defines them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.lookups.concordances.contexts import CARRIED, LineContext, wide_lines
from sentgen.lookups.concordances.hits import HitSource, Query
from sentgen.lookups.concordances.shown import Shown
from sentgen.lookups.concordances.sorting import LineOrder
from sentgen.lookups.concordances.surface import LINE_COLUMNS, surface_of
from sentgen.lookups.reach import SENTENCE, Reach, running, written
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement, limit_clause

_COUNT = """\
{parts}select {hits} as hits
from {source}"""

_LINES = """\
line as (
  select hit.sentence_id, hit.first, hit.last,{carried}
    {columns}
  from hit
  join token as c on c.sentence_id = hit.sentence_id
    and c.position between hit.first - $context and hit.last + $context
  join word on word.id = c.word_id{surface}
  group by hit.sentence_id, hit.first, hit.last
)
"""
#: All hits that are put in order, or of these some drawn at random.
_EVERY = """\
every as {kept}(
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {source}{drawn}
),
"""
_FIRST = """\
hit as materialized (
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {source}
  order by {order}{limit}
)"""
#: Where the node of a line is.
_PLACE = ",\n  line.sentence_id, first, last"
_BY_PLACE = ("sentence_id", "first", "last")
#: A hash of the place: the same hits for a seed, however they are found.
_DRAWN = """
  order by md5(concat_ws(':', {seed}, {place})), {place}
  limit {sample}"""
#: What lines show, in a scope of its own: names of what is around it come again.
_TOLD = """\
told as materialized (
{lines}
),
"""
#: What a line shows.
SAID = """\
md5(
    concat_ws(chr(31), rtrim(coalesce("left", '')), rtrim(node), rtrim(coalesce("right", '')))
  ) as said"""
_SAID = f"""\
select line.sentence_id, first, last,
  {SAID}
from line"""
_FIRST_OF_EACH = """\
select sentence_id, first, last from told
  qualify row_number() over (partition by said order by sentence_id, first, last) = 1"""
_DOCUMENTS = (
    "s.document_id in (select document_id from sentence where id in (select sentence_id from {table}))"
)


@dataclass(frozen=True, slots=True)
class AskedLines:
    """A concordance that is asked for.

    Args:
        connection: the store.
        selection: the corpora.
        pattern: what is looked for.
        context: what is shown beside it.
        order: what lines are put in order by.
        shown: columns before their words.
        distinct: whether of lines that show the same only the first one is meant.
        sample: how many hits are drawn at random, if some are, and ``seed``: by which number.
        placed: whether the place of the node is told.
    """

    connection: Connection
    selection: Selection
    pattern: Query
    context: LineContext
    order: LineOrder
    shown: Shown
    distinct: bool = False
    sample: int = 0
    seed: int = 0
    placed: bool = False

    @property
    def wide(self) -> bool:
        """Whether contexts go over the ends of sentences."""
        return self.pattern.across or bool(self.context.unit)

    @property
    def reach(self) -> Reach:
        """How far hits reach that are put in order: lines count from the sentence of their first token."""
        return SENTENCE if self.distinct else self.pattern.reach

    def count(self) -> Statement:
        """Return the statement that counts the hits, up to the number of those that are drawn."""
        bindings = Bindings()
        source = self._source(bindings)
        hits = f"least(count(*), {bindings.bind('sample', self.sample)})" if self.sample else "count(*)"
        return Statement(_COUNT.format(parts=source.alone, hits=hits, source=source.table), bindings)

    def lines(self, limit: int) -> Statement:
        """Return the statement for the lines, ``limit`` at most; 0 for all."""
        bindings = Bindings()
        text = self._made(self._source(bindings), limit, bindings)
        return Statement(f"{text}{self._columns(bindings)}\norder by {self.order.by}", bindings)

    def named(self) -> Statement:
        """Return the statement for lines in their order, of a table ``line`` with their text and ``rank``."""
        bindings = Bindings()
        return Statement(f"{self._columns(bindings)}\norder by rank", bindings)

    def ordered(self, table: str, limit: int) -> Statement:
        """Return the statement that puts the hits of a table in order, of which the first ones are kept."""
        bindings = Bindings()
        beginning = "with " + (written(running([_DOCUMENTS.format(table=table)])) if self.wide else "")
        hit = self.order.hits(table, self.reach, bindings, limit, wide=self.wide)
        return Statement(f"{beginning}{hit}\nselect *\nfrom hit\norder by rank", bindings)

    def drawn(self, table: str) -> Statement:
        """Return the statement that draws some hits of a table at random."""
        bindings = Bindings()
        return Statement(f"select *\nfrom {table}{self._draw(bindings, ', '.join(_BY_PLACE))}", bindings)

    def _columns(self, bindings: Bindings) -> str:
        reasons = "".join(f"\n  line.{name}," for name in self.order.reasons)
        return LINE_COLUMNS.format(
            shown=self.shown.columns(bindings) + reasons, node="node", more=_PLACE if self.placed else ""
        )

    def _source(self, bindings: Bindings) -> HitSource:
        """Return the hits that may be shown."""
        source = self.pattern.source(bindings)
        return self._once(source, bindings) if self.distinct else source

    def _made(self, source: HitSource, limit: int, bindings: Bindings) -> str:
        """Return the common table expressions up to ``line``, which has the words of the lines."""
        bindings["context"] = self.context.size
        surface = surface_of(self.connection)
        text = source.beginning + self._chosen(source, limit, bindings) + ",\n"
        carried = ["rank", *self.order.reasons] if self.order.keys else []
        if self.wide:
            placed_already = source.reach is not SENTENCE or bool(self.order.keys)
            return text + wide_lines(
                source.reach, self.context, surface, bindings, carried=carried, placed_already=placed_already
            )
        return text + _LINES.format(
            carried="".join(CARRIED.format(name=name) for name in carried),
            columns=surface.columns("hit.first", "hit.last", "hit.first - $context"),
            surface=surface.join,
        )

    def _once(self, source: HitSource, bindings: Bindings) -> HitSource:
        """Return the hits whose lines show what none before them does."""
        told = replace(self, order=LineOrder(), sample=0)._made(source, 0, bindings)
        parts = _TOLD.format(lines=f"{told}{_SAID}")
        return HitSource(f"({_FIRST_OF_EACH}) as once", *_BY_PLACE, parts)

    def _chosen(self, source: HitSource, limit: int, bindings: Bindings) -> str:
        """Return the common table expressions up to ``hit``, which has the hits that are shown."""
        told = {
            "sentence": source.sentence,
            "first": source.first,
            "last": source.last,
            "source": source.table,
        }
        place = f"{source.sentence}, {source.first}, {source.last}"
        if not (self.order.keys or self.sample or self.distinct):
            return _FIRST.format(order=place, limit=limit_clause(limit, bindings, "  "), **told)
        drawn = self._draw(bindings, place) if self.sample else ""
        text = _EVERY.format(kept="materialized " if drawn else "", drawn=drawn, **told)
        if self.wide and self.order.keys and source.reach is SENTENCE:
            text += written(running([_DOCUMENTS.format(table="every")]))
        return text + self.order.hits("every", source.reach, bindings, limit, wide=self.wide)

    def _draw(self, bindings: Bindings, place: str) -> str:
        seed, sample = bindings.bind("seed", self.seed), bindings.bind("sample", self.sample)
        return _DRAWN.format(seed=seed, place=place, sample=sample)
