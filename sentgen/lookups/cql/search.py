"""Queries in CQL, or word patterns, read and checked against a store: the interface for look-ups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated

import duckdb
from sqlalchemy import Connection

from sentgen.errors import InputError, QueryError
from sentgen.lookups.base.attributes import COLUMNS, NAMED, Test, Value
from sentgen.lookups.base.keys import MetadataKey, StoreKeys, bare
from sentgen.lookups.base.languages import Every
from sentgen.lookups.base.patterns import ANY, TokenPattern, glob
from sentgen.lookups.base.regions import RegionKey, plain
from sentgen.lookups.base.regular_expressions import explain_fault, like_pattern
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import DOCUMENT, SENTENCE, Bindings, Extent, HitSource, Statement
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.conditions import ENDS, TokenConditions
from sentgen.lookups.cql.dialects import AS_USUAL, Reading, Strategy
from sentgen.lookups.cql.spans import SpanStatement
from sentgen.lookups.cql.written import as_written
from sentgen.options import Option
from sentgen.output.wording import instead
from sentgen.schema.engine import raw

CqlOption = Annotated[
    str | None, Option('A query in CQL instead, such as `[upos="ADJ"]+ "house"`.', metavar="QUERY")
]
#: How to ask for keys that are no attributes of tokens.
_WAYS: dict[type, str] = {
    MetadataKey: "write :: match.{name} behind the pattern, or {where} '{key} = ...'",
    RegionKey: "write :: match.{name} behind the pattern",
}
#: The begin of a query that is no word pattern: these have a bracket, quote or parenthesis only by itself.
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
    """Require either a pattern or a query in CQL."""
    if bool(pattern) == (cql is not None):
        wrong = "a pattern and a query in CQL exclude each other" if pattern else "nothing is asked for"
        raise InputError(f"{wrong}; give a pattern, or a query in CQL")


@dataclass(frozen=True, slots=True)
class Cql:
    """A query that was checked against a store.

    Args:
        text: the text of the query.
        original: the syntax tree of the text.
        pattern: the tree with each word expanded to all tokens that are written so (`written`).
        strategy: which of the matching spans are hits.
        empty: the values in the query that match the empty string.
        extent: whether matches lie within sentences or documents.
    """

    text: str
    original: syntax.Pattern
    pattern: syntax.Pattern
    strategy: Strategy
    selection: Selection
    empty: frozenset[Test]
    keys: StoreKeys
    extent: Extent = SENTENCE

    @classmethod
    def read(
        cls,
        connection: Connection,
        text: str,
        selection: Selection,
        reading: Reading = AS_USUAL,
        by: Sequence[syntax.Term] = (),
    ) -> Cql:
        """Read and check a query.

        Args:
            reading: the dialect, which of the spans are hits, and whether they may cross sentences.
            by: attributes by which hits are grouped, which are checked as well.

        Raises:
            QueryError: the query cannot be read, names an unknown attribute or label, or has an invalid
                regular expression.
        """
        # Imported here: the import would take a tenth of the time of a look-up without CQL.
        from sentgen.lookups.cql.grammar import read

        pattern = read(text, StoreKeys(connection).find_kinds, reading.dialect)
        return cls.of_pattern(connection, text, pattern, selection, reading, by)

    @classmethod
    def of_pattern(
        cls,
        connection: Connection,
        text: str,
        pattern: syntax.Pattern,
        selection: Selection,
        reading: Reading = AS_USUAL,
        by: Sequence[syntax.Term] = (),
    ) -> Cql:
        """Check the syntax tree of a query in CQL, or of a word pattern; see `read`."""
        keys = StoreKeys(connection, selection.names)
        _check_terms(keys, text, by, pattern)
        empty = _empty(connection, text, pattern)
        written = as_written(connection, pattern, selection, across=reading.reaches)
        extent = _extent_of(written) if reading.reaches else SENTENCE
        return cls(text, pattern, written, reading.hits_of(text), selection, empty, keys, extent)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the query."""
        return self.pattern.all_labels

    @property
    def values(self) -> list[tuple[str, str, str, bool]]:
        """The values in the query: attribute, string, text before it, and whether it is an expression."""
        values = []
        for comparison in self.original.comparisons:
            left, right = comparison.left, comparison.right
            name = "word" if left.attribute == "form" else left.attribute
            if comparison.negated or left.label or name not in NAMED or not isinstance(right, Value):
                continue
            if len(right.texts) == 1:
                values.append((name, right.texts[0], f"{name}=", right.regex))
        return values

    def conditions(self, bindings: Bindings) -> TokenConditions:
        """Return an object that writes the conditions of this query into a statement."""
        return TokenConditions(self.selection, bindings, self.empty, self.keys)

    @property
    def condition(self) -> syntax.Condition:
        """The condition of a query of one token that has a condition."""
        assert isinstance(self.original, syntax.Token)
        assert self.original.condition is not None
        return self.original.condition

    def of_token(self, alias: str, bindings: Bindings) -> str:
        """Return the condition on a row of `token` for a query of one token."""
        return self.conditions(bindings).of_token(self.condition, alias)

    def find(self, bindings: Bindings) -> HitSource:
        """Return the hits in SQL; this statement defines the meaning of the query."""
        return SpanStatement(self.conditions(bindings), self.extent).find(self.pattern, self.strategy)


