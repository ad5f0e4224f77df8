"""Read the text of a request, of a key, and of a condition: its grammar, for Lark (LALR).

https://grew.fr/doc/request/ describes the language.
"""

from __future__ import annotations

from functools import cache, partial

from lark import Lark
from lark.exceptions import UnexpectedInput

from sentgen.errors import InputError, QueryError
from sentgen.lookups.grew.building import Building
from sentgen.lookups.grew.syntax import CountKey, Filter, GrewRequest
from sentgen.lookups.languages import built, expected_of, place_of

_GRAMMAR = r"""
request: block*
?block: (PATTERN | MATCH) "{" _clauses "}" -> pattern
    | WITHOUT "{" _clauses "}" -> without
    | WITH "{" _clauses "}" -> with_block
    | GLOBAL "{" _asked "}" -> global_block
whether: _clauses
key: NAME "." feature_name -> key_of
    | NAME -> key_of
    | NAME (HASH NAME)+ -> key_of_order
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
end: NAME DOLLAR? (description (BAR description)*)?
    | STAR
description: "[" (feature ("," feature)*)? "]"

?label: label_values
    | "^" label_values -> negated
    | part ("," part)* -> parts
label_values: label_value (BAR label_value)*
part: LABEL EQ label_values -> feature
    | LABEL NE label_values -> feature
    | "!" LABEL -> absent
label_value: LABEL | STRING | REGEX | PERL | STAR

?feature: feature_name (EQ | NE) values -> feature
    | feature_name (LT | GT | LE | GE) values -> bounded
    | "!" feature_name -> absent
    | feature_name -> present
feature_name: NAME ("[" NAME "]")?
    | NAME "." NAME -> named_after_model
values: value (BAR value)*
value: NAME (COLON NAME)* (AT NAME)? | MINUS NAME | FLOAT | STRING | REGEX | PERL | STAR

_asked: feature? (";" feature?)*

PATTERN: "pattern"
MATCH: "match"
WITHOUT: "without"
WITH: "with"
GLOBAL: "global"
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
BAR: "|"
COLON: ":"
AT: "@"
HASH: "#"
STAR: "*"
MINUS: "-"
DOLLAR: "$"
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

#: What stands for a terminal in a message, where that is not the sign itself.
_NAMES = {
    "NAME": "a name",
    "LABEL": "a relation",
    "STRING": '"text"',
    "REGEX": 're"..."',
    "PERL": "/.../",
    "FLOAT": "a number",
    "$END": "the end",
}
#: Of the many things that may stand in a place, as many are told.
_MOST_EXPECTED = 8
#: The rules that are conditions; beside these, a value may have many alternatives.
_CONDITIONS = ("feature", "absent", "present", "edge", "dominance", "order", "comparison")


def read_request(text: str) -> GrewRequest:
    """Read a request.

    Raises:
        QueryError: it is none, with the place.
    """
    if not text.strip():
        raise InputError("the request is empty; write one, such as: pattern { V [upos=VERB] }")
    if "#BEGIN" in text:
        raise InputError('lexicons (#BEGIN) are not read; write the values instead: lemma="be"|"have"')
    found = _read(text, "request")
    assert isinstance(found, GrewRequest)
    return found


def read_whether(text: str) -> Filter:
    """Read the clauses of a condition, such as ``S [upos=PRON]``.

    Raises:
        QueryError: there are none, with the place.
    """
    found = _read(text, "whether")
    assert isinstance(found, Filter)
    if not found.clauses:
        raise InputError("a condition needs a clause, such as 'S [upos=PRON]'")
    return found


def read_key(text: str) -> CountKey:
    """Read what hits are counted by, such as ``V.lemma`` or ``S#V#O``.

    Raises:
        QueryError: it is none, with the place.
    """
    found = _read(text, "key")
    assert isinstance(found, CountKey)
    return found


def _read(text: str, start: str) -> object:
    try:
        return built(text, partial(_parser().parse, text, start=start), _CONDITIONS, Building(text))
    except UnexpectedInput as error:
        raise _told(text, error) from None


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", start=["request", "whether", "key"], maybe_placeholders=False)


def _told(text: str, error: UnexpectedInput) -> QueryError:
    """Return what is wrong: where, and what could stand there."""
    expected = sorted(_shown(name) for name in expected_of(error) - {"COMMENT", "WS"})
    few = len(expected) < 3
    told = (" or " if few else ", ").join(expected[:_MOST_EXPECTED])
    more = ", ..." if len(expected) > _MOST_EXPECTED else ""
    message = f"expected {'' if few else 'one of '}{told}{more}"
    return QueryError(message, query=text, place=place_of(text, error))


def _shown(terminal: str) -> str:
    if terminal in _NAMES:
        return _NAMES[terminal]
    pattern = next(one.pattern for one in _parser().terminals if one.name == terminal)
    return str(pattern.value)
