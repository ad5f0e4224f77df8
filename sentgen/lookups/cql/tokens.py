"""Conditions on one token, and on the labels of a match, in SQL.

An attribute that a token lacks is the empty string, as in CWB and BlackLab, so that a condition is true or
false, and ``[Number != "Sing"]`` finds tokens without a number. A comparison with a label that stands for no
token is false, whatever its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.case_folding import fold_sql
from sentgen.lookups.base.attributes import COLUMNS, TAGS, Key, Test, shared_columns, token_key
from sentgen.lookups.base.keys import MetadataKey, StoreKeys
from sentgen.lookups.base.languages import Either, Every
from sentgen.lookups.base.numbers import compare_numbers
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.surface import surface_of
from sentgen.lookups.cql import syntax
from sentgen.lookups.question.selection import Selection

#: The first token of a match and the last one, as labels.
ENDS = {"match": "first", "matchend": "last"}

#: The tokens behind which a multiword token goes on.
_WITHIN = 'select sentence_id, unnest(range("first", "last")) from multiword'


@dataclass(frozen=True, slots=True)
class TokenConditions:
    """Writes conditions into a statement.

    Args:
        selection: how words and lemmas are compared.
        bindings: of the statement.
        empty: the values that match the empty string.
        keys: those of the store.
    """

    selection: Selection
    bindings: Bindings
    empty: frozenset[Test]
    keys: StoreKeys

    def of_token(self, condition: syntax.Condition, alias: str) -> str:
        """Return a condition on a row of `token`; null may stand for false."""
        match condition:
            case syntax.CqlComparison():
                return self._comparison(condition, alias, alias)
            case syntax.NoSpace():
                return _no_space(self.keys.connection, alias)
        return _compose(condition, lambda part: self.of_token(part, alias))

    def of_labels(self, condition: syntax.Condition, columns: Mapping[str, str]) -> str:
        """Return a condition on the labels of a match.

        Args:
            condition: its terms have labels.
            columns: label to its column in ``m``; the row of `token` there has the alias ``t_COLUMN``.
        """
        match condition:
            case syntax.LabelTest(name, negated=negated):
                return f"m.{columns[name]} is {'' if negated else 'not '}null"
            case syntax.Measured(function, terms, operator, number):
                limit = self.bindings.bind("number", number)
                # Of a label that stands for nothing, nothing holds.
                return f"coalesce({self._measure(function, terms, columns)} {operator} {limit}, false)"
            case syntax.CqlComparison(left, right):
                of_right = right.label if isinstance(right, syntax.Term) else left.label
                # Never the label itself: SQL takes neither all names nor capital letters for others.
                comparison = self._comparison(condition, f"t_{columns[left.label]}", f"t_{columns[of_right]}")
                optional = [label for label in dict.fromkeys((left.label, of_right)) if label not in ENDS]
                bound = [f"m.{columns[label]} is not null" for label in optional]
                return f"({' and '.join([*bound, comparison])})"
        return _compose(condition, lambda part: self.of_labels(part, columns))

    def _measure(self, function: str, terms: Sequence[syntax.Term], columns: Mapping[str, str]) -> str:
        """Return what a function says of labels."""
        if function == "f":
            (term,) = terms
            column = COLUMNS[term.attribute][0]
            conditions = [f"f.{column} = t_{columns[term.label]}.{column}"]
            conditions += self.selection.of_corpora(self.bindings, "f.corpus_id")
            count = f"(select count(*) from token as f where {' and '.join(conditions)})"
            return f"case when m.{columns[term.label]} is not null then {count} end"
        first, second = (f"m.{columns[term.label]}" for term in terms)
        return f"abs({second} - {first})" if function == "distabs" else f"({second} - {first})"

    def comparison(self, comparison: syntax.CqlComparison, left: str, right: str, bindings: Bindings) -> str:
        """Return a comparison of two rows of `token`, or of the one alone, for another statement."""
        return replace(self, bindings=bindings)._comparison(comparison, left, right)

    def of_document(self, comparison: syntax.CqlComparison, alias: str, bindings: Bindings) -> str:
        """Return the condition that metadata of documents are such a value.

        Args:
            comparison: of the metadata with a value.
            alias: of a row with ``document_id``.
            bindings: of the statement.
        """
        key = self.key(comparison.left.attribute)
        assert isinstance(key, MetadataKey)
        assert not isinstance(comparison.right, syntax.Term)
        value = self.selection.with_case(key, comparison.right)
        condition = value.condition(key.of_row(alias, bindings), bindings)
        return f"coalesce({condition}, {str(comparison.right in self.empty).lower()})"

    def _comparison(self, comparison: syntax.CqlComparison, left: str, right: str) -> str:
        negated = comparison.negated
        if isinstance(comparison.right, syntax.Term):
            return self._compare_terms(comparison, (comparison.left, comparison.right), (left, right))
        key, lacks = self.key(comparison.left.attribute), comparison.right in self.empty
        value = self.selection.with_case(key, comparison.right)
        if not key.of_tokens:
            condition = f"coalesce({key.condition(left, value, self.bindings)}, {str(lacks).lower()})"
            return f"not {condition}" if negated else condition
        condition = key.condition(left, value, self.bindings)
        if lacks:
            # What there is, and is something else.
            present = key.condition(left, None, self.bindings)
            other = f"({present}) and not coalesce({condition}, false)"
            return f"({other})" if negated else f"({other}) is not true"
        return f"({condition}) is not true" if negated else condition

    def key(self, name: str) -> Key:
        """Return what an attribute stands for, of a query that was checked."""
        key = self.keys.find(name)
        assert key is not None
        return key

    def _compare_terms(
        self,
        comparison: syntax.CqlComparison,
        terms: tuple[syntax.Term, syntax.Term],
        aliases: tuple[str, str],
    ) -> str:
        negated = comparison.negated
        if comparison.operator != "=":
            sides = self._strings(terms, aliases)
            condition = compare_numbers(sides[0], comparison.operator, sides[1])
            return f"({condition}) is not true" if negated else condition
        keys = [self.key(term.attribute) for term in terms]
        if (both := shared_columns(*keys)) and not self.selection.ignore_case:
            # The same ids stand for the same strings.
            left, right = (f"{alias}.{column}" for alias, column in zip(aliases, both, strict=True))
            return f"{left} is {'' if negated else 'not '}distinct from {right}"
        first, second = (f"coalesce({side}, '')" for side in self._strings(terms, aliases))
        if all(key.is_word for key in keys) and self.selection.ignore_case:
            first, second = fold_sql(first), fold_sql(second)
        return f"{first} {'<>' if negated else '='} {second}"

    def _strings(self, terms: Sequence[syntax.Term], aliases: Sequence[str]) -> list[str]:
        return [self.string(term.attribute, alias) for term, alias in zip(terms, aliases, strict=True)]

    def string(self, name: str, alias: str) -> str:
        """Return the string of an attribute of a row of `token`; null where there is none."""
        return self.key(name).string(alias, self.bindings)


def _compose(condition: syntax.Condition, write: Callable[[syntax.Condition], str]) -> str:
    assert isinstance(condition, Every | Either)
    word = " and " if isinstance(condition, Every) else " or "
    return f"({word.join(map(write, condition.parts))})"


def _no_space(connection: Connection, alias: str) -> str:
    """Return the condition on a row of `token` that no space follows it, and it is not within a multiword."""
    condition = f"{alias}.space_after = false"
    if not surface_of(connection).multiwords:
        return condition
    return f"{condition} and ({alias}.sentence_id, {alias}.position) not in ({_WITHIN})"


def columns(condition: syntax.Condition | None) -> set[str]:
    """Return the columns of `token` that a condition looks at."""
    names = set[str]()
    for comparison in syntax.comparisons(condition):
        for term in (comparison.left, comparison.right):
            if isinstance(term, syntax.Term):
                known = term.attribute in (*COLUMNS, *TAGS)
                names |= set(token_key(term.attribute if known else "feats").columns)
    return names
