"""Conditions on the metadata of sentences, in SQL with bound parameters; subcorpora are named conditions.

A sentence has the values of its own metadata under a key, else those of its document; under a key of regions
(``speaker.party``), those of all regions of this kind around its first token; under a set of lines
(``lines.make``), the labels of all lines in it. A test holds if one of these values passes it. It fails
where there is no value, so that ``!=``, its opposite, holds there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from sentgen.errors import NotFoundError, QueryError
from sentgen.lookups.base.attributes import Key, compare_numbers, is_number
from sentgen.lookups.base.keys import MetadataKey, StoreKeys
from sentgen.lookups.base.languages import Every, Exists, Expression, Literal, MetadataComparison, Negation
from sentgen.lookups.base.line_labels import LineLabelKey
from sentgen.lookups.base.regions import RegionKey
from sentgen.lookups.base.regular_expressions import fault, to_re2
from sentgen.lookups.base.statement import Bindings, Statement, any_of, any_row
from sentgen.output.wording import either, in_other_characters, near
from sentgen.schema.tables.corpus import subcorpus


def _atoms(
    expression: Expression, *, negated: bool = False
) -> list[tuple[MetadataComparison | Exists, bool]]:
    """Return the comparisons of an expression, each with whether it is negated."""
    if isinstance(expression, MetadataComparison | Exists):
        return [(expression, negated)]
    if isinstance(expression, Negation):
        return _atoms(expression.part, negated=not negated)
    return [atom for part in expression.parts for atom in _atoms(part, negated=negated)]


def in_quotes(text: str) -> str:
    r"""Quote a key or a plain value for a condition on metadata, or for a Grew request.

    >>> print(in_quotes('a "b"\\c'))
    "a \"b\"\\c"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


