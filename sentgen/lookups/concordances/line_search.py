"""The statements for the lines of a concordance: of the whole store, or of the hits found part by part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.lookups.concordances import places
from sentgen.lookups.concordances.contexts import CARRIED, LineContext, wide_lines
from sentgen.lookups.concordances.hits import HitSource, ReadPattern, TokenHits
from sentgen.lookups.concordances.places import Part, Places, SentenceRange
from sentgen.lookups.concordances.shown import Shown
from sentgen.lookups.concordances.sorting import BY_PLACE, LineOrder
from sentgen.lookups.concordances.surface import LINE_COLUMNS, surface_of
from sentgen.lookups.reach import DOCUMENT, SENTENCE, running, written
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, ResultBudget, Statement, gathered, limit_clause

if TYPE_CHECKING:
    import pyarrow as pa

#: Lines that are made of hits at once: some ten megabytes.
LINES = 20_000
#: Tokens that hits are put in order by at once.
TOKENS = 1_000_000

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
  join word on word.id = c.word_id{surface}{in_part}
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
#: Tables of the hits that were found part by part, of those whose lines show something new, and of the same
#: in their order.
_GATHERED, _ONCE, _RANKED = "gathered", "once", "ranked"
_BY_PLACE = ("sentence_id", "first", "last")
#: What lines show, in a scope of its own: names of what is around it come again.
_TOLD = """\
told as materialized (
{lines}
),
"""
_SAID = """\
select line.sentence_id, first, last,
  md5(
    concat_ws(chr(31), rtrim(coalesce("left", '')), rtrim(node), rtrim(coalesce("right", '')))
  ) as said
