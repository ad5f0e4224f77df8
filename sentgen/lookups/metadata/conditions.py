"""Which sentences meet a condition on their metadata, in SQL with bound parameters.

A sentence has the values that are said of it under a key, else those that are said of its document; under a
key of regions (``speaker.party``), those of all regions of this kind around its first token. A test holds if
one of these values passes it, and fails where there is none, so that ``!=``, its opposite, holds there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sentgen.errors import NotFoundError, QueryError
from sentgen.lookups.base.attributes import Key
from sentgen.lookups.base.keys import MetadataKey, StoreKeys
from sentgen.lookups.base.languages import Every, Negation
from sentgen.lookups.base.numbers import compare_numbers, is_number
from sentgen.lookups.base.regions import RegionKey
from sentgen.lookups.base.regular_expressions import fault, to_re2
from sentgen.lookups.base.statement import Bindings, Statement, any_of
from sentgen.lookups.metadata.syntax import (
    ConditionKey,
    Exists,
    Expression,
    MetadataComparison,
    atoms,
)
from sentgen.output.look_alikes import in_other_characters
from sentgen.output.wording import either, near

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: How to ask for what is no metadata.
_WAYS: dict[type, str] = {Key: 'ask for it in CQL, [{name}="..."]'}
#: Comparisons that are looked at where nothing was found: the first ones.
_MOST_EXPLAINED = 20
#: Values that are compared with one that never occurs, named as near to it, and named as all.
_MOST_VALUES, _MOST_NEAR, _MOST_TOLD = 10_000, 3, 10


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read and checked.

    Args:
        text: the expression.
        expression: what it says.
        keys: what its keys stand for.
    """

    text: str
    expression: Expression
    keys: Mapping[ConditionKey, MetadataKey | RegionKey]

    def sentences(self, bindings: Bindings) -> str:
        """Return the query for the numbers of the sentences that meet it."""
        return f"select s.id from sentence as s where {self._written(self.expression, bindings)}"

    def hints(self, connection: Connection) -> list[str]:
        """Say which values it asks for never occur, and what they could have been."""
        found: list[str] = []
        for one, negated in atoms(self.expression)[:_MOST_EXPLAINED]:
            if isinstance(one, MetadataComparison) and not negated:
                found += _hints(connection, one, self.keys[one.key])
        bindings = Bindings()
        if not found and Statement(f"{self.sentences(bindings)} limit 1", bindings).value(connection) is None:
            found.append("no sentence meets the condition")
        return list(dict.fromkeys(found))

    def _written(self, part: Expression, bindings: Bindings) -> str:
        match part:
            case MetadataComparison():
                key = self.keys[part.key]
                return key.holds(_passes(part, key, bindings), bindings)
            case Exists(written):
                return self.keys[written].holds("", bindings)
            case Negation(inner):
                return f"not ({self._written(inner, bindings)})"
        word = " and " if isinstance(part, Every) else " or "
        return f"({word.join(self._written(one, bindings) for one in part.parts)})"


def choose(connection: Connection, text: str) -> Condition:
    """Read a condition, and check it against the metadata of the store.

    Raises:
        QueryError: it cannot be read, asks for a key that there is not, or compares what cannot be compared.
        NotFoundError: there are no sentences.
    """
    # Importing its parser takes longer than most look-ups, which have no condition.
    from sentgen.lookups.metadata.grammar import read

    expression = read(text)
    if Statement("select 1 from sentence limit 1").value(connection) is None:
        raise NotFoundError(
            "there are no sentences to choose from; a lake that was counted has counts alone: ask a store"
        )
    there, keys = StoreKeys(connection), dict[ConditionKey, MetadataKey | RegionKey]()
    for one, _ in atoms(expression):
        key = there.find_metadata(one.key.name, quoted=one.key.quoted) or _of_regions(there, one)
        if key is None:
            known = there.metadata if one.key.quoted else [*there.of_sentences, *there.of_regions]
            message = there.refusal(one.key.name, "metadata", {} if one.key.quoted else _WAYS, known)
            raise QueryError(message, query=text, place=one.key.place)
        keys[one.key] = key
        if isinstance(one, MetadataComparison):
            _check_values(connection, text, one, key)
    return Condition(text, expression, keys)


