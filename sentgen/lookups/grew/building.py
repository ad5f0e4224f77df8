"""Make the syntax of a request of the tree that the parser gives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from lark import Token, Transformer, v_args

from sentgen.errors import InputError
from sentgen.lookups.attributes import Bound, Value
from sentgen.lookups.grew.syntax import (
    Clause,
    CountKey,
    Description,
    Distance,
    Dominance,
    FeatureCondition,
    FeatureRelation,
    Filter,
    GrewComparison,
    GrewEdge,
    GrewRequest,
    Label,
    LinearOrder,
    Node,
    Placement,
    Reference,
    is_part,
)
from sentgen.lookups.numbers import TOO_LONG, is_exact, is_number
from sentgen.lookups.surprisals import NAME as SURPRISAL

_ENHANCED = "E:"
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
#: Characters of a name that is no part, as a message has them.
_LONG = 30
_MIRRORED = {">": "<", ">>": "<<"}


#: What stands in a block: signs, clauses, and the clauses that one of an edge is.
Part = Token | Clause | tuple[Clause, ...]


@v_args(inline=True)
class Building(Transformer[Token, GrewRequest | Filter | CountKey]):
    """One method for each rule of the grammar, from the leaves up."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def request(self, *blocks: GrewRequest) -> GrewRequest:
        return GrewRequest(
            clauses=tuple(clause for block in blocks for clause in block.clauses),
            filters=tuple(one for block in blocks for one in block.filters),
            structures=tuple(one for block in blocks for one in block.structures),
            metadata=tuple(one for block in blocks for one in block.metadata),
        )

    def pattern(self, *parts: Part) -> GrewRequest:
        return GrewRequest(clauses=_clauses(parts))

    def without(self, *parts: Part) -> GrewRequest:
        return GrewRequest(filters=(Filter(_clauses(parts), negated=True),))

    def with_block(self, *parts: Part) -> GrewRequest:
        return GrewRequest(filters=(Filter(_clauses(parts)),))

    def global_block(self, _: Token, *asked: FeatureCondition) -> GrewRequest:
        bare = [one for one in asked if one.relation is FeatureRelation.PRESENT and one.key.startswith("is_")]
        rest = tuple(one for one in asked if one not in bare)
        return GrewRequest(structures=tuple(one.key for one in bare), metadata=rest)

    def whether(self, *parts: Part) -> Filter:
        return Filter(_clauses(parts))

    def key_of(self, name: Token, key: str = "label") -> CountKey:
        return CountKey(self._text.strip(), Reference(str(name), key))

    def key_of_order(self, *parts: Token) -> CountKey:
        return CountKey(self._text.strip(), Placement(tuple(str(one) for one in parts if one.type == "NAME")))

    def key_of_distance(self, of: Distance) -> CountKey:
        return CountKey(self._text.strip(), of)

    def node(self, end: Node | None) -> Node:
        if end is None:
            raise InputError("a star alone says nothing; write an edge, such as 'X -> *'")
        if not end.descriptions:
            name = end.name
            raise InputError(
                f"{name} alone says nothing; write '{name} []', or an edge, such as '{name} -> Y'"
            )
        return end

    def edge(self, *parts: Token | Node | Label | None) -> tuple[Clause, ...]:
        ends = [one for one in parts if one is None or isinstance(one, Node)]
        label = next((one for one in parts if isinstance(one, Label)), Label())
        name = str(parts[0]) if isinstance(parts[0], Token) else None
        source, target = (None if one is None else one.name for one in ends)
        if source is None and target is None:
            raise InputError("an edge needs a node at one of its ends, such as 'X -> *'")
        if name is not None and None in (source, target):
            raise InputError(f"the edge {name} has a star at one end; give that node a name")
        return (*_described(ends), GrewEdge(source, target, label, name))

    def dominance(self, source: Node | None, target: Node | None) -> tuple[Clause, ...]:
        if source is None or target is None:
            raise InputError("'->>' stands between two nodes with names, such as 'X ->> Y'")
        return (*_described((source, target)), Dominance(source.name, target.name))

    def order(self, *parts: Token) -> LinearOrder:
        left, operator, right = map(str, parts)
        if operator in _MIRRORED:
            return LinearOrder(right, _MIRRORED[operator], left)
        return LinearOrder(left, operator, right)

    def comparison(
        self, left: Reference | Distance, operator: Token, right: Reference | tuple[Value, ...]
    ) -> GrewComparison:
        if isinstance(right, Reference):
            return GrewComparison(left, str(operator), right)
        if isinstance(left, Distance) or operator not in ("=", "<>"):
            return GrewComparison(left, str(operator), _number(right))
        return GrewComparison(left, str(operator), right)

    def reference(self, name: Token, key: str) -> Reference:
        return Reference(str(name), key)

    def distance(self, *parts: Token) -> Distance:
        return Distance(*map(str, parts))

    def end(self, name: Token, *parts: Token | Description) -> Node | None:
        if name == "*":
            return None
        descriptions = tuple(one for one in parts if isinstance(one, tuple))
        return Node(str(name), descriptions, free="$" in parts)

    def description(self, *features: FeatureCondition) -> Description:
        return features

    def label_values(self, *parts: str) -> Label:
        texts = [str(one) for one in parts if getattr(one, "type", "") != "BAR"]
        enhanced = {text.startswith(_ENHANCED) for text in texts}
        if len(enhanced) > 1:
            raise InputError(
                "an edge is of the tree or of the enhanced graph: write E: before all its relations, or none"
            )
        return Label(values_of(text.removeprefix(_ENHANCED) for text in texts), enhanced=enhanced == {True})

    def label_value(self, value: Token) -> str:
        return str(value)

    def negated(self, label: Label) -> Label:
        if not label.values:
            raise InputError("no relation is left of '^*'; name those that are not wanted")
        return replace(label, negated=True)

    def parts(self, *parts: FeatureCondition) -> Label:
        asked = [one for one in parts if one.key == "enhanced"]
        if any(one.relation is not FeatureRelation.IS or one.values != (Value(("yes",)),) for one in asked):
            raise InputError("of 'enhanced' only 'enhanced=yes' can be asked")
        rest = tuple(one for one in parts if one not in asked)
        for one in rest:
            check_part(one.key)
        return Label(parts=rest, enhanced=bool(asked))

    def feature(self, key: str, operator: Token, among: Label | tuple[Value, ...]) -> FeatureCondition:
        values = among.values if isinstance(among, Label) else among
        if not values:
            return self.present(key) if operator == "=" else self.absent(key)
        return FeatureCondition(str(key), FeatureRelation(operator), values)

    def bounded(self, key: str, operator: Token, values: tuple[Value, ...]) -> FeatureCondition:
        return FeatureCondition(key, FeatureRelation.IS, (Bound(str(operator), _number(values)),))

    def absent(self, key: str) -> FeatureCondition:
        return FeatureCondition(str(key), FeatureRelation.ABSENT)

    def present(self, key: str) -> FeatureCondition:
        return FeatureCondition(str(key), FeatureRelation.PRESENT)

    def feature_name(self, *parts: Token) -> str:
        name, *layer = map(str, parts)
        return f"{name}[{layer[0]}]" if layer else name

    def named_after_model(self, *parts: Token) -> str:
        name = ".".join(parts)
        if parts[0] not in (SURPRISAL, "meta"):
            raise InputError(f"{name}: a feature has no dot in its name, but for {SURPRISAL}.MODEL")
        return name

    def values(self, *parts: str) -> tuple[Value, ...]:
        return values_of(str(one) for one in parts if getattr(one, "type", "") != "BAR")

    def value(self, *parts: Token) -> str:
        return "".join(parts)