from line"""
_FIRST_OF_EACH = """\
select sentence_id, first, last from {table}
  qualify row_number() over (partition by said order by sentence_id, first, last) = 1"""
_LAST = Statement(f"select count(*) from {_RANKED}")
_DOCUMENTS = (
    "s.document_id in (select document_id from sentence where id in (select sentence_id from {table}))"
)


@dataclass(slots=True)
class FoundHits:
    """How many hits were found so far, and how many are left of them where equal lines are one."""

    hits: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class LineSearch:
    """A concordance that is asked for, of the whole store or of a range of its sentences.

    Args:
        connection: the store.
        selection: the corpora.
        pattern: what is looked for.
        context: what is shown beside it.
        sentences: the number of the last sentence.
        order: what lines are put in order by.
        shown: columns before their words.
        distinct: whether of lines that show the same only the first one is meant.
        sample: how many hits are drawn at random, if some are, and ``seed``: by which number.
        placed: whether the place of the node is told.
        ranked: whether hits are known with their ranks.
    """

    connection: Connection
    selection: Selection
    pattern: ReadPattern
    context: LineContext
    sentences: int
    order: LineOrder
    shown: Shown
    distinct: bool = False
    sample: int = 0
    seed: int = 0
    placed: bool = False
    ranked: bool = False

    @property
    def wide(self) -> bool:
        """Whether contexts go over the ends of sentences."""
        return self.pattern.across or bool(self.context.unit)

    @property
    def together(self) -> bool:
        """Whether hits are put in order when all are known: those that are drawn, and among others."""
        return bool(self.sample or self.order.typical)

    @property
    def whole(self) -> bool:
        """Whether the first lines are known only when all hits are."""
        return bool(self.order.keys or self.sample or self.distinct)

    def at_once(self, limit: int, found: FoundHits) -> bool:
        """Return whether one statement has the answer, in bounded memory; tell the hits if counted."""
        # What lines show is asked for once, and then held.
        if not limit or self.distinct or not self.pattern.at_once(self.sentences):
            return False
        tokens = 0 if self.sample else self.order.tokens
        if tokens:
            found.hits = found.left = self.hits(None)
        return found.hits * tokens <= TOKENS

    def searched(self, limit: int) -> tuple[Iterator[Part], int | None]:
        """Return the parts of the store that have the lines asked for, and the number of hits if known."""
        found = None
        # What reaches over the ends of sentences is no n-gram.
        within = self.pattern.reach is SENTENCE
        if self.sentences > places.SENTENCES and isinstance(self.pattern, TokenHits) and within:
            # It needs numpy, which takes longer to import than a look-up in a small store.
            from sentgen.lookups.concordances.word_places import places_of_words

            asked = (self.connection, self.pattern.shapes, self.selection, self.sentences)
            few = 0 if self.order.keys else limit
            drawn = 0 if self.distinct else self.sample
            few = 0 if self.distinct else drawn or few
            found = places_of_words(*asked, few, self.seed if drawn else None)
        if isinstance(found, tuple):
            return found
        return found or self.pattern.parts(self.connection, self.sentences), None

    def source(self, bindings: Bindings, within: Part | None) -> HitSource:
        """Return where the hits are."""
        if isinstance(within, Places):
            return HitSource(within.table(bindings), *within.columns)
        return self.pattern.source(bindings, within)

    def count(self, within: Part | None = None, most: int = 0) -> Statement:
        """Return the statement that counts the hits, up to ``most`` of them if that is not 0."""
        bindings = Bindings()
        source = self.source(bindings, within)
        if self.distinct:
            source = self._once(source, bindings, within)
        hits = f"least(count(*), {bindings.bind('sample', most)})" if most else "count(*)"
        return Statement(_COUNT.format(parts=source.alone, hits=hits, source=source.table), bindings)

    def hits(self, within: Part | None) -> int:
        """Return how many there are, before any are left out or drawn."""
        if isinstance(within, Places):
            return within.size
        return int(replace(self, distinct=False).count(within).value(self.connection))

    def lines(self, limit: int, within: Part | None = None, known: str = "") -> Statement:
        """Return the statement for the lines.

        Args:
            limit: lines at most; 0 for all.
            within: the part of the store that is searched, if it is not all of it.
            known: the table of hits that were found before, instead of searching for them.
        """
        bindings = Bindings()
        source = self._known(known) if known else self.source(bindings, within)
        if self.distinct and not known:
            source = self._once(source, bindings, within)
        part = within.part if within else ""
        text = self._made(source, limit, bindings, part)
        reasons = "".join(f"\n  line.{name}," for name in self.order.reasons)
        columns = LINE_COLUMNS.format(
            shown=self.shown.columns(bindings) + reasons, node="node", more=_PLACE if self.placed else ""
        )
        of_part = f"\nwhere sentence.id {part}" if part and not self.wide else ""
        return Statement(f"{text}{columns}{of_part}\norder by {self.order.by}", bindings)

    def _made(self, source: HitSource, limit: int, bindings: Bindings, part: str) -> str:
        """Return the common table expressions up to ``line``, which has the words of the lines."""
        bindings["context"] = self.context.size
        surface = surface_of(self.connection)
        text = source.beginning + self._chosen(source, limit, bindings, part) + ",\n"
        carried = ["rank", *self.order.reasons] if self.order.keys else []
        if self.wide:
            placed_already = source.reach is DOCUMENT or (bool(self.order.keys) and not self.ranked)
            return text + wide_lines(
                source.reach, self.context, surface, bindings, carried=carried, placed_already=placed_already
            )
        return text + _LINES.format(
            carried="".join(CARRIED.format(name=name) for name in carried),
            columns=surface.columns("hit.first", "hit.last", "hit.first - $context"),
            surface=surface.join,
            in_part=f"\n  where c.sentence_id {part}" if part else "",
        )

    def _once(self, source: HitSource, bindings: Bindings, within: Part | None) -> HitSource:
        """Return the hits whose lines show what none before them does."""
        every = replace(self, order=LineOrder(), sample=0)
        told = every._made(source, 0, bindings, within.part if within else "")
        parts = _TOLD.format(lines=f"{told}{_SAID}")
        return HitSource(f"({_FIRST_OF_EACH.format(table='told')}) as once", *_BY_PLACE, parts, varied=True)

    def _known(self, table: str) -> HitSource:
        """Return hits that were found before."""
        if self.distinct:
            return HitSource(table, *_BY_PLACE, varied=True)
        # Whether several begin with one token, their pattern knows.
        varied, reach = self.pattern.source(Bindings()).varied, self.pattern.reach
        parts = written(running([_DOCUMENTS.format(table=table)])) if reach is DOCUMENT else ""
        return HitSource(table, *_BY_PLACE, parts, varied=varied, reach=reach)

    def _chosen(self, source: HitSource, limit: int, bindings: Bindings, part: str = "") -> str:
        """Return the common table expressions up to ``hit``, which has the hits that are shown."""
        told = {
            "sentence": source.sentence,
            "first": source.first,
            "last": source.last,
            "source": source.table,
        }
        place = f"{source.sentence}, {source.first}"
        # Where hits are of one length, the last token tells none apart.
        whole = f"{place}, {source.last}" if source.varied else place
        if self.ranked:
            return f"hit as materialized (\n  select * from {source.table}\n)"
        if not self.whole:
            return _FIRST.format(order=whole, limit=limit_clause(limit, bindings, "  "), **told)
        drawn = ""
        if self.sample:
            # A hash of the place: the same lines for a seed, however the store is searched.
            key = f"md5(concat_ws(':', {bindings.bind('seed', self.seed)}, {whole}))"
            drawn = f"\n  order by {key}, {whole}\n  limit {bindings.bind('sample', self.sample)}"
        text = _EVERY.format(kept="materialized " if drawn else "", drawn=drawn, **told)
        if self.wide and self.order.keys and source.reach is SENTENCE:
            text += written(running([_DOCUMENTS.format(table="every")]))
        return text + self.order.hits("every", source.reach, bindings, limit, wide=self.wide, part=part)

    def _places(self, limit: int, within: Part) -> Statement:
        """Return the statement for the places of the hits of a part that may be among those shown."""
        if self.distinct:
            bindings = Bindings()
            every = replace(self, order=LineOrder(), sample=0)
            told = every._made(self.source(bindings, within), 0, bindings, within.part)
            return Statement(told + _SAID, bindings)
        search = replace(self, order=LineOrder()) if self.together else self
        bindings = Bindings()
        source = search.source(bindings, within)
        chosen = search._chosen(source, 0 if self.together else limit, bindings, within.part)
        return Statement(f"{source.beginning}{chosen}\nselect sentence_id, first, last\nfrom hit", bindings)

    def gathered(self, limit: int) -> tuple[pa.Table, FoundHits]:
        """Return at most ``limit`` lines (0: all) and the number of hits, part by part."""
        found = FoundHits()
        if not limit:
            import pyarrow as pa

            held, tables = ResultBudget(self.connection), list[pa.Table]()
            for table in self.parts(found):
                tables.append(table)
                held.add(table)
            return pa.concat_tables(tables), found
        with self.holding(limit, found) as known:
            return self.lines(limit, known=known).run(self.connection), found

    @contextmanager
    def holding(self, limit: int, found: FoundHits) -> Iterator[str]:
        """Yield the name of a table with the hits of which ``limit`` may be shown (0: all)."""
        with gathered(self.connection, _GATHERED, self._gathering(limit, found)):
            if not self.distinct:
                found.left = found.hits
                yield _GATHERED
                return
            with gathered(self.connection, _ONCE, [Statement(_FIRST_OF_EACH.format(table=_GATHERED))]):
                found.left = int(Statement(f"select count(*) from {_ONCE}").value(self.connection))
                yield _ONCE

    def _gathering(self, limit: int, found: FoundHits) -> Iterator[Statement]:
        """Yield the statements for the places of hits, while there may be more; count all hits."""
        yield self._places(1, SentenceRange(0, 0))  # no sentence has the number 0: this gives the columns
        parts, known = self.searched(limit)
        held = 0
        for within in parts:
            hits = self.hits(within)
            found.hits += hits
            if limit and not self.whole and held >= limit:
                continue
            tokens = 1 if self.together or not limit else max(self.order.tokens, 1)
            size, most = (hits, LINES) if self.distinct else (hits * tokens, TOKENS)
            for smaller in _with_few(within, size, most):
                yield self._places(limit, smaller)
            held += hits
        found.hits = found.hits if known is None else known

    def parts(self, found: FoundHits | None = None) -> Iterator[pa.Table]:
        """Yield all lines, in parts that memory holds; the first one may be empty.

        Args:
            found: is told how many hits there are.
        """
        found = found or FoundHits()
        # No sentence has the number 0: this gives the columns where there are no lines.
        yield self.lines(1, SentenceRange(0, 0)).run(self.connection)
        if self.whole:
            with self.holding(0, found) as known:
                yield from self._ordered(known)
            return
        for within in self.searched(0)[0]:
            hits = self.hits(within)
            found.hits = found.left = found.hits + hits
            for smaller in _with_few(within, hits, LINES):
                yield self.lines(0, smaller).run(self.connection)

    def _ordered(self, known: str) -> Iterator[pa.Table]:
        """Yield the lines of the hits of a table, in their order."""
        bindings, source = Bindings(), self._known(known)
        chosen = self._chosen(source, 0, bindings)
        rank = "" if self.order.keys else f", row_number() over (order by {BY_PLACE}) as rank"
        ranked = Statement(f"{source.beginning}{chosen}\nselect *{rank} from hit", bindings)
        search = replace(self, sample=0, ranked=True)
        with gathered(self.connection, _RANKED, [ranked]):
            for low in range(1, int(_LAST.value(self.connection)) + 1, LINES):
                part = f"{_RANKED} where rank between {low} and {low + LINES - 1}"
                yield search.lines(0, known=part).run(self.connection)


def _with_few(within: Part, size: int, most: int) -> Iterator[Part]:
    """Cut a range so that each of its parts has so much of what all of it has, if that is spread evenly."""
    parts = -(-size // most)
    return within.cut(-(-within.size // parts)) if parts else iter(())
