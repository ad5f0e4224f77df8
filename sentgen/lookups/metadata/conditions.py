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
from sentgen.lookups.keys import MetadataKey, StoreKeys, bare
from sentgen.lookups.languages import Every, Negation
from sentgen.lookups.metadata.syntax import (
    ConditionKey,
    Exists,
    Expression,
    MetadataComparison,
    atoms,
)
from sentgen.lookups.numbers import compared, is_number
from sentgen.lookups.regions import RegionKey, of_kinds
from sentgen.lookups.regular import fault, translated
from sentgen.lookups.statement import Bindings, Statement, any_of
from sentgen.output.look_alikes import in_other_characters
from sentgen.output.wording import either, instead, near

if TYPE_CHECKING:
    from sqlalchemy import Connection

_OF_SENTENCE = "s.id in (select sentence_id from sentence_meta as m where m.key = {key}{test})"
_OF_REGION = """\
s.id in (
    select unnest(range(r.sentence_id + (r.position > 1)::integer, r.last_sentence_id + 1))
    from region as r{attribute}
    where {conditions}
  )"""
_ATTRIBUTE = "\n    join region_meta as m on m.sentence_id = r.sentence_id and m.place = r.place"
_OF_DOCUMENT = "s.document_id in (select document_id from document_meta as m where m.key = {key}{test})"
#: Comparisons that are looked at where nothing was found: the first ones.
_MOST_EXPLAINED = 20
#: Values that are compared with one that never occurs, named as near to it, and named as all.
_MOST_VALUES, _MOST_NEAR, _MOST_TOLD = 10_000, 3, 10
_VALUES = f"""\
select value
from (
  select m.value from document_meta as m where m.key = $key
  union all
  select m.value from sentence_meta as m where m.key = $key
)
group by value
order by count(*) desc, value
limit {_MOST_VALUES}"""
_VALUES_OF_REGION = f"""\
select m.value
from region_meta as m
semi join region as r on r.sentence_id = m.sentence_id and r.place = m.place and r.kind in $kinds
where m.key in $keys
group by m.value
order by count(*) desc, m.value
limit {_MOST_VALUES}"""
_VALUES_OF = f"select distinct {{value}} as value from {{table}} order by value limit {_MOST_VALUES}"


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
                return _of_key(key, _passes(part, key, bindings), bindings)
            case Exists(written):
                return _of_key(self.keys[written], "", bindings)
            case Negation(inner):
                return f"not ({self._written(inner, bindings)})"
        word = " and " if isinstance(part, Every) else " or "
        return f"({word.join(self._written(one, bindings) for one in part.parts)})"


def _of_key(key: MetadataKey | RegionKey, test: str, bindings: Bindings) -> str:
    """Return the condition that a value under a key passes a test; without one, that there is a value."""
    if isinstance(key, RegionKey):
        told = [of_kinds(key.kinds, bindings)]
        if key.keys:
            told.append(f"m.key in {bindings.bind('attribute', list(key.keys))}")
        attribute = _ATTRIBUTE if key.keys else ""
        return _OF_REGION.format(attribute=attribute, conditions=" and ".join(filter(None, [*told, test])))
    if key.always:
        return key.always.holds("s", test) if test else "true"
    name, passes = bindings.bind("key", key.name), test and f" and {test}"
    of_sentence, of_document = (one.format(key=name, test=passes) for one in (_OF_SENTENCE, _OF_DOCUMENT))
    if not key.of_sentence:
        return of_document
    if not key.of_document:
        return of_sentence
    if not test:
        return f"({of_sentence} or {of_document})"
    own = _OF_SENTENCE.format(key=name, test="")
    return f"({of_sentence} or ({of_document} and not {own}))"


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
            message = f"no key {one.key.name!r}; {instead(bare(one.key.name), known)}"
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
    return RegionKey(kinds, ()) if kinds else there.find_region(one.key.name)


def _check_values(
    connection: Connection, text: str, asked: MetadataComparison, key: MetadataKey | RegionKey
) -> None:
    for one in asked.values:
        if asked.operator == "~":
            if wrong := fault(connection, one.text):
                raise QueryError(f"no regular expression: {wrong}", query=text, place=one.place)
        elif asked.operator != "like" and key.always and key.always.number and one.number is None:
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
    value = key.always.value.format(alias="s") if key.always else "m.value"
    numeric = bool(key.always and key.always.number)
    if one.operator in ("like", "~"):
        given = one.values[0].text
        text = bindings.bind("value", given if one.operator == "like" else translated(given))
        of = f"{value}::varchar" if numeric else value
        return f"{of} like {text}" if one.operator == "like" else f"regexp_full_match({of}, {text})"
    told = []
    numbers = [each for each in one.values if each.number is not None]
    texts = [each.text for each in one.values if each.number is None]
    for each in numbers:
        if numeric:
            told.append(f"{value} {one.operator} {bindings.bind('value', each.number)}")
        else:
            told.append(compared(value, one.operator, bindings.bind("value", each.text)))
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
    if isinstance(key, RegionKey):
        query = Statement(_VALUES_OF_REGION, {"kinds": list(key.kinds), "keys": list(key.keys)})
    elif key.always is None:
        query = Statement(_VALUES, {"key": key.name})
    elif not key.always.table:
        return []
    else:
        query = Statement(_VALUES_OF.format(value=key.always.value, table=key.always.table))
    return [str(one) for one in query.run(connection).column(0).to_pylist()]


def _hint(key: str, text: str, values: Sequence[str]) -> str:
    """Say that a value never occurs, with those that it may stand for."""
    meant = near(text, values, _MOST_NEAR)
    if not meant and len(values) <= _MOST_TOLD:
        return f"{key} is never {text!r}; there are {', '.join(values)}"
    question = f", did you mean {either(meant)}?{in_other_characters(text, meant)}" if meant else ""
    return f"{key} is never {text!r}{question}"
