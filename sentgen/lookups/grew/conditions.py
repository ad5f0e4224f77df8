"""Conditions of a request on nodes, relations, metadata and trees, in SQL.

Paths are recursive common table expressions. Each step goes from all tokens to their heads (or down to their
modifiers): the number of pairs is that of the tokens times their depth. The recursion ends, as ingestion
refuses trees with cycles. A step reads `token` itself, whose row groups DuckDB skips by sentence: reading
from a copy of the sentences takes half the time if they are few, and four times as long if they are many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sentgen.errors import InputError
from sentgen.lookups.base.attributes import Key, Test, TokenKey, Value
from sentgen.lookups.base.keys import MetadataKey, StoreKeys
from sentgen.lookups.base.regions import RegionKey
from sentgen.lookups.base.regular_expressions import fault
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, any_of
from sentgen.lookups.grew.syntax import FORM, Description, FeatureCondition, FeatureRelation, Label

#: How to ask for keys that are no attributes of tokens, and for keys that are no metadata.
_WAYS: dict[type, str] = {
    MetadataKey: "write global {{ {name} = ... }}, or {where} '{key} = ...'",
    RegionKey: "give {where} '{key} = ...', or ask in CQL for match.{name}",
}
_OTHER_WAYS: dict[type, str] = {
    RegionKey: _WAYS[RegionKey],
    Key: "ask for it of a node, such as X [{name}=...]",
}


@dataclass(frozen=True, slots=True)
class FeatureConditions:
    """Writes conditions on features into a statement; words are compared as in the selection."""

    bindings: Bindings
    selection: Selection
    keys: StoreKeys

    def of_descriptions(
        self, alias: str, descriptions: Sequence[Description], *, anchored: bool
    ) -> list[str]:
        """Return the conditions that one of the descriptions fits a row of `token`; empty for any token."""
        alternatives = [
            [self._of_node(alias, feature, anchored=anchored) for feature in description]
            for description in descriptions
        ]
        if not all(alternatives):
            return []
        if len(alternatives) == 1:
            return alternatives[0]
        return (
            [f"({' or '.join(' and '.join(description) for description in alternatives)})"]
            if alternatives
            else []
        )

    def key(self, name: str, node: str = "") -> Key:
        """Return the attribute of tokens that a name stands for; ``node``: name of the node, for messages.

        Raises:
            InputError: there is no such attribute.
        """
        if key := self.keys.find_token(name):
            return key
        raise InputError(f"{node and f'{node}.{name}: '}{self.keys.refusal(name, 'attribute', _WAYS)}")

    def metadata_key(self, name: str) -> MetadataKey:
        """Return the key of metadata that a name stands for.

        Raises:
            InputError: there is no such key.
        """
        if key := self.keys.find_metadata(name):
            return key
        raise InputError(self.keys.refusal(name, "metadata", _OTHER_WAYS))

    def _of_node(self, alias: str, feature: FeatureCondition, *, anchored: bool = False) -> str:
        """Return the condition that a row of `token` has a feature; ``anchored``: it may be the anchor."""
        key = self.key(feature.key)

        def has(test: Test | None) -> str:
            compared = test and self.selection.with_case(key, test)
            return key.condition(alias, compared, self.bindings)

        condition = self._of_feature(feature, has)
        if anchored and feature.key in FORM:
            fits = str(feature.fits_anchor).lower()
            return f"case when {alias}.position = 0 then {fits} else {condition} end"
        return condition

    def label(self, alias: str, label: Label) -> list[str]:
        """Return the conditions that the relation in a row matches a label."""
        if label.parts:
            parts = [self._part(part) for part in label.parts]
            return [f"{alias}.deprel_id in (select id from tag where {' and '.join(parts)})"]
        if not label.values:
            return []
        relation = TokenKey.of_name("deprel")
        values = self._check_patterns(label.values)
        condition = any_of([relation.condition(alias, value, self.bindings) for value in values])
        return [f"({condition}) is not true" if label.negated else condition]

    def metadata(self, sentence: str, feature: FeatureCondition) -> str:
        """Return the condition that the metadata of a sentence have a value; ``sentence``: its id in SQL."""
        key = self.metadata_key(feature.key)
        string = f"{key.tested_value}::varchar" if key.number else key.tested_value

        def holds(test: Test | None) -> str:
            return key.holds(test.condition(string, self.bindings, "meta") if test else "", self.bindings)

        return f"{sentence} in (select s.id from sentence as s where {self._of_feature(feature, holds)})"

    def values(self, string: str, values: Sequence[Value], key: Key | None = None) -> str:
        """Return the condition that a string is one of some values; ``key``: the attribute, of a token."""
        tests = [self.selection.with_case(key, value) for value in self._check_patterns(values)]
        return any_of([test.condition(string, self.bindings) for test in tests])

    def _part(self, feature: FeatureCondition) -> str:
        string = part_of("name", feature.key)

        def is_part(test: Test | None) -> str:
            return test.condition(string, self.bindings, "part") if test else f"{string} is not null"

        return self._of_feature(feature, is_part)

    def _check_patterns(self, tests: Iterable[Test]) -> Iterable[Test]:
        """Yield tests whose regular expressions are valid."""
        for test in tests:
            for text in test.texts if isinstance(test, Value) and test.regex else ():
                if message := fault(self.keys.connection, text):
                    raise InputError(f"{text!r} is no regular expression: {message}")
            yield test

    def _of_feature(self, feature: FeatureCondition, condition: Callable[[Test | None], str]) -> str:
        """Return the condition of a feature; ``condition`` writes the test of one value (None: any value)."""
        if feature.relation is FeatureRelation.PRESENT:
            return condition(None)
        if feature.relation is FeatureRelation.ABSENT:
            return f"({condition(None)}) is not true"
        passes = any_of([condition(value) for value in self._check_patterns(feature.values)])
        if feature.relation is FeatureRelation.IS:
            return passes
        return f"({condition(None)} and ({passes}) is not true)"


def part_of(label: str, key: str) -> str:
    """Return the SQL for a part of a relation: ``1``, ``2``, ... between colons, ``deep`` after ``@``.

    >>> part_of("name", "2")
    "string_split(split_part(name, '@', 1), ':')[2]"
    """
    if key == "deep":
        return f"nullif(split_part({label}, '@', 2), '')"
    return f"string_split(split_part({label}, '@', 1), ':')[{int(key)}]"


_UP = """\
{name} as (
  select seed.sentence_id, seed.position as below, seed.head as above from token as seed
  where {conditions}
  union all
  select {name}.sentence_id, {name}.below, step.head
  from {name}
  join token as step on step.sentence_id = {name}.sentence_id and step.position = {name}.above{steps}
  where step.head is not null
)"""
_DOWN = """\
{name} as (
  select step.sentence_id, step.position as below, step.head as above
  from token as seed
  join token as step on step.sentence_id = seed.sentence_id and step.head = seed.position{steps}
  where {conditions}
  union all
  select {name}.sentence_id, step.position, {name}.above
  from {name}
  join token as step on step.sentence_id = {name}.sentence_id and step.head = {name}.below{steps}
)"""
#: Two edges cross if each has one end strictly within the other; the edge of the root begins at position 0.
_CROSSING = """\
select t.sentence_id from token as t, token as other
    where other.sentence_id = t.sentence_id
      and least(t.position, t.head) < least(other.position, other.head)
      and least(other.position, other.head) < greatest(t.position, t.head)
      and greatest(t.position, t.head) < greatest(other.position, other.head){corpora}"""
#: Tokens that no path reaches from a token without a head are in a cycle, or below one.
_CYCLE = """\
with recursive rooted as (
      select t.sentence_id, t.position from token as t where coalesce(t.head, 0) = 0{corpora}
      union all
      select t.sentence_id, t.position from rooted
      join token as t on t.sentence_id = rooted.sentence_id and t.head = rooted.position
    )
    select t.sentence_id from token as t
    anti join rooted on rooted.sentence_id = t.sentence_id and rooted.position = t.position
    where true{corpora}"""
_HEADLESS = "select t.sentence_id from token as t where t.head is null{corpora}"

#: For each structure, the query for the sentences that violate it.
_VIOLATED = {
    "is_projective": (_CROSSING,),
    "is_forest": (_CYCLE,),
    "is_tree": (_CYCLE, _HEADLESS),
    "is_not_cyclic": (_CYCLE,),
}
_OPPOSITE = {
    "is_not_projective": "is_projective",
    "is_not_forest": "is_forest",
    "is_not_tree": "is_tree",
    "is_cyclic": "is_not_cyclic",
}


def path_table(name: str, seed: Sequence[str], steps: Sequence[str], *, down: bool) -> str:
    """Return the table expression of the pairs of tokens of which one dominates the other.

    Columns: ``sentence_id``, ``below`` and ``above``. Paths go up, or ``down``, from tokens that meet the
    conditions ``seed``, with that alias, to tokens that meet ``steps``, with the alias ``step``.
    """
    conditions = " and ".join([*seed, *([] if down else ["seed.head is not null"])]) or "true"
    and_steps = "".join(f" and {step}" for step in steps)
    return (_DOWN if down else _UP).format(name=name, conditions=conditions, steps=and_steps)


def structure_condition(name: str, sentence: str, corpora: Sequence[str]) -> str:
    """Return the condition that a tree has a structure.

    Args:
        name: name of the structure, such as ``is_projective``.
        sentence: SQL for the id of the sentence.
        corpora: the condition on the corpus of a row ``t`` of `token`.

    Raises:
        InputError: there is no such structure.
    """
    positive = _OPPOSITE.get(name, name)
    if positive not in _VIOLATED:
        raise InputError(f"no structure {name!r}; there are {', '.join([*_VIOLATED, *_OPPOSITE])}")
    and_corpora = "".join(f" and {corpus}" for corpus in corpora)
    violations = [
        f"{sentence} in (\n    {text.format(corpora=and_corpora)}\n  )" for text in _VIOLATED[positive]
    ]
    either = any_of(violations)
    return either if name in _OPPOSITE else f"not {either}"
