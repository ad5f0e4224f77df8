"""Parse requests, keys of counts, and conditions: their grammar, for Lark (LALR).

https://grew.fr/doc/request/ describes the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from sentgen.errors import InputError, QueryError
from sentgen.lookups.base.attributes import TOO_LONG, Bound, Value, is_exact, is_number
from sentgen.lookups.base.languages import built, expected_of, place_of, straight_quotes
from sentgen.lookups.base.surprisals import NAME as SURPRISAL
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

_GRAMMAR = r"""
request: block*
?block: (_PATTERN | _MATCH) "{" _clauses "}" -> pattern
    | _WITHOUT "{" _clauses "}" -> without
    | _WITH "{" _clauses "}" -> with_block
    | _GLOBAL "{" _asked "}" -> global_block
whether: _clauses
key: NAME "." feature_name -> key_of
    | NAME -> key_of
    | NAME "." feature_name PERIOD -> key_of_periods
    | NAME PERIOD -> key_of_periods
    | NAME (_HASH NAME)+ -> key_of_order
    | distance -> key_of_distance

_clauses: clause? (";" clause?)*
?clause: end -> node
    | (NAME COLON)? end "->" end -> edge
    | (NAME COLON)? end "-[" label "]->" end -> edge
    | end "->>" end -> dominance
    | NAME (LT | LL | GT | GG | CROSS | NE) NAME -> order
    | reference (EQ | NE | LT | GT | LE | GE) (reference | values) -> comparison
    | distance (EQ | NE | LT | GT | LE | GE) values -> comparison
reference: NAME "." feature_name
distance: (LENGTH | DELTA) "(" NAME "," NAME ")"
end: NAME DOLLAR? (description (_BAR description)*)?
    | STAR
description: "[" (feature ("," feature)*)? "]"

?label: label_values
    | "^" label_values -> negated_label
    | part ("," part)* -> parts
label_values: label_value (_BAR label_value)*
part: LABEL EQ label_values -> feature
    | LABEL NE label_values -> feature
    | "!" LABEL -> absent
label_value: LABEL | STRING | REGEX | PERL | STAR

?feature: feature_name (EQ | NE) values -> feature
    | feature_name (LT | GT | LE | GE) values -> bound
    | "!" feature_name -> absent
    | feature_name -> present
feature_name: NAME ("[" NAME "]")?
    | NAME "." NAME -> named_after_model
values: value (_BAR value)*
value: NAME (COLON NAME)* (AT NAME)? | MINUS NAME | FLOAT | STRING | REGEX | PERL | STAR

_asked: feature? (";" feature?)*