def values_of(texts: Iterable[str]) -> tuple[Value, ...]:
    """Return alternatives, plain strings as one of them; none if a star is among them: any value."""
    found = [value_of(text) for text in texts]
    plain = tuple(text for one in found if one and not one.regex for text in one.texts)
    if None in found:
        return ()
    return (*([Value(plain)] if plain else []), *(one for one in found if one and one.regex))


def check_part(key: str) -> None:
    """Refuse what is no part of a label."""
    if not is_part(key):
        shown = key if len(key) < _LONG else f"{key[:_LONG]}..."
        raise InputError(
            f"a relation has no part {shown!r}: there are 1, 2, ... between colons, and deep after @"
        )


def _clauses(parts: Iterable[Part]) -> tuple[Clause, ...]:
    found: list[Clause] = []
    for one in parts:
        if isinstance(one, tuple):
            found += one
        elif not isinstance(one, Token):
            found.append(one)
    return tuple(found)


def _described(ends: Iterable[Node | None]) -> list[Node]:
    """Return what the ends of an edge say of their nodes."""
    return [one for one in ends if one is not None and (one.descriptions or one.free)]


def _number(values: tuple[Value, ...]) -> str:
    text = values[0].texts[0] if len(values) == 1 and not values[0].regex else ""
    if not is_number(text):
        raise InputError("a distance, and what is greater or less, is compared with a number")
    if not is_exact(text):
        raise InputError(TOO_LONG)
    return text


def value_of(text: str) -> Value | None:
    """Return what a value in a request stands for; None for a star.

    >>> value_of('re"a.*"'), value_of('"a"').texts
    (Value(texts=('a.*',), regex=True, ignore_case=False, ignore_accents=False), ('a',))
    """
    if text == "*":
        return None
    if text.startswith('re"'):
        return Value((text[3:-1].replace('\\"', '"'),), regex=True)
    if text.startswith("/"):
        body, _, flag = text[1:].rpartition("/")
        return Value((body.replace("\\/", "/"),), regex=True, ignore_case=flag == "i")
    return Value((_ESCAPE.sub(r"\1", text[1:-1]) if text.startswith('"') else text,))