#: A key with values of sentences, or of regions or lines in them.
SentenceKey = MetadataKey | RegionKey | LineLabelKey
#: How to ask for a key of tokens instead.
_WAYS: dict[type, str] = {Key: 'ask for it in CQL, [{name}="..."]'}
#: Comparisons that are explained where nothing was found: the first ones.
_MOST_EXPLAINED = 20
#: Values that are compared with a value that never occurs; similar values, and any, that a message names.
_MOST_VALUES, _MOST_NEAR, _MOST_TOLD = 10_000, 3, 10


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read and checked."""

    text: str
    expression: Expression
    keys: Mapping[Literal, SentenceKey]

    @classmethod
    def read(cls, connection: Connection, text: str) -> Condition:
        """Read a condition, and check it against the metadata of the store.

        Raises:
            QueryError: the condition cannot be read, names an unknown key, or compares a text with a number.
            NotFoundError: there are no sentences.
        """
        # Imported here, as it imports Lark, which takes longer than most look-ups; few have a condition.
        from sentgen.lookups.base.metadata_reading import read

        expression = read(text)
        if not any_row(connection, "sentence"):
            raise NotFoundError(
                "there are no sentences to choose from; a lake that was counted has counts alone: ask a store"
            )
        there, keys = StoreKeys(connection), dict[Literal, SentenceKey]()
        for atom, _ in _atoms(expression):
            key = (
                there.find_metadata(atom.key.text, quoted=atom.key.quoted)
                or _of_regions(there, atom)
                or there.find_label(atom.key.text, required=True)
            )
            if key is None:
                known = there.metadata if atom.key.quoted else [*there.of_sentences, *there.of_regions]
                message = there.refusal(atom.key.text, "metadata", {} if atom.key.quoted else _WAYS, known)
                raise QueryError(message, query=text, offset=atom.key.start)
            keys[atom.key] = key
            if isinstance(atom, MetadataComparison):
                _check_values(connection, text, atom, key)
        return cls(text, expression, keys)

    def sentences(self, bindings: Bindings) -> str:
        """Return the query for the ids of the sentences that meet the condition."""
        return f"select s.id from sentence as s where {self._in_sql(self.expression, bindings)}"

    def hints(self, connection: Connection) -> list[str]:
        """Return messages on the values in the condition that never occur, with similar ones that do."""
        hints: list[str] = []
        for atom, negated in _atoms(self.expression)[:_MOST_EXPLAINED]:
            if isinstance(atom, MetadataComparison) and not negated:
                hints += _hints(connection, atom, self.keys[atom.key])
        bindings = Bindings()
        if not hints and Statement(f"{self.sentences(bindings)} limit 1", bindings).value(connection) is None:
            hints.append("no sentence meets the condition")
        return list(dict.fromkeys(hints))

    def _in_sql(self, part: Expression, bindings: Bindings) -> str:
        match part:
            case MetadataComparison():
                key = self.keys[part.key]
                return key.holds(_passes(part, key, bindings), bindings)
            case Exists(written):
                return self.keys[written].holds("", bindings)
            case Negation(inner):
                return f"not ({self._in_sql(inner, bindings)})"
        word = " and " if isinstance(part, Every) else " or "
        return f"({word.join(self._in_sql(inner, bindings) for inner in part.parts)})"


def _of_regions(there: StoreKeys, atom: MetadataComparison | Exists) -> RegionKey | None:
    """Return the attribute of regions that a comparison names, or the regions whose existence it tests."""
    if atom.key.quoted:
        return None
    kinds = there.find_kinds(atom.key.text) if isinstance(atom, Exists) else ()
    return RegionKey(kinds[0], kinds, ()) if kinds else there.find_region(atom.key.text)


def _check_values(
    connection: Connection, text: str, comparison: MetadataComparison, key: SentenceKey
) -> None:
    for value in comparison.values:
        if comparison.operator == "~":
            if wrong := fault(connection, value.text):
                raise QueryError(f"no regular expression: {wrong}", query=text, offset=value.start)
        elif comparison.operator != "like" and key.number and value.number is None:
            message = f"{key.name} is a number, and {value.text!r} is none"
            raise QueryError(message, query=text, offset=value.start)
        elif (
            comparison.operator not in ("=", "like")
            and value.number is None
            and not value.quoted
            and is_number(value.text)
        ):
            message = f"{value.text} has more digits than are compared; in quotes, texts are"
            raise QueryError(message, query=text, offset=value.start)


def _passes(comparison: MetadataComparison, key: SentenceKey, bindings: Bindings) -> str:
    """Return the condition that a value passes a comparison; null where a number is needed and it is none."""
    value = key.tested_value
    operator = comparison.operator
    if operator in ("like", "~"):
        given = comparison.values[0].text
        text = bindings.bind("value", given if operator == "like" else to_re2(given))
        string = f"{value}::varchar" if key.number else value
        return f"{string} like {text}" if operator == "like" else f"regexp_full_match({string}, {text})"
    conditions = []
    numbers = [literal for literal in comparison.values if literal.number is not None]
    texts = _texts(comparison, key)
    for literal in numbers:
        if key.number:
            conditions.append(f"{value} {operator} {bindings.bind('value', literal.number)}")
        else:
            conditions.append(compare_numbers(value, operator, bindings.bind("value", literal.text)))
    if len(texts) > 1:
        conditions.append(f"{value} in {bindings.bind('values', texts)}")
    elif texts:
        conditions.append(f"{value} {operator} {bindings.bind('value', texts[0])}")
    return any_of(conditions)


def _texts(comparison: MetadataComparison, key: SentenceKey) -> list[str]:
    texts = [literal.text for literal in comparison.values if literal.number is None]
    return [key.spelled(text) for text in texts] if isinstance(key, LineLabelKey) else texts


def _hints(connection: Connection, comparison: MetadataComparison, key: SentenceKey) -> list[str]:
    """Return messages on the values of a comparison that never occur, where that is cheap to find out."""
    if (query := key.frequent_values(_MOST_VALUES)) is None:
        return []
    name, values = key.name, list(map(str, query.run(connection).column(0).to_pylist()))
    if not values or len(values) == _MOST_VALUES:
        return []
    operator = comparison.operator
    if operator == "=":
        return [_hint(name, text, values) for text in _texts(comparison, key) if text not in values]
    numbers = [value.text for value in comparison.values if value.number is not None]
    if operator in ("like", "~") or not numbers or any(map(is_number, values)):
        return []
    return [f'{name} is never a number; in quotes, texts are compared: {name} {operator} "{numbers[0]}"']


def _hint(key: str, text: str, values: Sequence[str]) -> str:
    close = near(text, values, _MOST_NEAR)
    if not close and len(values) <= _MOST_TOLD:
        return f"{key} is never {text!r}; there are {', '.join(values)}"
    question = f", did you mean {either(close)}?{in_other_characters(text, close)}" if close else ""
    return f"{key} is never {text!r}{question}"


@dataclass(frozen=True, slots=True)
class Subcorpus:
    """A named condition on the sentences of ``corpora`` (empty for all), looked up anew for each question."""

    name: str
    corpora: tuple[str, ...]
    expression: str
    defined_at: datetime

    @property
    def condition(self) -> str:
        """The condition that its sentences meet, with that on its corpora."""
        return both_hold(in_corpora(self.corpora), self.expression) if self.corpora else self.expression

    @classmethod
    def all(cls, connection: Connection) -> list[Subcorpus]:
        """Return all subcorpora of a store, by name."""
        rows = connection.execute(select(subcorpus).order_by(subcorpus.c.name)).all()
        return [
            cls(row.name, tuple(row.corpora.splitlines()), row.expression, row.defined_at) for row in rows
        ]


def in_corpora(names: Sequence[str]) -> str:
    """Return the condition that a sentence is in one of some corpora.

    >>> in_corpora(["news", 'a "b"'])
    'corpus in ("news", "a \\\\"b\\\\"")'
    """
    return f"corpus in ({', '.join(map(in_quotes, names))})"


def both_hold(left: str, right: str) -> str:
    """Return the condition that two conditions hold."""
    return f"({left}) and ({right})"