_PATTERN: "pattern"
_MATCH: "match"
_WITHOUT: "without"
_WITH: "with"
_GLOBAL: "global"
LENGTH: "length"
DELTA: "delta"
LT: "<"
LL: "<<"
GT: ">"
GG: ">>"
LE: "<="
GE: ">="
EQ: "="
NE: "<>"
CROSS: "><"
_BAR: "|"
COLON: ":"
AT: "@"
_HASH: "#"
STAR: "*"
MINUS: "-"
DOLLAR: "$"
PERIOD: /\/[1-9][0-9]*/
NAME: /\w[\w']*/
FLOAT.2: /-?\d+\.\d+/
LABEL: /E:\*|[\w@:.$~'-]+/
STRING: /"(\\.|[^"\\])*"/
REGEX.2: /re"(\\.|[^"\\])*"/
PERL: /\/(\\.|[^\/\\\n])+\/i?/
COMMENT: /%[^\n]*/
%import common.WS
%ignore WS
%ignore COMMENT
"""

#: Names of terminals in messages; other terminals are named by their sign.
_NAMES = {
    "NAME": "a name",
    "LABEL": "a relation",
    "STRING": '"text"',
    "REGEX": 're"..."',
    "PERL": "/.../",
    "FLOAT": "a number",
    "PERIOD": "/10",
    "$END": "the end",
}
#: The largest number of possible terminals that a message lists.
_MOST_EXPECTED = 8
#: The rules that count as conditions; alternatives of values do not.
_CONDITIONS = ("feature", "absent", "present", "edge", "dominance", "order", "comparison")


def read_request(text: str) -> GrewRequest:
    """Read a request.

    Raises:
        QueryError: the text is no request; the message says where.
    """
    if not text.strip():
        raise InputError("the request is empty; write one, such as: pattern { V [upos=VERB] }")
    if "#BEGIN" in text:
        raise InputError('lexicons (#BEGIN) are not read; write the values instead: lemma="be"|"have"')
    request = _read(text, "request")
    assert isinstance(request, GrewRequest)
    return request


def read_whether(text: str) -> Filter:
    """Read the clauses of a condition, such as ``S [upos=PRON]``.

    Raises:
        QueryError: the text has no clauses; the message says where.
    """
    condition = _read(text, "whether")
    assert isinstance(condition, Filter)
    if not condition.clauses:
        raise InputError("a condition needs a clause, such as 'S [upos=PRON]'")
    return condition


def read_key(text: str) -> CountKey:
    """Read what hits are counted by, such as ``V.lemma`` or ``S#V#O``.

    Raises:
        QueryError: the text is no such key; the message says where.
    """
    key = _read(text, "key")
    assert isinstance(key, CountKey)
    return key


def _read(text: str, start: str) -> object:
    text = straight_quotes(text, _REGULAR)
    try:
        return built(text, partial(_parser().parse, text, start=start), _CONDITIONS, _RequestBuilder(text))
    except UnexpectedInput as error:
        if start == "request" and _CQL.match(text):
            message = "this is CQL, and no request of Grew: ask it with kwic, or choose CQL"
            raise QueryError(message, query=text, offset=0) from None
        raise _syntax_error(text, error) from None


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", start=["request", "whether", "key"], maybe_placeholders=False)


def _syntax_error(text: str, error: UnexpectedInput) -> QueryError:
    expected = sorted(_sign(name) for name in expected_of(error) - {"COMMENT", "WS"})
    few = len(expected) < 3
    signs = (" or " if few else ", ").join(expected[:_MOST_EXPECTED])
    more = ", ..." if len(expected) > _MOST_EXPECTED else ""
    message = f"expected {'' if few else 'one of '}{signs}{more}"
    return QueryError(message, query=text, offset=place_of(text, error))


def _sign(terminal: str) -> str:
    if terminal in _NAMES:
        return _NAMES[terminal]
    pattern = next(known.pattern for known in _parser().terminals if known.name == terminal)
    return str(pattern.value)


#: The begin of a query in CQL.
_CQL = re.compile(r"""\s*(?:\w+:)?["'\[(<]""")
#: A regular expression, in which quotation marks begin no string.
_REGULAR = r"/(?:\\.|[^/\\\n])+/"
_ENHANCED = "E:"
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
#: Characters of a wrong name that a message shows.
_LONG = 30
_MIRRORED = {">": "<", ">>": "<<"}


#: A part of a block: a clause, or the clauses of an edge and of its nodes.
_Part = Clause | tuple[Clause, ...]


