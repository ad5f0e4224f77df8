"""Conditions on one token, and on the labels of a match, in SQL.

An attribute that a token lacks is the empty string, as in CWB and BlackLab, so that a condition is true or
false, and ``[Number != "Sing"]`` finds tokens without a number. A comparison with a label that stands for no
token is false, whatever its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.case_folding import folded
from sentgen.lookups.attributes import (
    COLUMNS,
    Test,
    Value,
    attribute_condition,
    attribute_string,
    misc_condition,
    misc_string,
    surprisal_test,
)
from sentgen.lookups.concordances.surface import surface_of
from sentgen.lookups.cql import syntax
from sentgen.lookups.keys import MetadataKey, StoreKeys
from sentgen.lookups.languages import Either, Every
from sentgen.lookups.numbers import compared
from sentgen.lookups.regions import RegionKey
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, any_of

#: A part of speech of either kind, under the names of CWB and NoSketch Engine.
TAGS = ("pos", "tag")
_KINDS = ("xpos", "upos")
_WORDS = ("word", "form", "lemma")
#: The first token of a match and the last one, as labels.
ENDS = {"match": "first", "matchend": "last"}
_META = "(select {value} from sentence as meta where meta.id = {alias}.sentence_id)"


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
                return no_space(self.keys.connection, alias)
        return _composed(condition, lambda part: self.of_token(part, alias))

    def of_labels(self, condition: syntax.Condition, places: Mapping[str, str]) -> str:
        """Return a condition on the labels of a match.

        Args:
            condition: its terms have labels.
            places: label to its column in ``m``; the row of `token` there has the alias ``t_COLUMN``.
        """
        match condition:
            case syntax.LabelTest(name, negated=negated):
                return f"m.{places[name]} is {'' if negated else 'not '}null"
            case syntax.Measured(function, terms, operator, number):
                limit = self.bindings.bind("number", number)
                # Of a label that stands for nothing, nothing holds.
                return f"coalesce({self._measure(function, terms, places)} {operator} {limit}, false)"
            case syntax.CqlComparison(left, right):
                of_right = right.label if isinstance(right, syntax.Term) else left.label
                # Never the label itself: SQL takes neither all names nor capital letters for others.
                told = self._comparison(condition, f"t_{places[left.label]}", f"t_{places[of_right]}")
                optional = [one for one in dict.fromkeys((left.label, of_right)) if one not in ENDS]
                bound = [f"m.{places[one]} is not null" for one in optional]
                return f"({' and '.join([*bound, told])})"
        return _composed(condition, lambda part: self.of_labels(part, places))

    def _measure(self, function: str, terms: Sequence[syntax.Term], places: Mapping[str, str]) -> str:
        """Return what a function says of labels."""
        if function == "f":
            (term,) = terms
            column = COLUMNS[term.attribute][0]
            told = [f"f.{column} = t_{places[term.label]}.{column}"]
            told += self.selection.of_corpora(self.bindings, "f.corpus_id")
            count = f"(select count(*) from token as f where {' and '.join(told)})"
            return f"case when m.{places[term.label]} is not null then {count} end"
        first, second = (f"m.{places[term.label]}" for term in terms)
        return f"abs({second} - {first})" if function == "distabs" else f"({second} - {first})"

    def comparison(self, one: syntax.CqlComparison, left: str, right: str, bindings: Bindings) -> str:
        """Return a comparison of two rows of `token`, or of the one alone, for another statement."""
        return replace(self, bindings=bindings)._comparison(one, left, right)

    def of_document(self, one: syntax.CqlComparison, alias: str, bindings: Bindings) -> str:
        """Return the condition that metadata of documents are such a value.

        Args:
            one: the comparison of the metadata with a value.
            alias: of a row with ``document_id``.
            bindings: of the statement.
        """
        key = metadata_key(self.keys, one.left.attribute)
        assert key is not None
        assert not isinstance(one.right, syntax.Term)
        value = self.compared(one.left.attribute, one.right)
        told = value.condition(key.value(alias, bindings), bindings)
        return f"coalesce({told}, {str(one.right in self.empty).lower()})"

    def _comparison(self, one: syntax.CqlComparison, left: str, right: str) -> str:
        negated = one.negated
        if isinstance(one.right, syntax.Term):
            return self._same(one.left, one.right, left, right, negated, one.operator)
        name, value = one.left.attribute, self.compared(one.left.attribute, one.right)
        if meta := self._around(name, left):
            told = f"coalesce({value.condition(meta, self.bindings)}, {str(one.right in self.empty).lower()})"
            return f"not {told}" if negated else told
        found = [self._has(left, kind, value) for kind in kinds(name)]
        if one.right in self.empty:
            # What there is, and is something else.
            there = [self._has(left, kind, None) for kind in kinds(name)]
            other = f"({' or '.join(there)}) and not coalesce({' or '.join(found)}, false)"
            return f"({other})" if negated else f"({other}) is not true"
        told = any_of(found)
        return f"({told}) is not true" if negated else told

    def _has(self, alias: str, name: str, value: Test | None) -> str:
        if surprisal := self.keys.find_surprisal(name):
            return surprisal.holds(alias, surprisal_test(value, self.bindings), self.bindings)
        has = misc_condition if self.keys.is_misc(name) else attribute_condition
        return has(alias, name, value, self.bindings)

    def compared(self, name: str, value: Test) -> Test:
        """Return a value as the words of these corpora are compared with it."""
        if not isinstance(value, Value):
            return value
        loose = self.selection.loose and name in _WORDS
        return replace(value, ignore_case=value.ignore_case or loose)

    def _same(
        self, one: syntax.Term, other: syntax.Term, left: str, right: str, negated: bool, operator: str
    ) -> str:
        if operator != "=":
            sides = self.string(one.attribute, left), self.string(other.attribute, right)
            told = compared(sides[0], operator, sides[1])
            return f"({told}) is not true" if negated else told
        columns = [COLUMNS.get(term.attribute) for term in (one, other)]
        if columns[0] and columns[1] and columns[0][1] == columns[1][1] and not self.selection.ignore_case:
            # The same numbers stand for the same strings.
            return (
                f"{left}.{columns[0][0]} is {'' if negated else 'not '}distinct from {right}.{columns[1][0]}"
            )
        sides = self.string(one.attribute, left), self.string(other.attribute, right)
        first, second = (f"coalesce({side}, '')" for side in sides)
        if {one.attribute, other.attribute} <= set(_WORDS) and self.selection.ignore_case:
            first, second = folded(first), folded(second)
        return f"{first} {'<>' if negated else '='} {second}"

    def string(self, name: str, alias: str) -> str:
        """Return the string of an attribute of a row of `token`; null where there is none."""
        if meta := self._around(name, alias):
            return meta
        if surprisal := self.keys.find_surprisal(name):
            return f"{surprisal.value(alias, self.bindings)}::varchar"
        strings = [
            (misc_string if self.keys.is_misc(kind) else attribute_string)(alias, kind, self.bindings)
            for kind in kinds(name)
        ]
        return strings[0] if len(strings) == 1 else f"coalesce({', '.join(strings)})"

    def _around(self, name: str, alias: str) -> str:
        """Return the value of a key of what is around a token; empty if it is an attribute of the token."""
        if region := region_key(self.keys, name):
            return region.value(alias, self.bindings)
        key = metadata_key(self.keys, name)
        return _META.format(value=key.value("meta", self.bindings), alias=alias) if key else ""


def _composed(condition: syntax.Condition, write: Callable[[syntax.Condition], str]) -> str:
    assert isinstance(condition, Every | Either)
    word = " and " if isinstance(condition, Every) else " or "
    return f"({word.join(map(write, condition.parts))})"


def no_space(connection: Connection, alias: str) -> str:
    """Return the condition on a row of `token` that no space follows it, and it is not within a multiword."""
    told = f"{alias}.space_after = false"
    if not surface_of(connection).multiwords:
        return told
    return f"{told} and ({alias}.sentence_id, {alias}.position) not in ({_WITHIN})"


def metadata_key(keys: StoreKeys, name: str) -> MetadataKey | None:
    """Return the key of metadata that an attribute is; none if tokens have an attribute of this name."""
    return None if is_attribute(keys, name) else keys.find_metadata(name)


def region_key(keys: StoreKeys, name: str) -> RegionKey | None:
    """Return the attribute of regions that an attribute is; none if it is one of tokens or metadata."""
    if is_attribute(keys, name) or keys.find_metadata(name):
        return None
    return keys.find_region(name)


def is_attribute(keys: StoreKeys, name: str) -> bool:
    """Return whether tokens have an attribute."""
    if name in (*COLUMNS, *TAGS) or keys.find_surprisal(name):
        return True
    return name in keys.features or keys.is_misc(name)


def kinds(name: str) -> tuple[str, ...]:
    """Return the attributes that a name stands for."""
    return _KINDS if name in TAGS else (name,)


def columns(condition: syntax.Condition | None) -> set[str]:
    """Return the columns of `token` that a condition looks at."""
    names = set()
    for one in syntax.comparisons(condition):
        for term in (one.left, one.right):
            if isinstance(term, syntax.Term):
                names |= {
                    COLUMNS[kind][0] if kind in COLUMNS else "feats_id" for kind in kinds(term.attribute)
                }
    return names
