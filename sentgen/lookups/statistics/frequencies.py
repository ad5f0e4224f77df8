"""Frequency lists with dispersion and coverage.

Juilland's D = 1 - V / sqrt(n - 1) over n documents (Juilland, Brodin and Davidovitch 1970, "Frequency
dictionary of French words"), where V is the coefficient of variation (the standard deviation by the mean) of
the rates of an item: its occurrences by the tokens of each document, as documents differ in size. It is 1 for
an item as frequent in all of them, and 0 for one that a single document has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from sqlalchemy import Connection

from sentgen.case_folding import folded
from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue, explained
from sentgen.lookups.attributes import COLUMNS
from sentgen.lookups.concordances.hits import HitLookup
from sentgen.lookups.cql.search import is_cql
from sentgen.lookups.paging import OffsetOption, RowSortOption, in_pages
from sentgen.lookups.patterns import ANY, glob, loose
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, limit_clause, limited, where
from sentgen.lookups.statistics.dispersion import JUILLAND_D, MOST_ROWS, Spread
from sentgen.options import Option
from sentgen.schema.engine import raw, registered
from sentgen.schema.tables.corpus import BOS, EOS


class By(StrEnum):
    """What of a token is counted."""

    WORD = "word"
    LEMMA = "lemma"
    UPOS = "upos"
    XPOS = "xpos"
    DEPREL = "deprel"


#: A query that every token matches.
ALL_TOKENS = "[]"
#: Tokens by their item.
_OF_TOKENS = """\
  select {column} as id, count(*) as count
  from token{conditions}
  group by id"""

#: The same for words, which are counted already.
_OF_UNIGRAMS = """\
  select w1 as id, sum(count)::bigint as count
  from ngram_1{conditions}
  group by id"""

#: The rows where there is one document.
_ALONE = """\
with counted as (
{counted}
),
{best},
total as (
  select sum(tokens) as tokens
  from segment{segments}
)
select item as "{by}", best.count::bigint as count, 1e6 * best.count / total.tokens as per_million,
  1::bigint as documents, null::double as dp, (running / total.tokens)::double as coverage,
  null::double as juilland_d, 1::double as document_share
from best
cross join total
order by best.count desc, item"""

_STATEMENT = """\
with counted as (
{counted}
),
{best},
part as (
  select document_id, sum(length) as size
  from sentence{sentences}
  group by document_id
),
total as (
  select sum(size) as tokens, count(*) as documents from part
),
inside as (
{inside}
),
spread as (
  select best.id, count(*) as documents,
    0.5 * (sum(abs(inside.count / best.count - part.size / total.tokens))
      + 1 - sum(part.size) / any_value(total.tokens)) as dp,
    sum(inside.count / part.size) as rates, sum((inside.count / part.size) ** 2) as squares
  from best
  join inside on inside.id = best.id
  join part using (document_id)
  cross join total
  group by best.id
)
select item as "{by}", best.count::bigint as count, 1e6 * best.count / total.tokens as per_million,
  spread.documents, case when total.documents > 1 then greatest(dp, 0) end as dp,
  (running / total.tokens)::double as coverage,
  {juilland} as juilland_d, spread.documents / total.documents as document_share
