"""Conditions on the features of nodes, on relations and their parts, and on metadata, in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sentgen.errors import InputError
from sentgen.lookups.attributes import Key, Test, Value, token_key
from sentgen.lookups.grew.syntax import ANCHOR, Description, FeatureCondition, FeatureRelation, Label
from sentgen.lookups.keys import MetadataKey, StoreKeys
from sentgen.lookups.regions import RegionKey
from sentgen.lookups.regular import fault
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, any_of

#: The form under both of its names: all that the anchor has.
FORM = ("form", "word")
#: How to ask for what is no attribute of tokens, and for what is no metadata.
_WAYS: dict[type, str] = {
    MetadataKey: "write global {{ {name} = ... }}, or --where '{key} = ...'",
    RegionKey: "give --where '{key} = ...', or ask in CQL for match.{name}",
}
_OTHER_WAYS: dict[type, str] = {
    RegionKey: _WAYS[RegionKey],
    Key: "ask for it of a node, such as X [{name}=...]",
}


def fits_anchor(one: FeatureCondition) -> bool:
    """Return whether the anchor node has a feature: it has a form, and nothing else."""
    if one.key not in FORM:
        return one.relation is FeatureRelation.ABSENT
    found = any(_fits(value, ANCHOR) for value in one.values)
    return {
        FeatureRelation.PRESENT: True,
        FeatureRelation.ABSENT: False,
        FeatureRelation.IS: found,
        FeatureRelation.IS_NOT: not found,
    }[one.relation]


def _fits(value: Test, text: str) -> bool:
    if not isinstance(value, Value):  # of numbers, which the anchor does not have
        return False
    if not value.regex:
        return text in value.texts
    try:
        return any(re.fullmatch(one, text) for one in value.texts)
    except re.error:  # DuckDB says what is wrong
        return False


@dataclass(frozen=True, slots=True)
class FeatureConditions:
    """Writes conditions of one statement.

    Args:
        bindings: its parameters.
        selection: the corpora, for the case of their words.
        keys: those of the store.
    """

    bindings: Bindings
    selection: Selection
    keys: StoreKeys

    def described(self, alias: str, descriptions: Sequence[Description], *, anchored: bool) -> list[str]:
        """Return the conditions that one of the descriptions fits a row of `token`; none for any token."""
        each = [[self.of_node(alias, one, anchored=anchored) for one in every] for every in descriptions]
        if not all(each):
            return []
        if len(each) == 1:
            return each[0]
        return [f"({' or '.join(' and '.join(every) for every in each)})"] if each else []

    def key(self, name: str, of: str = "") -> Key:
        """Return the attribute of tokens that a name stands for; ``of``: the node, where it is named.

        Raises:
            InputError: there is none.
        """
        if found := self.keys.find_token(name):
            return found
        raise InputError(f"{of and f'{of}.{name}: '}{self.keys.refusal(name, 'attribute', _WAYS)}")

    def metadata_key(self, name: str) -> MetadataKey:
        """Return the key of metadata that a name stands for.

        Raises:
            InputError: there is none.
        """
        if found := self.keys.find_metadata(name):
            return found
        raise InputError(self.keys.refusal(name, "metadata", _OTHER_WAYS))

    def of_node(self, alias: str, one: FeatureCondition, *, anchored: bool = False) -> str:
        """Return the condition that a row of `token` has a feature; ``anchored``: it may be the anchor."""
        key = self.key(one.key)

        def has(test: Test | None) -> str:
            asked = test and self.selection.compared(key, test)
            return key.condition(alias, asked, self.bindings)

        told = self._asked(one, has)
        if anchored and one.key in FORM:
            return f"case when {alias}.position = 0 then {str(fits_anchor(one)).lower()} else {told} end"
        return told

    def label(self, alias: str, label: Label) -> list[str]:
        """Return the conditions that the relation in a row is such a one."""
        if label.parts:
            parts = [self._part(one) for one in label.parts]
            return [f"{alias}.deprel_id in (select id from tag where {' and '.join(parts)})"]
        if not label.values:
            return []
        relation = token_key("deprel")
        tests = self._checked(label.values)
        asked = any_of([relation.condition(alias, one, self.bindings) for one in tests])
        return [f"({asked}) is not true" if label.negated else asked]

    def metadata(self, sentence: str, one: FeatureCondition) -> str:
        """Return the condition that the metadata of a sentence have a value; ``sentence``: of its number."""
        key = self.metadata_key(one.key)
        string = f"{key.tested}::varchar" if key.number else key.tested

        def holds(test: Test | None) -> str:
            return key.holds(test.condition(string, self.bindings, "meta") if test else "", self.bindings)

        return f"{sentence} in (select s.id from sentence as s where {self._asked(one, holds)})"

    def values(self, string: str, values: Sequence[Value], key: Key | None = None) -> str:
        """Return the condition that a string is one of some values, of a key of tokens or another one."""
        tests = [self.selection.compared(key, one) for one in self._checked(values)]
        return any_of([one.condition(string, self.bindings) for one in tests])

    def _part(self, one: FeatureCondition) -> str:
        """Return the condition on a part of a relation, a row of `tag`."""
        string = part_of("name", one.key)

        def is_part(test: Test | None) -> str:
            return test.condition(string, self.bindings, "part") if test else f"{string} is not null"

        return self._asked(one, is_part)

    def _checked(self, tests: Iterable[Test]) -> Iterable[Test]:
        """Yield tests, but for what is no regular expression.

        Raises:
            InputError: one is none.
        """
        for test in tests:
            for text in test.texts if isinstance(test, Value) and test.regex else ():
                if wrong := fault(self.keys.connection, text):
                    raise InputError(f"{text!r} is no regular expression: {wrong}")
            yield test

    def _asked(self, one: FeatureCondition, condition: Callable[[Test | None], str]) -> str:
        """Return the condition of a feature, of conditions that its value is some (None: any)."""
        if one.relation is FeatureRelation.PRESENT:
            return condition(None)
        if one.relation is FeatureRelation.ABSENT:
            return f"({condition(None)}) is not true"
        found = any_of([condition(value) for value in self._checked(one.values)])
        if one.relation is FeatureRelation.IS:
            return found
        return f"({condition(None)} and ({found}) is not true)"


def part_of(label: str, key: str) -> str:
    """Return a part of a relation in SQL: ``1``, ``2``, ... between colons, ``deep`` after ``@``.

    >>> part_of("name", "2")
    "string_split(split_part(name, '@', 1), ':')[2]"
    """
    if key == "deep":
        return f"nullif(split_part({label}, '@', 2), '')"
    return f"string_split(split_part({label}, '@', 1), ':')[{int(key)}]"