def _extent_of(pattern: syntax.Pattern) -> Extent:
    """Return whether matches lie within sentences or documents, for a pattern that may cross sentences."""
    inner = pattern if pattern.is_one_token else None
    match pattern:
        case syntax.Within(part, syntax.RegionPattern("s")):
            inner = part
    return SENTENCE if inner is not None and _inside(inner) else DOCUMENT


def _inside(pattern: syntax.Pattern) -> bool:
    """Return whether a pattern that lies within a sentence names no region, which may reach beyond it."""
    regular = syntax.Token | syntax.Sequence | syntax.Alternatives | syntax.Repetition
    inner = isinstance(pattern, regular | syntax.Multiword | syntax.Constrained)
    return inner and all(map(_inside, pattern.children))


def _check_terms(keys: StoreKeys, text: str, by: Sequence[syntax.Term], pattern: syntax.Pattern) -> None:
    """Refuse unknown labels and attributes."""
    labels = [*pattern.all_labels, *ENDS]
    for term in by:
        if term.label and term.label not in labels:
            listed = ", ".join(labels)
            raise QueryError(f"no label {term.label!r} in the query; there are {listed}", query=text)
    _check_labels(text, pattern)
    for region in pattern.regions:
        _check_region(keys, text, region)
    values = list[syntax.Term]()
    for test in pattern.comparisons:
        if isinstance(test.right, syntax.Term):
            values.append(test.right)
        elif isinstance(test.right, Value) and keys.find_surprisal(test.left.attribute):
            # A number never equals a string.
            message = f"{test.left.attribute} is a number: compare it by <, <=, > or >="
            raise QueryError(message, query=text, offset=test.left.column)
    for term in [*_terms(pattern), *by]:
        key = keys.find(term.attribute)
        # Metadata need a label, as in `match.genre`.
        if key is None or not (key.of_tokens or term.label):
            is_value = any(term is value for value in values)
            message = f'a value stands in quotes: "{term.attribute}"' if is_value else _unknown(keys, term)
            raise QueryError(message, query=text, offset=term.column or None)


def _terms(pattern: syntax.Pattern) -> Iterable[syntax.Term]:
    for condition in pattern.conditions:
        yield from syntax.terms(condition)


def _check_region(keys: StoreKeys, text: str, region: syntax.RegionPattern) -> None:
    kinds = () if region.built_in else keys.find_kinds(region.kind)
    if not region.built_in and not kinds:
        others = instead(region.kind, ["s", "doc", *map(plain, keys.kinds)])
        raise QueryError(f"no region {region.kind!r}; {others}", query=text, offset=region.column)
    for test in region.tests:
        name = test.left.attribute
        if region.built_in:
            is_known = bool(keys.find_property(region.kind, name))
            known = ["id", *map(plain, keys.metadata)]
        else:
            is_known, known = bool(keys.find_attribute(kinds, name)), list(map(plain, keys.attributes(kinds)))
        if not is_known:
            message = f"no attribute {name!r} of {region.kind}; {instead(name, known)}"
            raise QueryError(message, query=text, offset=test.left.column)


def _unknown(keys: StoreKeys, term: syntax.Term) -> str:
    # An attribute without a label was read as one of the match.
    name, stem = term.attribute.removeprefix("match."), bare(term.attribute)
    if stem == term.attribute:
        return keys.refusal(name, "attribute", _WAYS)
    if keys.find_token(stem):
        return f"an attribute of which label? Write match.{stem} for that of the first token"
    return keys.refusal(name, "metadata", _WAYS)


