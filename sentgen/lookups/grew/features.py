"""Conditions on the features of nodes, on relations and their parts, and on metadata, in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sentgen.errors import InputError
from sentgen.lookups.attributes import (
    Test,
    Value,
    attribute_condition,
    attribute_string,
    misc_condition,
    misc_string,
    surprisal_test,
)
from sentgen.lookups.grew.syntax import ANCHOR, Description, FeatureCondition, FeatureRelation, Label
from sentgen.lookups.keys import MetadataKey, StoreKeys, bare
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, any_of
from sentgen.output.wording import instead

#: Keys that are columns of `token`.
TOKEN_KEYS = ("form", "lemma", "upos", "xpos")
#: Keys of words as they are written; the same in capital and small letters if that is asked for.
WRITTEN = ("form", "lemma", "wordform", "textform")
#: Among metadata the text of the sentence.
TEXT = "text"

#: A word of several tokens is that of its first one.
_SURFACE = """\
(select case when span.first = {alias}.position then span.form else '_' end from multiword as span
    where span.sentence_id = {alias}.sentence_id and {alias}.position between span.first and span.last)"""


def fits_anchor(one: FeatureCondition) -> bool:
    """Return whether the anchor node has a feature: it has a form, and nothing else."""
    if one.key != "form":
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

    def of_node(self, alias: str, one: FeatureCondition, *, anchored: bool = False) -> str:
        """Return the condition that a row of `token` has a feature; ``anchored``: it may be the anchor."""
        condition = self._asked(one, lambda value: self._of_token(alias, one.key, value))
        if anchored and one.key == "form":
            fits = str(fits_anchor(one)).lower()
            return f"case when {alias}.position = 0 then {fits} else {condition} end"
        return condition

    def string(self, alias: str, key: str) -> str:
        """Return the value of a row of `token` under a key, as a string; null if it has none."""
        if key in TOKEN_KEYS:
            return attribute_string(alias, key, self.bindings)
        if surprisal := self.keys.find_surprisal(key):
            return surprisal.value(alias, self.bindings)
        own = misc_string(alias, key, self.bindings)
        if key == "wordform":
            return f"coalesce({own}, {self.string(alias, 'form')})"
        if key == "textform":
            return f"coalesce({own}, {_SURFACE.format(alias=alias)}, {self.string(alias, 'form')})"
        return attribute_string(alias, key, self.bindings) if self.of_feats(key) else own

    def label(self, alias: str, label: Label) -> list[str]:
        """Return the conditions that the relation in a row is such a one."""
        if label.parts:
            parts = [self._part(one) for one in label.parts]
            return [f"{alias}.deprel_id in (select id from tag where {' and '.join(parts)})"]
        if not label.values:
            return []
        asked = any_of([attribute_condition(alias, "deprel", one, self.bindings) for one in label.values])
        return [f"({asked}) is not true" if label.negated else asked]

    def metadata(self, sentence: str, one: FeatureCondition) -> str:
        """Return the condition that the metadata of a sentence have a value; ``sentence``: of its number."""
        string = self.meta_string("meta", TEXT if one.key == TEXT else f"meta.{one.key}")
        condition = self._asked(one, lambda value: self._is(string, value, "meta"))
        table = "v_sentences" if one.key == TEXT else "sentence"
        return f"{sentence} in (select meta.id from {table} as meta where {condition})"

    def meta_string(self, alias: str, key: str) -> str:
        """Return the value under a key in the metadata of a row of `sentence`, else of its document."""
        return f"{alias}.text" if key == TEXT else require(self.keys, key).value(alias, self.bindings)

    def values(self, string: str, values: Sequence[Value]) -> str:
        """Return the condition that a string is one of some values."""
        return any_of([self._is(string, one, "value") for one in values])

    def _part(self, one: FeatureCondition) -> str:
        """Return the condition on a part of a relation, a row of `tag`."""
        return self._asked(one, lambda value: self._is(part_of("name", one.key), value, "part"))

    def of_feats(self, key: str) -> bool:
        """Return whether a key of a node is one of FEATS."""
        return key not in (*TOKEN_KEYS, *WRITTEN) and key in self.keys.features

    def _of_token(self, alias: str, key: str, value: Test | None) -> str:
        if surprisal := self.keys.find_surprisal(key):
            return surprisal.holds(alias, surprisal_test(value, self.bindings), self.bindings)
        if isinstance(value, Value) and key in WRITTEN:
            value = self._written(value)
        if key in TOKEN_KEYS or self.of_feats(key):
            return attribute_condition(alias, key, value, self.bindings)
        if key in WRITTEN:
            return self._is(self.string(alias, key), value, key)
        return misc_condition(alias, key, value, self.bindings)

    def _written(self, value: Value) -> Value:
        return replace(value, ignore_case=True) if self.selection.loose else value

    def _is(self, string: str, value: Test | None, name: str) -> str:
        return f"{string} is not null" if value is None else value.condition(string, self.bindings, name)

    def _asked(self, one: FeatureCondition, condition: Callable[[Test | None], str]) -> str:
        """Return the condition of a feature, of conditions that its value is some (None: any)."""
        if one.relation is FeatureRelation.PRESENT:
            return condition(None)
        if one.relation is FeatureRelation.ABSENT:
            return f"({condition(None)}) is not true"
        found = any_of([condition(value) for value in one.values])
        if one.relation is FeatureRelation.IS:
            return found
        return f"({condition(None)} and ({found}) is not true)"


def require(keys: StoreKeys, key: str) -> MetadataKey:
    """Return the key of metadata that a name stands for.

    Raises:
        InputError: there is none.
    """
    if found := keys.find_metadata(key):
        return found
    refuse_regions(keys, key)
    raise InputError(f"no metadata {key!r}; {instead(bare(key), [*keys.of_sentences, TEXT])}")


def refuse_regions(keys: StoreKeys, key: str) -> None:
    """Say of a key that it is one of regions, of which requests know nothing.

    Raises:
        InputError: it is.
    """
    if found := keys.find_region(key):
        raise InputError(
            f"{found.name} is said of regions: give --where '{found.name} = ...',"
            f" or ask in CQL for <{found.kinds[0]}>"
        )


def part_of(label: str, key: str) -> str:
    """Return a part of a relation in SQL: ``1``, ``2``, ... between colons, ``deep`` after ``@``.

    >>> part_of("name", "2")
    "string_split(split_part(name, '@', 1), ':')[2]"
    """
    if key == "deep":
        return f"nullif(split_part({label}, '@', 2), '')"
    return f"string_split(split_part({label}, '@', 1), ':')[{int(key)}]"
