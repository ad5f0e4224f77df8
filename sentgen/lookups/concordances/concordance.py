"""Concordances: the places where a pattern occurs, with their context (KWIC)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.question import MOST, OffsetOption, after_offset
from sentgen.lookups.base.statement import Answer, Bindings, Statement
from sentgen.lookups.concordances.hit_places import hit_places
from sentgen.lookups.concordances.hits import HitLookup, Query
from sentgen.lookups.concordances.line_query import (
    WORDS,
    LineContext,
    LineQuery,
    WideContextOption,
    read_shown,
)
from sentgen.lookups.concordances.sorting import NONE, TYPICAL, LineOrder, SortKey, SortOption
from sentgen.lookups.concordances.typical import REASONS
from sentgen.lookups.cql.search import CqlOption, check_one
from sentgen.lookups.search.absence import explain_absence
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    from sentgen.lookups.concordances.line_search import LineSearch
    from sentgen.lookups.concordances.line_text import SortedSides


ShowOption = Annotated[
    list[str],
    Option(
        "Metadata, attributes of regions or of the first token, before the words: `genre,Gloss`.",
        metavar="KEYS",
        api={"max_length": 50},
    ),
]


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
    places: Annotated[
        bool,
        Option(
            "Instead of lines a row for each document, those with most hits first, with where in it hits are:"
            " `places` are thousandths of the document."
        ),
    ] = False
    context: WideContextOption = WORDS
    sort: SortOption = NONE
    explain: Annotated[
        bool,
        Option(
            "With the order `typical`: the score of each line, and what it is made of, before the words.",
            shell="With `--sort typical`: the score of each line, and what it is made of, before the words.",
        ),
    ] = False
    show: ShowOption = field(default_factory=list)
    dedupe: Annotated[bool, Option("Lines that show the same, words and context, once.")] = False
    sample: Annotated[
        int | None,
        Option("Only so many hits, drawn at random from all.", least=1, metavar="N", api={"le": MOST}),
    ] = None
    seed: Annotated[
        int | None,
        Option(
            "Seed of the sample; 1 unless given.",
            shell="Seed of the sample. Default: 1.",
            api={"ge": -MOST, "le": MOST},
        ),
    ] = None
    random: Annotated[
        int | None,
        Option(
            "Seed: a sample of as many lines as are shown, instead of the first ones.",
            metavar="SEED",
            api={"ge": -MOST, "le": MOST},
        ),
    ] = None
    offset: OffsetOption = 0

    def __post_init__(self) -> None:
        HitLookup.__post_init__(self)
        check_one(self.pattern, self.cql)
        LineContext.read(self.context)
        keys = SortKey.read_all(self.sort)
        read_shown(self.show, REASONS if self.explain else ())
        if self.explain and (TYPICAL not in [key.name for key in keys] or self.count or self.places):
            raise InputError(
                f"{spell('explain')} tells why lines are typical; give {spell('sort')} typical, and"
                f" no {spell('count')} or {spell('places')}"
            )
        if self.random is not None and (self.sample, self.seed) != (None, None):
            raise InputError(
                f"{spell('random')} is a {spell('sample')} of as many lines as are shown; give one of the two"
            )
        if self.seed is not None and self.sample is None:
            raise InputError(f"{spell('seed')} is that of a sample; give {spell('sample')} N, too")
        if self.places and (self.count or self.dedupe or self.sample or self.random is not None):
            raise InputError(
                f"places are those of all hits; leave out {spell('count')}, {spell('dedupe')},"
                f" {spell('sample')} and {spell('random')}"
            )
        if self.offset and self.random is not None:
            raise InputError(
                f"{spell('random')} draws the lines that are shown; with {spell('offset')} give"
                f" {spell('sample')} N instead"
            )

    @property
    def drawn(self) -> tuple[int, int]:
        """How many hits are drawn at random, 0 if none are, and the seed."""
        if self.sample is not None:
            return self.sample, 1 if self.seed is None else self.seed
        return (self.limit, self.random) if self.random is not None else (0, 0)

    def ask(self, connection: Connection) -> Answer:
        """Return the lines, or with ``count`` how many there are, as the one row of a column ``hits``.

        With ``places``, the rows are documents (see `sentgen.lookups.concordances.hit_places`).
        """
        if self.places:
            return self._places(connection)
        return self._count(connection) if self.count else self.lines(connection)

    def lines(self, connection: Connection, *, placed: bool = False) -> Answer:
        """Return the concordance lines of a pattern or query, in the order of ``sort``.

        The columns are ``corpus``, ``document``, ``sent_id`` (its id if the source gives no name), those of
        ``show``, ``left``, ``node`` and ``right``. Words are matched by their ids in one scan of `token`, and
        only the sentences of the returned lines are read as text. Hits and contexts of words end at the
        sentence, or with ``across`` at the document, and ``sent_id`` is that of the first token. Hits are
        found in arrays (`sentgen.lookups.search`); the statement of the answer defines the same lines in SQL.

        Args:
            connection: the store.
            placed: add ``sentence_id``, ``first`` and ``last``, the position of the node, which the statement
                does not have; positions count from the beginning of that sentence, also beyond its end.

        Raises:
            InputError: the pattern is empty, longer than `MOST_TOKENS`, or all stars; or the query is wrong.
            NotFoundError: no such corpus.
        """
        return after_offset(self, lambda question: question._lines(connection, placed=placed))

    def _lines(self, connection: Connection, *, placed: bool) -> Answer:
        from sentgen.lookups.concordances.line_search import LineSearch

        request = self._line_query(connection)
        search = LineSearch(replace(request, placed=placed))
        rows = Rows.from_arrow(search.first(self.limit))
        total = min(search.left, self.sample or search.left)
        remarks = (*request.pattern.steps(connection), *self._left_out(search), *request.order.remarks)
        query, more = request.lines(self.limit), total > rows.num_rows
        answer = Answer(rows, query, self._missing, truncated=more, total=total, remarks=remarks)
        return explain_absence(connection, answer, request.selection, request.pattern.values)

    def sorted_sides(self, connection: Connection, rows: Rows) -> list[SortedSides]:
        """Return the sort keys of lines: the words beside the node of each, in batches.

        The rows have the columns that ``placed`` adds.
        """
        from sentgen.lookups.concordances.line_text import SortedWords

        context = LineContext.read(self.context)
        across = self.reading.reaches or bool(context.unit)
        return SortedWords.of_order(self.sort).of_lines(connection, rows, context, across=across)

    def parts(self, connection: Connection, *, placed: bool = False) -> tuple[Statement, Iterator[Rows]]:
        """Return the statement for all lines, and the lines in batches, for answers larger than memory.

        The lines are those of `lines` without a limit.
        """
        from sentgen.lookups.concordances.line_search import LineSearch

        request = self._line_query(connection)
        search = LineSearch(replace(request, placed=placed))
        return request.lines(0), map(Rows.from_arrow, search.parts())

    def remarks(self, connection: Connection) -> tuple[str, ...]:
        """Return remarks on how the lines were selected from the hits; lines are searched only if needed."""
        if self.dedupe or self.sample:
            return tuple(replace(self, limit=1).ask(connection).remarks)
        request = self._line_query(connection)
        return (*request.pattern.steps(connection), *request.order.remarks)

    def _count(self, connection: Connection) -> Answer:
        from sentgen.lookups.concordances.line_search import LineSearch

        request = self._line_query(connection)
        search = LineSearch(request)
        search.count()
        total = min(search.left, self.sample or search.left)
        row = Rows(("hits",), [(total,)], ("BIGINT",))
        remarks = (*request.pattern.steps(connection), *self._left_out(search))
        answer = Answer(row, request.count(), self._missing, total=total, remarks=remarks)
        return explain_absence(connection, answer, request.selection, request.pattern.values)

    def _places(self, connection: Connection) -> Answer:
        request = self._line_query(connection)
        pattern = request.pattern
        bindings, hits = Bindings(), pattern.find(connection)
        source = pattern.source(bindings)
        answer = hit_places(connection, source, bindings, hits, self.limit, self._missing)
        answer = replace(answer, remarks=(*pattern.steps(connection), *answer.remarks))
        return explain_absence(connection, answer, request.selection, pattern.values)

    def _left_out(self, search: LineSearch) -> Iterator[str]:
        """Yield remarks on hits that were left out: duplicates, and those that were not drawn."""
        if self.dedupe:
            yield f"{quantity(search.hits - search.left, 'line')} left out, as others show the same"
        if self.sample and search.left > self.sample:
            drawn = f"{self.sample:,} of {quantity(search.left, 'hit')}, drawn at random"
            yield f"{drawn} (seed {self.drawn[1]})"

    @property
    def _missing(self) -> str:
        return f"occurrence of {self.pattern if self.cql is None else self.cql!r}"

    def _line_query(self, connection: Connection) -> LineQuery:
        selection, context = self.select(connection, sentences=True), LineContext.read(self.context)
        context.check(connection)
        hits = Query.read(connection, self.pattern, selection, cql=self.cql, reading=self.reading)
        hits = self.with_filters(connection, hits, selection)
        there = StoreKeys(connection, selection.names)
        order = LineOrder.of_keys(there, SortKey.read_all(self.sort), context.sorted_by, explain=self.explain)
        shown = {name: there.require(name) for name in read_shown(self.show)}
        sample, seed = self.drawn
        return LineQuery(
            connection,
            selection,
            hits,
            context,
            order,
            shown,
            distinct=self.dedupe,
            sample=sample,
            seed=seed,
        )