def _check_labels(text: str, pattern: syntax.Pattern) -> None:
    """Refuse labels in a condition that its pattern does not have."""
    if isinstance(pattern, syntax.Token) and pattern.condition:
        for test in syntax.leaves(pattern.condition):
            if isinstance(test, syntax.LabelTest):
                message = f'write what it is: {test.label} = "..."'
                raise QueryError(message, query=text, offset=test.column)
        for term in _terms(pattern):
            if term.label:
                message = "a label is compared behind the pattern: a:[] b:[] :: a.lemma = b.lemma"
                raise QueryError(message, query=text, offset=term.column)
    if isinstance(pattern, syntax.Constrained):
        labels = pattern.part.all_labels
        condition = pattern.condition
        named = [(term.label, term.column) for term in syntax.terms(condition)]
        tests = syntax.leaves(condition)
        named += [(test.label, test.column) for test in tests if isinstance(test, syntax.LabelTest)]
        for label, column in sorted(named, key=itemgetter(1)):
            if label not in (*labels, *ENDS):
                listed = ", ".join([*labels, *ENDS])
                raise QueryError(f"no label {label!r}; there are {listed}", query=text, offset=column)
        for test in tests:
            # Frequencies are those of columns of tokens.
            if isinstance(test, syntax.Measured) and test.function == "f":
                (term,) = test.terms
                if term.attribute not in COLUMNS:
                    message = f"f counts {', '.join(NAMED)}, and no {term.attribute}"
                    raise QueryError(message, query=text, offset=term.column)
    for part in pattern.children:
        _check_labels(text, part)


def _empty(connection: Connection, text: str, pattern: syntax.Pattern) -> frozenset[Test]:
    """Return the values that match the empty string, by DuckDB, which also checks regular expressions."""
    values = set[Test]()
    of_regions = (test for region in pattern.regions for test in region.tests)
    for test in (*pattern.comparisons, *of_regions):
        if isinstance(test.right, syntax.Term):
            continue
        if (is_empty := _is_empty(test.right)) is not None:
            values |= {test.right} if is_empty else set()
            continue
        bindings = Bindings()
        try:
            condition = test.right.condition(bindings.bind("empty", ""), bindings)
            query = Statement(f"select {condition}", bindings)
            if raw(connection).execute(query.text, dict(bindings)).fetchall() == [(True,)]:
                values.add(test.right)
        except duckdb.InvalidInputException as error:
            if not (isinstance(test.right, Value) and test.right.regex):
                raise  # not the expression is wrong, but the string, which is no UTF-8
            raise _no_expression(text, test, error) from None
        except InputError as error:
            raise QueryError(f"no regular expression: {error}", query=text, offset=test.column) from None
    return frozenset(values)


def _is_empty(value: Test) -> bool | None:
    """Return whether a value matches the empty string; None if only DuckDB can say so."""
    if not isinstance(value, Value):
        return False
    texts = list(map(like_pattern, value.texts)) if value.regex else value.texts
    return (
        None
        if None in texts
        else "" in [text.replace("%", "") if value.regex and text else text for text in texts]
    )


def _no_expression(text: str, test: syntax.CqlComparison, error: duckdb.InvalidInputException) -> QueryError:
    assert isinstance(test.right, Value)
    reason, wrong = explain_fault(error)
    inside = test.right.texts[0].find(wrong)
    # RE2 quotes the wrong piece of the expression; an escaped quote before the piece shifts it by one.
    column = test.column + (1 + inside if inside >= 0 else 0)
    return QueryError(f"no regular expression: {reason}", query=text, offset=column)


def token_of(pattern: TokenPattern) -> syntax.Token:
    """Convert a token of a word pattern to CQL: ``stock/NN`` is ``[word="stock" & pos="NN"]``."""
    conditions = list[syntax.Condition]()
    if pattern.pattern != ANY:
        value = _value_of(pattern.pattern, ignore_case=pattern.ignore_case)
        conditions.append(syntax.CqlComparison(syntax.Term(pattern.attribute), value))
    elif pattern.attribute != "word":
        # A missing value is the empty string.
        conditions.append(syntax.CqlComparison(syntax.Term(pattern.attribute), Value(("",)), negated=True))
    if pattern.tag:
        conditions.append(syntax.CqlComparison(syntax.Term("pos"), _value_of(pattern.tag)))
    if not conditions:
        return syntax.Token()
    return syntax.Token(conditions[0] if len(conditions) == 1 else Every(tuple(conditions)))


def _value_of(pattern: str, *, ignore_case: bool = False) -> Value:
    """Convert a word pattern to a value of CQL.

    >>> _value_of("un*").texts, _value_of("50%").texts, _value_of("a.*").texts
    (('un.*',), ('50%',), ('a\\\\..*',))
    """
    word = glob(pattern)
    return Value((word.expression if word.wild else word.text,), word.wild, ignore_case)