def _of_regions(there: StoreKeys, one: MetadataComparison | Exists) -> RegionKey | None:
    """Return the attribute of regions that is asked for, or the regions whose existence is."""
    if one.key.quoted:
        return None
    kinds = there.find_kinds(one.key.name) if isinstance(one, Exists) else ()
    return RegionKey(kinds[0], kinds, ()) if kinds else there.find_region(one.key.name)


def _check_values(
    connection: Connection, text: str, asked: MetadataComparison, key: MetadataKey | RegionKey
) -> None:
    for one in asked.values:
        if asked.operator == "~":
            if wrong := fault(connection, one.text):
                raise QueryError(f"no regular expression: {wrong}", query=text, place=one.place)
        elif asked.operator != "like" and key.number and one.number is None:
            message = f"{key.name} is a number, and {one.text!r} is none"
            raise QueryError(message, query=text, place=one.place)
        elif (
            asked.operator not in ("=", "like")
            and one.number is None
            and not one.quoted
            and is_number(one.text)
        ):
            message = f"{one.text} has more digits than are compared; in quotes, texts are"
            raise QueryError(message, query=text, place=one.place)


def _passes(one: MetadataComparison, key: MetadataKey | RegionKey, bindings: Bindings) -> str:
    """Return the condition that a value passes; null where it is no number and has to be one."""
    value = key.tested_value
    if one.operator in ("like", "~"):
        given = one.values[0].text
        text = bindings.bind("value", given if one.operator == "like" else to_re2(given))
        of = f"{value}::varchar" if key.number else value
        return f"{of} like {text}" if one.operator == "like" else f"regexp_full_match({of}, {text})"
    told = []
    numbers = [each for each in one.values if each.number is not None]
    texts = [each.text for each in one.values if each.number is None]
    for each in numbers:
        if key.number:
            told.append(f"{value} {one.operator} {bindings.bind('value', each.number)}")
        else:
            told.append(compare_numbers(value, one.operator, bindings.bind("value", each.text)))
    if len(texts) > 1:
        told.append(f"{value} in {bindings.bind('values', texts)}")
    elif texts:
        told.append(f"{value} {one.operator} {bindings.bind('value', texts[0])}")
    return any_of(told)


def _hints(connection: Connection, one: MetadataComparison, asked: MetadataKey | RegionKey) -> list[str]:
    """Say what of a comparison can never hold, as far as that is easily known."""
    key, values = asked.name, _values(connection, asked)
    if not values or len(values) == _MOST_VALUES:
        return []
    if one.operator == "=":
        missing = [value.text for value in one.values if value.number is None and value.text not in values]
        return [_hint(key, text, values) for text in missing]
    numbers = [value.text for value in one.values if value.number is not None]
    if one.operator in ("like", "~") or not numbers or any(map(is_number, values)):
        return []
    return [f'{key} is never a number; in quotes, texts are compared: {key} {one.operator} "{numbers[0]}"']


def _values(connection: Connection, key: MetadataKey | RegionKey) -> list[str]:
    """Return the values of a key, the most frequent first; none where they are as many as sentences."""
    query = key.frequent_values(_MOST_VALUES)
    return [str(one) for one in query.run(connection).column(0).to_pylist()] if query else []


def _hint(key: str, text: str, values: Sequence[str]) -> str:
    """Say that a value never occurs, with those that it may stand for."""
    meant = near(text, values, _MOST_NEAR)
    if not meant and len(values) <= _MOST_TOLD:
        return f"{key} is never {text!r}; there are {', '.join(values)}"
    question = f", did you mean {either(meant)}?{in_other_characters(text, meant)}" if meant else ""
    return f"{key} is never {text!r}{question}"
