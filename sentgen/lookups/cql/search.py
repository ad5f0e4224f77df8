"""A query that was read and checked: what look-ups ask for its hits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import duckdb
from sqlalchemy import Connection

from sentgen.errors import InputError, QueryError
from sentgen.lookups.attributes import COLUMNS, NAMED, Test, Value
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import AS_USUAL, Reading, Strategy
from sentgen.lookups.cql.reaching import reaching
from sentgen.lookups.cql.regions import find_property
from sentgen.lookups.cql.spans import SpanStatement
from sentgen.lookups.cql.tokens import ENDS, TAGS, TokenConditions, is_attribute
from sentgen.lookups.cql.written import as_written
from sentgen.lookups.keys import StoreKeys, bare
from sentgen.lookups.reach import SENTENCE, Reach
from sentgen.lookups.regions import plain
from sentgen.lookups.regular import like_pattern, told
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement
from sentgen.options import Option
from sentgen.output.wording import instead
from sentgen.schema.engine import raw

CqlOption = Annotated[
    str | None, Option('A query in CQL instead, such as `[upos="ADJ"]+ "house"`.', metavar="QUERY")
]
_EACH = "select sentence_id, first, last from {match}"
_SPANS = _EACH.replace("select", "select distinct")
#: A span is one of the longest if none that begins before it, or with it and is longer, ends behind it.
_LONGEST = f"""\
  select sentence_id, first, last
  from ({_SPANS})
  qualify coalesce(max(last) over (
    partition by sentence_id order by first, last desc rows between unbounded preceding and 1 preceding
  ) < last, true)"""
_SHORTEST = f"""\
  select sentence_id, first, last
  from ({_SPANS})
  qualify coalesce(min(last) over (
    partition by sentence_id order by first desc, last rows between unbounded preceding and 1 preceding
  ) > last, true)"""
#: As CQP does it: of those that begin at a token the shortest, of these that end at a token the longest.
_STANDARD = """\
  select sentence_id, min(first) as first, last
  from (select sentence_id, first, min(last) as last from {match} group by sentence_id, first)
  group by sentence_id, last"""
_TRADITIONAL = """\
  select sentence_id, first, min(last) as last
  from {match}
  group by sentence_id, first"""
_HITS = {
    Strategy.ALL: f"  {_SPANS}",
    Strategy.LONGEST: _LONGEST,
    Strategy.SHORTEST: _SHORTEST,
    Strategy.STANDARD: _STANDARD,
    Strategy.TRADITIONAL: _TRADITIONAL,
}
#: What patterns of words do not begin with, but for a bracket, a quote or a parenthesis alone.
_CQL = re.compile(
    r"""\s*(
        \(*\s*\[(\S|\s*\]|\s*\w+\s*!?=)
        | \(*\s*("[^"\s]+"|'[^'\s]+')\s*(%[cdl]+)?\s*([?*+{|)&"'\[<;:(@]|within\b|containing\b|expand\b|$)
        | (?!(word|lemma|upos|xpos|deprel):)\w+:\s*["\[@] | @:?\s*["\[]
        | </?(s|doc|text)>
        | <(?!unk>|root>)[^\W\d]\w*\s*(/>|>\s*[\["'(<@]|\w+\s*!?=\s*["'])
        | (MU|TAB)\s*["\[(] | (meet|union)\s+["\[(]
    )""",
    re.VERBOSE,
)


def is_cql(pattern: str) -> bool:
    """Return whether a pattern can only be CQL.

    >>> is_cql('[lemma="go"] []'), is_cql('"go" "home"'), is_cql("go home"), is_cql("[")
    (True, True, False, False)
    """
    return _CQL.match(pattern) is not None


def check_one(pattern: str, cql: str | None) -> None:
    """Refuse both a pattern and a query in CQL, and neither."""
    if bool(pattern) == (cql is not None):
        wrong = "a pattern and a query in CQL exclude each other" if pattern else "nothing is asked for"
        raise InputError(f"{wrong}; give a pattern, or a query in CQL")


@dataclass(frozen=True, slots=True)
class CqlMatches:
    """The hits of a query in a statement.

    Args:
        parts: common table expressions, each with a comma and a line feed behind it.
        hits: the name of that with the hits: sentence_id, first and last, each once.
        match: the name of that with the places of labels, one row for each way to place them.
        labels: label to its column there.
    """

    parts: str
    hits: str
    match: str
    labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class Cql:
    """A query, ready to be asked.

    Args:
        text: as it was asked.
        asked: what it says.
        pattern: the same with all that is written so for each word.
        strategy: which of the spans are hits.
        selection: the corpora.
        empty: the values in it that match the empty string.
        keys: those of the store.
        reach: how far a match reaches.
    """

    text: str
    asked: syntax.Pattern
    pattern: syntax.Pattern
    strategy: Strategy
    selection: Selection
    empty: frozenset[Test]
    keys: StoreKeys
    reach: Reach = SENTENCE

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the query."""
        return syntax.labels(self.pattern)

    @property
    def values(self) -> list[tuple[str, str, str, bool]]:
        """What tokens are to be: attribute, string, what stands before it, whether it is an expression."""
        found = []
        for condition in syntax.conditions(self.asked):
            for one in syntax.comparisons(condition):
                name = "word" if one.left.attribute == "form" else one.left.attribute
                if one.negated or one.left.label or name not in NAMED or not isinstance(one.right, Value):
                    continue
                texts = one.right.texts if len(one.right.texts) == 1 else ()
                found += [(name, text, f"{name}=", one.right.regex) for text in texts]
        return found

    def conditions(self, bindings: Bindings) -> TokenConditions:
        """Return what writes the conditions of this query into a statement."""
        return TokenConditions(self.selection, bindings, self.empty, self.keys)

    def find(self, bindings: Bindings) -> CqlMatches:
        """Return the hits as a statement has them, which is what a query means."""
        spans = SpanStatement(self.conditions(bindings), self.reach)
        match = spans.write(self.pattern)
        parts = "".join(f"{part},\n" for part in spans.parts)
        hits = f"found as (\n{_HITS[self.strategy].format(match=match)}\n),\n"
        return CqlMatches(parts + hits, "found", match, spans.labels)


def parse_cql(
    connection: Connection,
    text: str,
    selection: Selection,
    reading: Reading = AS_USUAL,
    by: Sequence[syntax.Term] = (),
) -> Cql:
    """Read and check a query.

    Args:
        connection: the store.
        text: the query.
        selection: the corpora.
        reading: how it is read: the dialect, which of the spans are hits, and how far they reach.
        by: attributes that hits are told apart by, which are checked as well.

    Raises:
        QueryError: it cannot be read, asks for an attribute or a label that there is not, or has a regular
            expression that is none.
    """
    # Its import takes a tenth of the time of a look-up that has no CQL.
    from sentgen.lookups.cql.grammar import read

    keys = StoreKeys(connection, selection.names)
    pattern = read(text, keys.find_kinds, reading.dialect)
    return _checked(connection, keys, text, pattern, reading.hits_of(text), selection, reading, by)


def query_of(
    connection: Connection,
    text: str,
    pattern: syntax.Pattern,
    selection: Selection,
    reading: Reading = AS_USUAL,
    by: Sequence[syntax.Term] = (),
) -> Cql:
    """Check a pattern that was not written in CQL; see `parse_cql`."""
    keys = StoreKeys(connection, selection.names)
    return _checked(connection, keys, text, pattern, Strategy.ALL, selection, reading, by)


def _checked(
    connection: Connection,
    keys: StoreKeys,
    text: str,
    pattern: syntax.Pattern,
    strategy: Strategy,
    selection: Selection,
    reading: Reading,
    by: Sequence[syntax.Term],
) -> Cql:
    check_terms(keys, text, by, pattern)
    empty, reach, asked = _empty(connection, text, pattern), SENTENCE, pattern
    pattern = as_written(connection, pattern, selection, across=reading.reaches)
    if reading.reaches:
        pattern, reach = reaching(pattern, selection)
    return Cql(text, asked, pattern, strategy, selection, empty, keys, reach)


def _terms(pattern: syntax.Pattern) -> Iterable[syntax.Term]:
    for condition in syntax.conditions(pattern):
        yield from syntax.terms(condition)


def check_terms(
    keys: StoreKeys, text: str, by: Sequence[syntax.Term], pattern: syntax.Pattern | None = None
) -> None:
    """Refuse unknown labels and attributes.

    Args:
        keys: those of the store.
        text: the query, for errors.
        by: attributes that hits are told apart by.
        pattern: the query, if it is in CQL; others have no labels.

    Raises:
        QueryError: there is no such label or attribute.
    """
    labels = [*(syntax.labels(pattern) if pattern else ()), *ENDS]
    for one in by:
        if one.label and one.label not in labels:
            listed = ", ".join(labels)
            raise QueryError(f"no label {one.label!r} in the query; there are {listed}", query=text)
    asked = list(by)
    values = list[object]()
    if pattern:
        _check_labels(text, pattern)
        _check_numbers(keys, text, pattern)
        for region in syntax.regions(pattern):
            _check_region(keys, text, region)
        asked = [*_terms(pattern), *by]
        values = [two.right for each in syntax.conditions(pattern) for two in syntax.comparisons(each)]
    for one in asked:
        if not _is_known(keys, one):
            is_value = any(one is value for value in values)
            told = f'a value stands in quotes: "{one.attribute}"' if is_value else _unknown(keys, one)
            raise QueryError(told, query=text, place=one.column or None)


def _check_numbers(keys: StoreKeys, text: str, pattern: syntax.Pattern) -> None:
    """Refuse to compare a surprisal with a string, which it never is."""
    for one in (two for each in syntax.conditions(pattern) for two in syntax.comparisons(each)):
        if isinstance(one.right, Value) and keys.find_surprisal(one.left.attribute):
            message = f"{one.left.attribute} is a number: compare it by <, <=, > or >="
            raise QueryError(message, query=text, place=one.left.column)


def _is_known(keys: StoreKeys, one: syntax.Term) -> bool:
    """Return whether there is such an attribute; metadata are asked of a label, as ``match.genre``."""
    name = one.attribute
    if is_attribute(keys, name):
        return True
    return bool(one.label) and bool(keys.find_metadata(name) or keys.find_region(name))


def _check_region(keys: StoreKeys, text: str, region: syntax.RegionPattern) -> None:
    """Refuse a region of which there is no kind, or none with the attributes that it is asked for."""
    kinds = () if region.built_in else keys.find_kinds(region.kind)
    if not region.built_in and not kinds:
        there = instead(region.kind, ["s", "doc", *map(plain, keys.kinds)])
        raise QueryError(f"no region {region.kind!r}; {there}", query=text, place=region.column)
    for one in region.tests:
        name = one.left.attribute
        if region.built_in:
            found, known = bool(find_property(keys, region, name)), ["id", *map(plain, keys.metadata)]
        else:
            found, known = bool(keys.find_attribute(kinds, name)), list(map(plain, keys.attributes(kinds)))
        if not found:
            message = f"no attribute {name!r} of {region.kind}; {instead(name, known)}"
            raise QueryError(message, query=text, place=one.left.column)


def _unknown(keys: StoreKeys, one: syntax.Term) -> str:
    """Say that there is no such attribute, and what may be meant."""
    name = one.attribute
    if found := keys.find_metadata(name):
        return (
            f"{name} is metadata: write :: match.{name} behind the pattern, or --where '{found.name} = ...'"
        )
    if keys.find_region(name):
        return f"{name} is said of regions: write :: match.{name} behind the pattern"
    if (stem := bare(name)) != name:
        if stem in keys.of_tokens or stem in TAGS:
            return f"an attribute of which label? Write match.{stem} for that of the first token"
        return f"no metadata {name!r}; {instead(stem, keys.of_sentences)}"
    return f"no attribute {name!r}; {instead(name, [*keys.of_tokens, *TAGS, *keys.of_sentences])}"


def _check_labels(text: str, pattern: syntax.Pattern) -> None:
    """Refuse labels that a condition names and its pattern does not have."""
    if isinstance(pattern, syntax.Token) and pattern.condition:
        for test in syntax.leaves(pattern.condition):
            if isinstance(test, syntax.LabelTest):
                message = f'write what it is: {test.label} = "..."'
                raise QueryError(message, query=text, place=test.column)
        for one in _terms(pattern):
            if one.label:
                message = "a label is compared behind the pattern: a:[] b:[] :: a.lemma = b.lemma"
                raise QueryError(message, query=text, place=one.column)
    if isinstance(pattern, syntax.Constrained):
        there = syntax.labels(pattern.part)
        condition = pattern.condition
        named = [(one.label, one.column) for one in syntax.terms(condition)]
        tests = syntax.leaves(condition)
        named += [(one.label, one.column) for one in tests if isinstance(one, syntax.LabelTest)]
        for label, place in sorted(named, key=lambda one: one[1]):
            if label not in (*there, *ENDS):
                listed = ", ".join([*there, *ENDS])
                raise QueryError(f"no label {label!r}; there are {listed}", query=text, place=place)
        _check_frequencies(text, condition)
    for part in syntax.children(pattern):
        _check_labels(text, part)


def _check_frequencies(text: str, condition: syntax.Condition) -> None:
    """Refuse to count what is no column of tokens."""
    for one in syntax.leaves(condition):
        if isinstance(one, syntax.Measured) and one.function == "f":
            (term,) = one.terms
            if term.attribute not in COLUMNS:
                message = f"f counts {', '.join(NAMED)}, and no {term.attribute}"
                raise QueryError(message, query=text, place=term.column)


def _empty(connection: Connection, text: str, pattern: syntax.Pattern) -> frozenset[Test]:
    """Return the values that match the empty string; DuckDB says so, and which are no regular expressions."""
    found = set[Test]()
    of_tokens = (one for each in syntax.conditions(pattern) for one in syntax.comparisons(each))
    of_regions = (one for region in syntax.regions(pattern) for one in region.tests)
    for one in (*of_tokens, *of_regions):
        if isinstance(one.right, syntax.Term):
            continue
        if (plain := _is_empty(one.right)) is not None:
            found |= {one.right} if plain else set()
            continue
        bindings = Bindings()
        try:
            query = Statement(f"select {one.right.condition(bindings.bind('empty', ''), bindings)}", bindings)
            if raw(connection).execute(query.text, dict(bindings)).fetchall() == [(True,)]:
                found.add(one.right)
        except duckdb.InvalidInputException as error:
            if not (isinstance(one.right, Value) and one.right.regex):
                raise  # not of the expression, but of the string: it is no UTF-8
            raise _no_expression(text, one, error) from None
        except InputError as error:
            raise QueryError(f"no regular expression: {error}", query=text, place=one.column) from None
    return frozenset(found)


def _is_empty(value: Test) -> bool | None:
    """Return whether a value matches the empty string; none if that is for DuckDB to say."""
    if not isinstance(value, Value):
        return False
    texts = list(map(like_pattern, value.texts)) if value.regex else value.texts
    return (
        None
        if None in texts
        else "" in [text.replace("%", "") if value.regex and text else text for text in texts]
    )


def _no_expression(text: str, one: syntax.CqlComparison, error: duckdb.InvalidInputException) -> QueryError:
    assert isinstance(one.right, Value)
    reason, wrong = told(error)
    inside = one.right.texts[0].find(wrong)
    # RE2 names the piece that it stumbled over; an escaped quote before it shifts it by one.
    place = one.column + (1 + inside if inside >= 0 else 0)
    return QueryError(f"no regular expression: {reason}", query=text, place=place)
