"""Concordances: the places where a pattern occurs, with their context (KWIC)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from sqlalchemy import Connection

from sentgen.lookups.absence import explained
from sentgen.lookups.concordances import places
from sentgen.lookups.concordances.contexts import (
    WORDS,
    LineContext,
    WideContextOption,
    check_paragraphs,
    read_context,
    wide_lines,
)
from sentgen.lookups.concordances.hits import HitLookup, HitSource, ReadPattern, TokenHits, read_hits
from sentgen.lookups.concordances.places import Part, Places, SentenceRange, sentences_of
from sentgen.lookups.concordances.surface import LINE_COLUMNS, Surface, surface_of
from sentgen.lookups.cql.search import CqlOption, check_one
from sentgen.lookups.question import MOST
from sentgen.lookups.reach import SENTENCE
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, ResultBudget, Statement, limit_clause
from sentgen.options import Option
from sentgen.output.tabular import Rows

if TYPE_CHECKING:
    import pyarrow as pa

#: Lines that are made of hits at once: some ten megabytes.
LINES = 20_000


class Order(StrEnum):
    """How concordance lines are sorted."""

    NONE = "none"
    LEFT = "left"
    RIGHT = "right"


_COUNT = """\
{parts}select count(*) as hits
from {source}"""

_LINES = (
    """\
{beginning}{hits},
line as (
  select hit.sentence_id, hit.first,{any_key}
    {columns}{words}
  from hit
  join token as c on c.sentence_id = hit.sentence_id
    and c.position between hit.first - $context and hit.last + $context
  join word on word.id = c.word_id{surface}{in_part}
  group by hit.sentence_id, hit.first, hit.last
)
"""
    + LINE_COLUMNS
    + "{of_part}\norder by {sort}"
)

_HITS = """\
hit as materialized (
  select {sentence} as sentence_id, {first} as first, {last} as last{key}
  from {source}
  order by {order}{limit}
)"""

#: The hits that come first by what stands beside them: of all, only these words are read as text.
_SORTED_HITS = """\
every as (
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {source}
),
hit as materialized (
  select every.sentence_id, first, last, null as chosen_by{words}
  from every
  left join token as c on c.sentence_id = every.sentence_id and {beside}{in_part}
  left join word on word.id = c.word_id
  group by every.sentence_id, first, last
  order by words, every.sentence_id, first, last{limit}
)"""
_BESIDE = {
    Order.LEFT: "c.position between every.first - $context and every.first - 1",
    Order.RIGHT: "c.position between every.last + 1 and every.last + $context",
}

#: The words beside the node, nearest first.
_WORDS = {
    Order.LEFT: "list(lower(word.form) order by c.position desc) filter (where c.position < {hit}.first)",
    Order.RIGHT: "list(lower(word.form) order by c.position) filter (where c.position > {hit}.last)",
}

#: Where the node of a line is, and what lines are put in order by that were found range by range.
_PLACE = ",\n  line.sentence_id, first, last"
_KEYS = f"{_PLACE}, chosen_by, words"
#: Columns of the answer, and of the place of the node; the keys come after them.
_COLUMNS, _PLACES = 6, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Kwic(HitLookup):
    """A word or a sequence of words in context (concordance)."""

    pattern: Annotated[
        str,
        Option(
            "Tokens: `word`, `down*`, `*`, `lemma:go`, `upos:VERB`, `xpos:VBD`, `fell/VBD`; or CQL, which"
            ' begins with `[` or with a word in quotes: `[lemma="go"] []{0,3} "home"`.',
            argument=True,
        ),
    ] = ""
    cql: CqlOption = None
    count: Annotated[bool, Option("Only the number of hits.", shell="Print the number of hits alone.")] = (
        False
    )
    context: WideContextOption = WORDS
    sort: Annotated[
        Order,
        Option(
            "Sort all hits, or those drawn at random, by what is before or after the node.",
        ),
    ] = Order.NONE
    random: Annotated[
        int | None,
        Option(
            "Seed: lines drawn at random, not the first ones.",
            shell="Lines drawn at random, not the first ones.",
            metavar="SEED",
            api={"ge": -MOST, "le": MOST},
        ),
    ] = None

    def __post_init__(self) -> None:
        check_one(self.pattern, self.cql)
        read_context(self.context)

    def ask(self, connection: Connection) -> Answer:
        """Return the lines, or with ``count`` how many there are, as the one row of a column ``hits``."""
        return self._counted(connection) if self.count else self.lines(connection)

    def lines(self, connection: Connection, *, placed: bool = False) -> Answer:
        """Return the places where a pattern of tokens occurs, in the order of the corpus.

        The columns are ``corpus``, ``document``, ``sent_id`` (its number where the source gives no name),
        ``left``, ``node`` and ``right``. The words are matched as numbers in one scan of `token`; only the
        sentences of the lines returned are read as text. Hits and contexts of words end at the sentence, or
        with ``across`` at the document, and ``sent_id`` is that of the first token. A large store is searched
        in ranges of sentences, which bounds memory, and for plain words by the rarest of them
        (`sentgen.lookups.concordances.word_places`); the statement of the answer is that for all of it.

        Args:
            connection: the store.
            placed: add ``sentence_id``, ``first`` and ``last``: the place of the node, which no statement
                shows; positions count from that sentence, over its end if the node does.

        Raises:
            InputError: the pattern is empty, longer than `MOST_TOKENS`, or all stars; or no query.
            NotFoundError: no such corpus.
        """
        limit, seed = self.limit, self.random if self.limit else None
        search = replace(self._search(connection), order=self.sort, seed=seed)
        lines, search = search.lines(limit), replace(search, placed=placed)
        if search.at_once(limit):
            found = search.lines(limit).fetch(connection, limit)
            total = search.hits(None) if found.num_rows == limit else found.num_rows
        else:
            found, total = search.gathered(limit)
        answer = Answer(found, lines, self._missing, truncated=total > found.num_rows, total=total)
        return explained(connection, answer, search.selection, search.pattern.values)

    def parts(self, connection: Connection) -> tuple[Statement, Iterator[pa.Table]]:
        """Return the statement for all lines, and the lines themselves, a part at a time.

        For answers that memory does not hold: as `lines` without a limit, in the order of the corpus.
        """
        search = self._search(connection)
        return search.lines(0), search.parts()

    def _counted(self, connection: Connection) -> Answer:
        search = self._search(connection)
        parts, known = search.searched(1)
        total = sum(map(search.hits, parts)) if known is None else known
        row = Rows(("hits",), [(total,)], ("BIGINT",))
        answer = Answer(row, search.count(), self._missing, total=total)
        return explained(connection, answer, search.selection, search.pattern.values)

    @property
    def _missing(self) -> str:
        return f"occurrence of {self.pattern if self.cql is None else self.cql!r}"

    def _search(self, connection: Connection) -> _Search:
        """Return the search for all hits, in the order of the corpus."""
        selection, context = self.select(connection, sentences=True), read_context(self.context)
        if context.unit == "p":
            check_paragraphs(connection)
        reading = self.reading
        hits = read_hits(connection, self.pattern, selection, cql=self.cql, reading=reading, surface=True)
        return _Search(connection, selection, hits, context, sentences_of(connection))


@dataclass(frozen=True, slots=True)
class _Search:
    """A concordance that is asked for, of the whole store or of a range of its sentences."""

    connection: Connection
    selection: Selection
    pattern: ReadPattern
    context: LineContext
    sentences: int
    order: Order = Order.NONE
    seed: int | None = None
    placed: bool = False

    @property
    def wide(self) -> bool:
        """Whether contexts go over the ends of sentences."""
        return self.pattern.across or bool(self.context.unit)

    @property
    def columns(self) -> range:
        return range(_COLUMNS + _PLACES if self.placed else _COLUMNS)

    @property
    def sorts_all(self) -> bool:
        """Whether the first lines are known only when all hits are."""
        return self.order is not Order.NONE and self.seed is None

    def at_once(self, limit: int) -> bool:
        """Return whether one statement has the answer, within bounded memory."""
        if not limit or not self.pattern.at_once(self.sentences):
            return False
        return not self.sorts_all or self.hits(None) <= LINES

    def searched(self, limit: int) -> tuple[Iterator[Part], int | None]:
        """Return the parts of the store that have the lines asked for, and the number of hits if known."""
        found = None
        # What reaches over the ends of sentences is no n-gram.
        within = self.pattern.reach is SENTENCE
        if self.sentences > places.SENTENCES and isinstance(self.pattern, TokenHits) and within:
            # It needs numpy, which takes longer to import than a look-up in a small store.
            from sentgen.lookups.concordances.word_places import places_of_words

            asked = (self.connection, self.pattern.shapes, self.selection, self.sentences)
            found = places_of_words(*asked, 0 if self.sorts_all else limit, self.seed)
        if isinstance(found, tuple):
            return found
        return found or self.pattern.parts(self.connection, self.sentences), None

    def source(self, bindings: Bindings, within: Part | None) -> HitSource:
        """Return where the hits are."""
        if isinstance(within, Places):
            return HitSource(within.table(bindings), *within.columns)
        return self.pattern.source(bindings, within)

    def count(self, within: Part | None = None) -> Statement:
        """Return the statement that counts the hits."""
        bindings = Bindings()
        source = self.source(bindings, within)
        return Statement(_COUNT.format(parts=source.alone, source=source.table), bindings)

    def hits(self, within: Part | None) -> int:
        """Return how many there are."""
        return within.size if isinstance(within, Places) else int(self.count(within).value(self.connection))

    def lines(self, limit: int, within: Part | None = None) -> Statement:
        """Return the statement for the lines; of a range with the keys that put them in order."""
        bindings, surface = Bindings(context=self.context.size), surface_of(self.connection)
        source = self.source(bindings, within)
        if self.wide:
            return self._wide(source, limit, within, bindings, surface)
        hits = self._hits(source, limit, within, bindings)
        part = within.part if within else ""
        words = f"coalesce({_WORDS[self.order].format(hit='hit')}, [])" if self.order in _WORDS else "null"
        text = _LINES.format(
            beginning=source.beginning,
            hits=hits,
            any_key=" any_value(hit.chosen_by) as chosen_by, hit.last," if within else " hit.last,",
            node="node",
            more=_KEYS if within else _PLACE if self.placed else "",
            words=f", {words} as words" if within or self.order in _WORDS else "",
            in_part=f"\n  where c.sentence_id {part}" if part else "",
            of_part=f"\nwhere sentence.id {part}" if part else "",
            columns=surface.columns("hit.first", "hit.last", "hit.first - $context"),
            surface=surface.join,
            sort=f"{'words, ' if self.order in _WORDS else ''}line.sentence_id, first, last",
        )
        return Statement(text, bindings)

    def _wide(
        self, source: HitSource, limit: int, within: Part | None, bindings: Bindings, surface: Surface
    ) -> Statement:
        """Return the statement for lines whose contexts go over the ends of sentences."""
        key, order = self._key(source, bindings)
        text = wide_lines(
            source,
            self.context,
            surface,
            bindings,
            key=key,
            order=order,
            limit=limit_clause(limit, bindings, "  "),
            sort=self.order if self.order in _WORDS else "",
            sorts_all=self.sorts_all,
        )
        columns = LINE_COLUMNS.format(node="node", more=_KEYS if within else _PLACE if self.placed else "")
        by = f"{'words, ' if self.order in _WORDS else ''}line.sentence_id, first, last"
        return Statement(f"{text}{columns}\norder by {by}", bindings)

    def _key(self, source: HitSource, bindings: Bindings) -> tuple[str, str]:
        """Return what hits are drawn by, and what puts them in order."""
        place = f"{source.sentence}, {source.first}"
        # Where hits are of one length, the last token tells none apart.
        whole = f"{place}, {source.last}" if source.varied else place
        if self.seed is None:
            return "null", whole
        # A hash of the place: the same lines for a seed, however the store is searched.
        key = f"md5(concat_ws(':', {bindings.bind('seed', self.seed)}, {whole}))"
        return key, f"{key}, {whole}"

    def _hits(self, source: HitSource, limit: int, within: Part | None, bindings: Bindings) -> str:
        """Return the hits that are shown."""
        told = {
            "sentence": source.sentence,
            "first": source.first,
            "last": source.last,
            "source": source.table,
        }
        limited = limit_clause(limit, bindings, "  ")
        if self.sorts_all and limit:
            in_part = f"\n    and c.sentence_id {within.part}" if within else ""
            return _SORTED_HITS.format(
                words=f", coalesce({_WORDS[self.order].format(hit='every')}, []) as words",
                beside=_BESIDE[self.order],
                in_part=in_part,
                limit=limited,
                **told,
            )
        key, order = self._key(source, bindings)
        chosen = f", {key} as chosen_by" if within else ""
        return _HITS.format(key=chosen, order=order, limit=limited, **told)

    def parts(self) -> Iterator[pa.Table]:
        """Yield all lines, in parts that memory holds; the first one may be empty."""
        # No sentence has the number 0: this gives the columns where there are no lines.
        yield self.lines(1, SentenceRange(0, 0)).run(self.connection).select(self.columns)
        for within in self.searched(0)[0]:
            for smaller in _with_few(within, self.hits(within)):
                yield self.lines(0, smaller).run(self.connection).select(self.columns)

    def gathered(self, limit: int) -> tuple[pa.Table, int]:
        """Return at most ``limit`` lines (0: all) and the number of hits, part by part."""
        found, total = _Found(self, limit), 0
        parts, known = self.searched(limit)
        for within in parts:
            hits = self.hits(within)
            total += hits
            # Drawn at random, no more lines than asked for come from one range, whatever it holds.
            few = min(hits, limit) if limit and self.seed is not None else hits
            for smaller in _with_few(within, few):
                if not found.wants_more:
                    break
                found.add(self.lines(limit, smaller).run(self.connection))
        return found.table(), total if known is None else known


def _with_few(within: Part, hits: int) -> Iterator[Part]:
    """Cut a range so that its parts have `LINES` hits, if they are spread evenly."""
    parts = -(-hits // LINES)
    return within.cut(-(-within.size // parts)) if parts else iter(())


class _Found:
    """The lines found so far: the first ones, or those whose keys are lowest if they are drawn at random."""

    def __init__(self, search: _Search, limit: int) -> None:
        self._search, self._limit = search, limit
        self._held = ResultBudget(search.connection)
        self._tables = [search.lines(1, SentenceRange(0, 0)).run(search.connection)]

    @property
    def wants_more(self) -> bool:
        """Whether lines of later sentences could still be among them."""
        # A later line may have a lower key.
        if not self._limit or self._by:
            return True
        return bool(sum(table.num_rows for table in self._tables) < self._limit)

    @property
    def _by(self) -> str:
        """The column that says which lines come first; empty for their place."""
        if self._search.seed is not None:
            return "chosen_by"
        return "words" if self._search.sorts_all else ""

    def add(self, lines: pa.Table) -> None:
        """Take lines of later sentences."""
        import pyarrow as pa

        self._tables.append(lines)
        if self._limit and self._by and lines.num_rows:
            rows = pa.concat_tables(self._tables)
            self._tables = [rows.take(_order(rows, self._by)[: self._limit]).combine_chunks()]
        self._held.check(self._tables)

    def table(self) -> pa.Table:
        """Return the lines in the order asked for."""
        import pyarrow as pa

        rows = pa.concat_tables(self._tables)
        if self._limit:
            rows = rows.slice(0, self._limit)
        by = "" if self._search.order is Order.NONE else "words"
        return rows.take(_order(rows, by)).select(self._search.columns)


def _order(rows: pa.Table, by: str) -> pa.Array:
    """Return the numbers of the rows in the order of a column, then of their places."""
    import pyarrow as pa

    keys = [rows[name].to_pylist() for name in ([by] if by else []) + ["sentence_id", "first", "last"]]
    # Words are lists, which Arrow does not sort.
    found = sorted(range(rows.num_rows), key=lambda row: tuple(key[row] for key in keys))
    return pa.array(found, pa.int64())
