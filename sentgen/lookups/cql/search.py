"""A CQL query that was read, checked and planned: what look-ups ask for its hits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import duckdb
from sqlalchemy import Connection

from sentgen.errors import InputError, QueryError
from sentgen.lookups.attributes import NAMED, Test, Value
from sentgen.lookups.concordances.places import sentences_of
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import AS_USUAL, Reading, Strategy
from sentgen.lookups.cql.plan import plan
from sentgen.lookups.cql.reaching import reaching
from sentgen.lookups.cql.regions import find_property
from sentgen.lookups.cql.scans import Scans
from sentgen.lookups.cql.spans import Spans
from sentgen.lookups.cql.tokens import ENDS, TAGS, TokenConditions, is_attribute
from sentgen.lookups.keys import StoreKeys, bare
from sentgen.lookups.languages import Negation
from sentgen.lookups.reach import DOCUMENT, SENTENCE, Reach
from sentgen.lookups.regions import plain
from sentgen.lookups.regular import told
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement
from sentgen.options import Option
from sentgen.output.wording import instead
from sentgen.schema.engine import raw

if TYPE_CHECKING:
    from sentgen.lookups.cql.walks import Walk


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
        pattern: what it says.
        strategy: which of the spans are hits.
        selection: the corpora.
        empty: the values in it that match the empty string.
        keys: those of the store.
        rare: what is looked up first.
        sentences: how many are searched at once.
        walked: whether there is so much to walk along that it is done over arrays.
        reach: how far a match reaches.
    """

    text: str
    pattern: syntax.Pattern
    strategy: Strategy
    selection: Selection
    empty: frozenset[Test]
    keys: StoreKeys
    rare: syntax.Condition | None = None
    sentences: int = 0
    walked: bool = False
    reach: Reach = SENTENCE

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the query."""
        return syntax.labels(self.pattern)

    @property
    def values(self) -> list[tuple[str, str, str, bool]]:
        """What tokens are to be: attribute, string, what stands before it, whether it is an expression."""
        found = []
        for condition in syntax.conditions(self.pattern):
            for one in syntax.comparisons(condition):
                name = "word" if one.left.attribute == "form" else one.left.attribute
                if one.negated or one.left.label or name not in NAMED or not isinstance(one.right, Value):
                    continue
                texts = one.right.texts if len(one.right.texts) == 1 else ()
                found += [(name, text, f"{name}=", one.right.regex) for text in texts]
        return found

    def conditions(self, bindings: Bindings) -> TokenConditions:
        """Return what writes the conditions of this query into a statement."""
        return TokenConditions(self.text, self.selection, bindings, self.empty, self.keys)

    def find(self, bindings: Bindings, low: str = "", high: str = "", *, walked: bool = False) -> CqlMatches:
        """Return the hits.

        Args:
            bindings: of the statement.
            low: a parameter with the first sentence to search; empty for all of them.
            high: a parameter with the last one.
            walked: whether `walks` were walked, and lent to the connection.
        """
        scans = Scans(self.conditions(bindings), self.rare, low, high, self.reach)
        spans = Spans(scans, walked)
        match = spans.write(self.pattern)
        parts = "".join(f"{part},\n" for part in spans.parts)
        text = f"  {_EACH}" if spans.once and self.strategy is Strategy.ALL else _HITS[self.strategy]
        hits = f"found as (\n{text.format(match=match)}\n),\n"
        return CqlMatches(parts + hits, "found", match, spans.labels)

    def walks(self, bindings: Bindings, low: str, high: str) -> dict[str, Walk]:
        """Return what is to be walked for the hits in a range of sentences, by the name of its table."""
        scans = Scans(self.conditions(bindings), self.rare, low, high, self.reach)
        spans = Spans(scans, walked=True)
        spans.write(self.pattern)
        return {f"walked_{number}": walk for number, walk in enumerate(spans.walks, 1)}


def parse_cql(
    connection: Connection,
    text: str,
    selection: Selection,
    reading: Reading = AS_USUAL,
    by: Sequence[syntax.Term] = (),
) -> Cql:
    """Read, check and plan a query.

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
    pattern, strategy = read(text, keys.find_kinds, reading.dialect), reading.hits_of(text)
    check_terms(keys, text, by, pattern)
    reach = SENTENCE
    if reading.reaches:
        pattern, reach = reaching(pattern, selection)
    cql = Cql(text, pattern, strategy, selection, _empty(connection, text, pattern), keys, reach=reach)
    sentences = sentences_of(connection)
    planned = plan(connection, pattern, cql.conditions(Bindings()), sentences, across=reach is DOCUMENT)
    cql = replace(cql, rare=planned.rare, sentences=planned.sentences)
    return replace(cql, walked=planned.walked and bool(cql.walks(Bindings(), "", "")))


def _terms(pattern: syntax.Pattern) -> Iterable[syntax.Term]:
    for condition in syntax.conditions(pattern):
        for one in syntax.comparisons(condition):
            yield one.left
            if isinstance(one.right, syntax.Term):
                yield one.right


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
        for one in _terms(pattern):
            if one.label:
                message = "a label is compared behind the pattern: a:[] b:[] :: a.lemma = b.lemma"
                raise QueryError(message, query=text, place=one.column)
    if isinstance(pattern, syntax.Constrained):
        there = syntax.labels(pattern.part)
        for label, place in _named(pattern.condition):
            if label not in (*there, *ENDS):
                listed = ", ".join([*there, *ENDS])
                raise QueryError(f"no label {label!r}; there are {listed}", query=text, place=place)
    for part in syntax.children(pattern):
        _check_labels(text, part)


def _named(condition: syntax.Condition) -> list[tuple[str, int]]:
    match condition:
        case syntax.LabelTest(label, column):
            return [(label, column)]
        case syntax.CqlComparison(left, right):
            terms = [left, *([right] if isinstance(right, syntax.Term) else [])]
            return [(one.label, one.column) for one in terms]
        case Negation(part):
            return _named(part)
    return [one for part in condition.parts for one in _named(part)]


def _empty(connection: Connection, text: str, pattern: syntax.Pattern) -> frozenset[Test]:
    """Return the values that match the empty string; DuckDB says so, and which are no regular expressions."""
    found = set[Test]()
    of_tokens = (one for each in syntax.conditions(pattern) for one in syntax.comparisons(each))
    of_regions = (one for region in syntax.regions(pattern) for one in region.tests)
    for one in (*of_tokens, *of_regions):
        if isinstance(one.right, syntax.Term):
            continue
        bindings = Bindings()
        try:
            query = Statement(f"select {one.right.condition(bindings.bind('empty', ''), bindings)}", bindings)
            if raw(connection).execute(query.text, dict(bindings)).fetchall() == [(True,)]:
                found.add(one.right)
        except duckdb.InvalidInputException as error:
            raise _no_expression(text, one, error) from None
        except InputError as error:
            raise QueryError(f"no regular expression: {error}", query=text, place=one.column) from None
    return frozenset(found)


def _no_expression(text: str, one: syntax.CqlComparison, error: duckdb.InvalidInputException) -> QueryError:
    assert isinstance(one.right, Value)
    reason, wrong = told(error)
    inside = one.right.texts[0].find(wrong)
    # RE2 names the piece that it stumbled over; an escaped quote before it shifts it by one.
    place = one.column + (1 + inside if inside >= 0 else 0)
    return QueryError(f"no regular expression: {reason}", query=text, place=place)