@v_args(inline=True)
class _RequestBuilder(Transformer[Token, GrewRequest | Filter | CountKey]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def request(self, *blocks: GrewRequest) -> GrewRequest:
        return GrewRequest(
            clauses=tuple(clause for block in blocks for clause in block.clauses),
            filters=tuple(each for block in blocks for each in block.filters),
            structures=tuple(name for block in blocks for name in block.structures),
            metadata=tuple(condition for block in blocks for condition in block.metadata),
        )

    def pattern(self, *parts: _Part) -> GrewRequest:
        return GrewRequest(clauses=_clauses(parts))

    def without(self, *parts: _Part) -> GrewRequest:
        return GrewRequest(filters=(Filter(_clauses(parts), negated=True),))

    def with_block(self, *parts: _Part) -> GrewRequest:
        return GrewRequest(filters=(Filter(_clauses(parts)),))

    def global_block(self, *conditions: FeatureCondition) -> GrewRequest:
        return GrewRequest(
            structures=tuple(condition.key for condition in conditions if _is_structure(condition)),
            metadata=tuple(condition for condition in conditions if not _is_structure(condition)),
        )

    def whether(self, *parts: _Part) -> Filter:
        return Filter(_clauses(parts))

    def key_of(self, name: Token, key: str = "label") -> CountKey:
        return CountKey(self._text.strip(), Reference(str(name), key))

    def key_of_periods(self, name: Token, *rest: str) -> CountKey:
        *key, period = rest
        # Nodes and edges have no periods: no attribute of theirs has such a name.
        return CountKey(self._text.strip(), Reference(str(name), f"{key[0] if key else 'label'}{period}"))

    def key_of_order(self, *names: Token) -> CountKey:
        return CountKey(self._text.strip(), Placement(tuple(map(str, names))))

    def key_of_distance(self, distance: Distance) -> CountKey:
        return CountKey(self._text.strip(), distance)

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
        ends = [part for part in parts if part is None or isinstance(part, Node)]
        label = next((part for part in parts if isinstance(part, Label)), Label())
        name = str(parts[0]) if isinstance(parts[0], Token) else None
        source, target = (None if part is None else part.name for part in ends)
        if source is None and target is None:
            raise InputError("an edge needs a node at one of its ends, such as 'X -> *'")
        if name is not None and None in (source, target):
            raise InputError(f"the edge {name} has a star at one end; give that node a name")
        return (*_node_clauses(ends), GrewEdge(source, target, label, name))

    def dominance(self, source: Node | None, target: Node | None) -> tuple[Clause, ...]:
        if source is None or target is None:
            raise InputError("'->>' stands between two nodes with names, such as 'X ->> Y'")
        return (*_node_clauses((source, target)), Dominance(source.name, target.name))

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
        descriptions = tuple(part for part in parts if isinstance(part, tuple))
        return Node(str(name), descriptions, free="$" in parts)

    def description(self, *features: FeatureCondition) -> Description:
        return features

    def label_values(self, *texts: str) -> Label:
        enhanced = {text.startswith(_ENHANCED) for text in texts}
        if len(enhanced) > 1:
            raise InputError(
                "an edge is of the tree or of the enhanced graph: write E: before all its relations, or none"
            )
        return Label(_values_of(text.removeprefix(_ENHANCED) for text in texts), enhanced=enhanced == {True})

    def label_value(self, value: Token) -> str:
        return str(value)

    def negated_label(self, label: Label) -> Label:
        if not label.values:
            raise InputError("no relation is left of '^*'; name those that are not wanted")
        return replace(label, negated=True)

    def parts(self, *parts: FeatureCondition) -> Label:
        enhanced = [part for part in parts if part.key == "enhanced"]
        if any(
            part.relation is not FeatureRelation.IS or part.values != (Value(("yes",)),) for part in enhanced
        ):
            raise InputError("of 'enhanced' only 'enhanced=yes' can be asked")
        rest = tuple(part for part in parts if part not in enhanced)
        if wrong := [part.key for part in rest if not is_part(part.key)]:
            shown = wrong[0] if len(wrong[0]) < _LONG else f"{wrong[0][:_LONG]}..."
            raise InputError(
                f"a relation has no part {shown!r}: there are 1, 2, ... between colons, and deep after @"
            )
        return Label(parts=rest, enhanced=bool(enhanced))

    def feature(self, key: str, operator: Token, among: Label | tuple[Value, ...]) -> FeatureCondition:
        values = among.values if isinstance(among, Label) else among
        if not values:
            return self.present(key) if operator == "=" else self.absent(key)
        return FeatureCondition(str(key), FeatureRelation(operator), values)

    def bound(self, key: str, operator: Token, values: tuple[Value, ...]) -> FeatureCondition:
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

    def values(self, *texts: str) -> tuple[Value, ...]:
        return _values_of(texts)

    def value(self, *parts: Token) -> str:
        return "".join(parts)


def _values_of(texts: Iterable[str]) -> tuple[Value, ...]:
    """Return alternatives, with all plain strings in one value; empty, for any value, if one is a star."""
    values = [_value_of(text) for text in texts]
    plain = tuple(text for value in values if value and not value.regex for text in value.texts)
    if None in values:
        return ()
    return (*([Value(plain)] if plain else []), *(value for value in values if value and value.regex))


def _clauses(parts: Iterable[_Part]) -> tuple[Clause, ...]:
    return tuple(clause for part in parts for clause in (part if isinstance(part, tuple) else (part,)))


def _is_structure(condition: FeatureCondition) -> bool:
    return condition.relation is FeatureRelation.PRESENT and condition.key.startswith("is_")


def _node_clauses(ends: Iterable[Node | None]) -> list[Node]:
    """Return the nodes at the ends of an edge that have descriptions or are free."""
    return [end for end in ends if end is not None and (end.descriptions or end.free)]


def _number(values: tuple[Value, ...]) -> str:
    text = values[0].texts[0] if len(values) == 1 and not values[0].regex else ""
    if not is_number(text):
        raise InputError("a distance, and what is greater or less, is compared with a number")
    if not is_exact(text):
        raise InputError(TOO_LONG)
    return text


def _value_of(text: str) -> Value | None:
    """Return the value for a string of a request; None for a star.

    >>> _value_of('re"a.*"'), _value_of('"a"').texts
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
