"""Frequency lists with dispersion and coverage.

Juilland's D = 1 - V / sqrt(n - 1) over n documents (Juilland, Brodin and Davidovitch 1970, "Frequency
dictionary of French words"), where V is the coefficient of variation (the standard deviation by the mean) of
the rates of an item: its occurrences by the tokens of each document, as documents differ in size. It is 1 for
an item as frequent in all of them, and 0 for one that a single document has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.patterns import ANY
from sentgen.lookups.base.question import OffsetOption, RowSortOption, in_pages
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.concordances.hits import HitLookup, Query
from sentgen.lookups.cql.search import is_cql
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.search.absence import QuestionValue, explain_absence
from sentgen.lookups.statistics.breakdown import Breakdown
from sentgen.options import Option

if TYPE_CHECKING:
    from sentgen.lookups.statistics.listed_tokens import ListedTokens


class By(StrEnum):
    """What of a token is counted."""

    WORD = "word"
    LEMMA = "lemma"
    UPOS = "upos"
    XPOS = "xpos"
    DEPREL = "deprel"


#: Those of which capital letters may be ignored.
OF_WORDS = (By.WORD, By.LEMMA)

#: A query that every token matches.
_ALL_TOKENS = "[]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies(HitLookup):
    """A frequency list with dispersion and coverage."""

    by: Annotated[
        list[str],
        Option(
            "What to count, word unless given: word, lemma, upos, xpos, deprel, a feature such as `Number`,"
            " metadata such as `genre`, `corpus` or `document`, decades as `year/10`, labels as"
            " `lines.SET`, of the hits of a query any attribute of a label, such as `a.lemma`, and several"
            " together, in a list or with commas.",
            shell="What to count: word (the default), lemma, upos, xpos, deprel, a feature such as `Number`,"
            " metadata such as `genre`, `corpus` or `document`, decades as `year/10`, labels as"
            " `lines.SET`; of the hits of a query also any attribute of a label, such as `a.lemma`; may be"
            " repeated.",
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
    compare: Annotated[
        bool,
        Option(
            "By metadata, compare each part with all others: log-likelihood, chi-square, BIC, and effect"
            " sizes with their 95 % intervals."
        ),
    ] = False
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
            raise InputError(f"a filter is one of hits; give {spell('query')} QUERY, too")
        if self.query is not None and self.pattern != ANY:
            raise InputError("a pattern and a query exclude each other; give one of them")
        if self._query == _ALL_TOKENS and self.pattern != ANY:
            listed = ", ".join(By)
            listings = (("mean", self.mean), ("parts", self.parts), ("by", self._by))
            option, value = next((option, value) for option, value in listings if value is not None)
            raise InputError(
                f"a pattern is of what is listed: {listed}; with {spell(option)} {value} give a"
                f" {spell('query')} instead"
            )

    @property
    def _by(self) -> str:
        return ",".join(self.by) or By.WORD

    @property
    def _query(self) -> str | None:
        """The query; a pattern can be one, and other attributes than words and tags are of every token."""
        if self.query is None and is_cql(self.pattern):
            return self.pattern
        of_hits = self._by not in list(By) or self.parts is not None or self.mean is not None or self.compare
        return _ALL_TOKENS if self.query is None and of_hits else self.query

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return the words, lemmas or tags of tokens, or the hits of a query by keys, most frequent first.

        Ties are sorted alphabetically.

        For tokens, the columns are the item; ``count``; ``per_million`` tokens; ``documents``, the number of
        documents with the item (its range); ``dp``; ``coverage``, the share of all tokens in this row and
        those above it; ``juilland_d`` (see the module; null as ``dp``); and ``document_share``, the share of
        documents with the item.

        ``dp`` is Gries's deviation of proportions, DP = 1/2 sum over documents of |v - s|, where s is the
        share of the document in the tokens and v its share in the occurrences of the item (Gries 2008,
        "Dispersions and adjusted frequencies in corpora", IJCL 13(4)): near 0 for an item spread evenly, near
        1 for one that clumps.
        Documents without the item add up to 1 minus the shares of the others. With a single document it is
        null.

        Tokens without the attribute count in the number of tokens, not as an item. With ``ignore_case``,
        words and lemmas that differ in capital letters only are one.

        For hits, the columns are the keys; ``count``; ``share`` of all hits; and as above, but without
        coverage. Keys are attributes of all tokens of a hit, or of the token of a label. A hit counts once
        for each token that a label can have, and not at all if a label has no token. A missing value counts
        as ``_``. With metadata among the keys, ``per_million_in_part`` is the count per million tokens of
        sentences with the same metadata; with attributes of regions, of tokens whose innermost regions have
        the same attributes. With ``parts``, a token belongs to the innermost region around it, and text
        outside of regions is one further part; ``parts`` and ``part_share`` replace ``documents`` and
        ``document_share``. ``mean``, ``mean_low`` and ``mean_high`` are the mean with the interval of 95 %,
        by documents or parts (see `sentgen.lookups.statistics.intervals`). With ``compare``, each row is
        compared with the rows of all other parts with the same other keys (see
        `sentgen.lookups.statistics.frequency_rows`), and a remark has the tests of all parts together.
        """
        # Imported late, as arrays take longer to import than many other lookups in all.
        from sentgen.lookups.statistics.frequency_rows import differences, frequency_rows
        from sentgen.lookups.statistics.listed_tokens import ListedTokens

        tokens, by = self._listed_tokens(connection) if self._query is None else self._hits(connection)
        # A comparison needs all rows.
        limit = 0 if self.compare else self.limit
        rows, more, query = frequency_rows(connection, tokens, by, limit)
        of_parts: tuple[str, ...] = ()
        if self.compare:
            rows, more, query, of_parts = differences(connection, rows, query, by, self.limit)
        if isinstance(tokens, ListedTokens):
            answer = Answer(rows, query, f"{tokens.by} {tokens.pattern!r}", truncated=more)
            values = [QuestionValue(tokens.by, tokens.pattern)]
            return explain_absence(connection, answer, by.selection, values, of_tokens=True)
        if self.mean is not None and rows.num_rows and all(value is None for value in rows.column("mean")):
            raise InputError(
                f"{self.mean} is never a number here, so that there is no mean; take another attribute"
            )
        remarks = (*tokens.steps(connection), *of_parts)
        answer = Answer(rows, query, f"occurrence of {self._query!r}", truncated=more, remarks=remarks)
        return explain_absence(connection, answer, by.selection, tokens.values)

    def _listed_tokens(self, connection: Connection) -> tuple[ListedTokens, Breakdown]:
        from sentgen.lookups.statistics.listed_tokens import ListedTokens

        by = By(self._by)
        # Only words and lemmas are lower-cased on the way in, or taken for one; tags keep their case.
        of_words = by in OF_WORDS
        lookup = self if of_words else replace(self, ignore_case=False)
        selection = lookup.select(connection, sentences=True)
        pattern = selection.fold(self.pattern) if of_words else self.pattern
        there = StoreKeys(connection, selection.names)
        keys = {str(by): Term(by, "match")}
        return ListedTokens(by, pattern, selection, self.limit), Breakdown(keys, selection, there)

    def _hits(self, connection: Connection) -> tuple[Query, Breakdown]:
        query, selection = self._query or _ALL_TOKENS, self.select(connection, sentences=True)
        by = Breakdown.read(connection, self._by, selection, self.parts, self.mean)
        # In CQL unless nothing of it looks so.
        cql = query if is_cql(query) or "[" in query or '"' in query else None
        terms = [*by.keys.values(), *([by.mean] if by.mean else [])]
        hits = Query.read(connection, query, selection, cql=cql, reading=self.reading, by=terms)
        if hits.one_token:
            keys = {name: replace(term, label=term.label or "match") for name, term in by.keys.items()}
            by = replace(by, keys=keys)
        return self.with_filters(connection, hits, selection), by