from best
join spread using (id)
cross join total
order by best.count desc, item"""

#: How often each of them occurs in each document.
_INSIDE = """\
  select {id} as id, document_id, count(*) as count
  from token
  join sentence on sentence.id = token.sentence_id{conditions}
  group by {id}, document_id"""

#: The same of what was counted range by range, and the numbers of which that was.
_GATHERED = """\
  select id, document_id, sum(count) as count
  from gathered
  group by id, document_id"""
_GATHERED_FOLDED = """\
  select chosen.best_id as id, document_id, sum(gathered.count) as count
  from gathered
  join chosen on chosen.id = gathered.id
  group by chosen.best_id, document_id"""
_CHOSEN = """\
with counted as (
{counted}
),
{best}
select id
from {chosen}"""

#: The items, where each has a number of its own.
_BEST = """\
best as (
  select counted.id, {item} as item, count, sum(count) over (order by count desc, {item}) as running
  from counted
  join {table} on {table}.id = counted.id{matching}
  order by count desc, item{limit}
)"""

#: The same where words that differ in capital letters only are one, with the number of one of them.
_BEST_FOLDED = """\
named as (
  select counted.id, {folded} as item, count
  from counted
  join {table} on {table}.id = counted.id{matching}
),
best as (
  select min(id) as id, item, sum(count) as count,
    sum(sum(count)) over (order by sum(count) desc, item) as running
  from named
  group by item
  order by count desc, item{limit}
),
chosen as (
  select named.id, best.id as best_id
  from named
  join best using (item)
)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies(HitLookup):
    """A frequency list with dispersion and coverage."""

    by: Annotated[
        list[str],
        Option(
            "What to count, word unless given: word, lemma, upos, xpos, deprel, a feature such as `Number`,"
            " metadata such as `genre`, `corpus` or `document`, of the hits of a query any attribute of a"
            " label, such as `a.lemma`, and several together, in a list or with commas.",
            shell="What to count: word (the default), lemma, upos, xpos, deprel, a feature such as `Number`,"
            " metadata such as `genre`, `corpus` or `document`; of the hits of a query also any attribute of"
            " a label, such as `a.lemma`; may be repeated.",
            metavar="ATTRIBUTE",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    pattern: Annotated[str, Option("Only these, such as `un*`.")] = "*"
    query: Annotated[
        str | None,
        Option(
            "What a query in CQL, or a pattern as of kwic, matched, instead of all tokens.", metavar="QUERY"
        ),
    ] = None
    parts: Annotated[
        str | None,
        Option(
            "A kind of regions over which the dispersion is, such as `p`, instead of documents.",
            metavar="KIND",
        ),
    ] = None
    sort: RowSortOption = ""
    offset: OffsetOption = 0

    mean: Annotated[
        str | None,
        Option(
            "Also the mean of a number, such as `surprisal`, with its 95 % interval by documents.",
            metavar="ATTRIBUTE",
        ),
    ] = None

    def __post_init__(self) -> None:
        HitLookup.__post_init__(self)
        if self.filter and self.query is None:
            raise InputError("a filter is one of hits; give --query QUERY, too")
        if self.query is not None and self.pattern != ANY:
            raise InputError("a pattern and a query exclude each other; give one of them")
        if self._query == ALL_TOKENS and self.pattern != ANY:
            listed = ", ".join(By)
            option = f"by {self._by}" if self.parts is None else f"parts {self.parts}"
            option = option if self.mean is None else f"mean {self.mean}"
            raise InputError(
                f"a pattern is of what is listed: {listed}; with --{option} give a --query instead"
            )

    @property
    def _by(self) -> str:
        """The keys, with commas between them."""
        return ",".join(self.by) or By.WORD

    @property
    def _query(self) -> str | None:
        """The query; a pattern can be one, and other attributes than words and tags are of every token."""
        if self.query is None and is_cql(self.pattern):
            return self.pattern
        of_hits = self._by not in list(By) or self.parts is not None or self.mean is not None
        return ALL_TOKENS if self.query is None and of_hits else self.query

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return the words, lemmas or labels of the tokens, or what a query matched, most frequent first.

        Equals come alphabetically. What hits of a query are counted by, and the columns of these, says
        `sentgen.lookups.statistics.hit_frequencies.hit_frequencies`.

        Else the columns are the item; ``count``; ``per_million`` tokens; ``documents``, the number of
        documents that have it (its range); ``dp``; ``coverage``, the share of all tokens that this row and
        those above it make up; ``juilland_d`` (see the module; null as ``dp``); and ``document_share``, that
        of all documents.

        ``dp`` is Gries's deviation of proportions, DP = 1/2 sum over documents of |v - s|, where s is the
        share of the document in the tokens and v its share in the occurrences of the item (Gries 2008,
        "Dispersions and adjusted frequencies in corpora", IJCL 13(4)): near 0 for an item spread evenly, near
        1 for one that clumps.
        Documents without the item add up to 1 minus the shares of the others. With a single document it is
        null.

        Tokens without the attribute count in the number of tokens, not as an item. With ``ignore_case``,
        words and lemmas that differ in capital letters only are one. Words are counted already; what else is
        listed is counted in one scan of `token`. Where there are several documents, another one counts the
        rows in each of them, in a large store range by range (`sentgen.lookups.statistics.dispersion`).
        """
        if self._query is not None:
            selection = self.select(connection, sentences=True)
            # It counts in arrays, whose import takes longer than a list of words.
            from sentgen.lookups.statistics.hit_frequencies import hit_frequencies

            return hit_frequencies(
                connection,
                self._query,
                self._by,
                selection,
                self.reading,
                self.limit,
                parts=self.parts,
                filters=self.filters,
                mean=self.mean,
            )
        by, limit = By(self._by), self.limit
        # Only words and lemmas are lower-cased on the way in, or taken for one; tags keep their case.
        of_words = by in (By.WORD, By.LEMMA)
        asked = self if of_words else replace(self, ignore_case=False)
        selection = asked.select(connection, sentences=True)
        pattern = selection.fold(self.pattern) if of_words else self.pattern
        listing, missing = _List(by, pattern, selection, limit), f"{by} {pattern!r}"
        spread = Spread(connection, selection)
        if selection.condition is not None:
            # Chosen sentences are not counted yet, and may be parts of documents.
            answer = limited(connection, listing.query(), limit, missing)
        elif spread.alone:
            answer = limited(connection, listing.alone(), limit, missing)
        elif 0 < limit <= MOST_ROWS and spread.large:
            answer = listing.gathered(connection, spread, missing)
        else:
            answer = limited(connection, listing.query(), limit, missing)
        return explained(connection, answer, selection, [QuestionValue(by, pattern)], of_tokens=True)


def count_items(by: By, selection: Selection, bindings: Bindings) -> str:
    """Return the statement that counts all items of a selection by their number: ``id`` and ``count``."""
    if by is By.WORD and selection.condition is None:
        conditions = [f"w1 not in ({BOS}, {EOS})", *selection.of_segments(bindings)]
        return _OF_UNIGRAMS.format(conditions=where(conditions, "  "))
    column = COLUMNS[by][0]
    conditions = [f"{column} is not null", *selection.of_tokens(bindings)]
    return _OF_TOKENS.format(column=column, conditions=where(conditions, "  "))


@dataclass(frozen=True, slots=True)
class _List:
    """A frequency list that is asked for."""

    by: By
    pattern: str
    selection: Selection
    limit: int

    @property
    def column(self) -> str:
        """The column of `token` with the number of the item."""
        return COLUMNS[self.by][0]

    def best(self, bindings: Bindings) -> str:
        """Return the common table expressions of the items that are listed."""
        _, table, name = COLUMNS[self.by]
        item, matching = f"{table}.{name}", list[str]()
        if self.pattern != ANY:
            matching.append(
                glob(self.pattern).condition(
                    item, bindings, ignore_case=table == "word" and loose(self.pattern, self.selection)
                )
            )
        return (_BEST_FOLDED if self.selection.ignore_case else _BEST).format(
            table=table,
            item=item,
            folded=folded(item),
            matching=where(matching, "  "),
            limit=limit_clause(self.limit, bindings, "  "),
        )

    def alone(self) -> Statement:
        """Return the statement for a single document."""
        bindings = Bindings()
        text = _ALONE.format(
            by=self.by,
            counted=count_items(self.by, self.selection, bindings),
            best=self.best(bindings),
            segments=where(self.selection.of_corpora(bindings), "  "),
        )
        return Statement(text, bindings)

    def query(self, counted: str = "", inside: str = "") -> Statement:
        """Return the statement; with what was counted before in the place of what counts it."""
        bindings = Bindings()
        conditions = self.selection.of_tokens(bindings, "token")
        if self.selection.ignore_case:
            item = "chosen.best_id"
            joined = f"\n  join chosen on chosen.id = token.{self.column}{where(conditions, '  ')}"
        else:
            item = self.column
            joined = where([f"{self.column} in (select id from best)", *conditions], "  ")
        text = _STATEMENT.format(
            by=self.by,
            counted=counted or count_items(self.by, self.selection, bindings),
            best=self.best(bindings),
            sentences=where(self.selection.of_sentences(bindings), "  "),
            juilland=JUILLAND_D.format(documents="total.documents", squares="squares", rates="rates"),
            inside=inside or _INSIDE.format(id=item, conditions=joined),
        )
        return Statement(text, bindings)

    def gathered(self, connection: Connection, spread: Spread, missing: str) -> Answer:
        """Return the answer of the statement, counted range by range."""
        ignoring, bindings, items = self.selection.ignore_case, Bindings(), {}
        counted = count_items(self.by, self.selection, bindings)
        if self.by is not By.WORD:
            items, counted = {"items": Statement(counted, bindings).run(connection)}, "  from items"
        with registered(raw(connection), **items):
            chosen = _CHOSEN.format(
                counted=counted, best=self.best(bindings), chosen="chosen" if ignoring else "best"
            )
            # One more tells whether there are more.
            ids = Statement(chosen, {**bindings, "limit": self.limit + 1}).run(connection)["id"].to_pylist()
            with registered(raw(connection), gathered=spread.inside(self.column, ids)):
                query = self.query(
                    "  from items" if items else "", _GATHERED_FOLDED if ignoring else _GATHERED
                )
                answer = limited(connection, query, self.limit, missing)
        return replace(answer, query=self.query())
