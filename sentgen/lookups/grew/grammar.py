"""The grammar of Grew requests, for Lark (LALR): https://grew.fr/doc/request/ describes the language."""

from __future__ import annotations

GRAMMAR = r"""
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
NAMES = {
    "NAME": "a name",
    "LABEL": "a relation",
    "STRING": '"text"',
    "REGEX": 're"..."',
    "PERL": "/.../",
    "FLOAT": "a number",
    "$END": "the end",
}
