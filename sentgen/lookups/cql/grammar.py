"""The parser of CQL: its grammar, the tree that it builds, and errors with their position."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from lark import Lark, Transformer, v_args
from lark import Token as Leaf
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from sentgen.errors import QueryError
from sentgen.lookups.base.attributes import TOO_LONG, Bound, Value, is_exact, is_number
from sentgen.lookups.base.languages import (
    MOST_TIMES,
    MOST_TOKENS,
    Either,
    Every,
    built,
    check_text,
    expected_of,
    place_of,
    straight_quotes,
)
from sentgen.lookups.base.surprisals import NAME as SURPRISAL
from sentgen.lookups.base.surprisals import split_name
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import Dialect

GRAMMAR = r"""
start: (pattern | "MU" meeting) ("expand" "to" region_name)? ";"?
meeting: "(" "meet" met met near ")"    -> meet
    | "(" "meet" met "not" met near ")" -> meet_not
    | "(" "union" met met ")"           -> alternatives
?met: "[" condition "]"                 -> token
    | value                             -> word
    | meeting
near: DISTANCE DISTANCE | region_name
?pattern: filtered
    | filtered "::" condition           -> constraint
    | filtered "::" condition "within" scope -> constrained_within
?filtered: alternatives
    | filtered "within" scope           -> within
    | filtered "containing" alternatives -> containing
?scope: alternatives
    | region_name
?alternatives: both
    | both ("|" both)+
?both: sequence
    | both "&" sequence
?sequence: item+
?item: atom
    | atom "?"                          -> optional
    | atom "*"                          -> star
    | atom "+"                          -> plus
    | atom "{" NUMBER "}"               -> exactly
    | atom "{" NUMBER "," NUMBER "}"    -> between
    | atom "{" NUMBER "," "}"           -> at_least
    | atom "{" "," NUMBER "}"           -> at_most
?atom: "[" condition "]"                -> token
    | "[" "]"                           -> any
    | value                             -> word
    | "<" NAME tests ">"                -> begin
    | "</" region_name ">"              -> end
    | "<" NAME tests "/>"               -> region
    | "(" pattern ")"
    | NAME ":" atom                     -> label
    | "@" atom                          -> target
?condition: either
    | either "->" condition             -> implication
?either: every
    | every ("|" every)+
?every: negated
    | negated ("&" negated)+
?negated: comparison
    | "!" negated                       -> negation
    | "(" condition ")"
?comparison: term                       -> bare
    | term EQUAL value                  -> equals
    | term EQUAL term                   -> same
    | term COMPARE (AMOUNT | STRING)    -> bound
    | term COMPARE term                 -> order
    | FUNCTION "(" term ("," term)? ")" (COMPARE | EQUAL) AMOUNT -> function
region_name: NAME
tests: (test ("&"? test)*)?
test: NAME EQUAL value
term: NAME ("." NAME)~0..2
value: STRING FLAGS?

EQUAL: "!=" | "="
COMPARE: /[<>]=?/
FUNCTION.2: /(distance|dist|distabs|f)(?=\s*\()/
AMOUNT: /[+-]?[0-9]+(\.[0-9]+)?/
NUMBER: /[0-9]+/
DISTANCE: /[+-]?[0-9]+/
FLAGS: /%[a-z]+/
STRING: /"(\\.|""|[^"\\])*"|'(\\.|''|[^'\\])*'/
NAME: /[^\W\d]\w*(\[\w+\])?/
COMMENT: /#[^\n]*/
%ignore /\s+/
%ignore COMMENT
"""

#: Other names of functions.
_FUNCTIONS = {"dist": "distance"}
#: The longest number, in characters, with which functions are compared.
_DIGITS = 18
#: The terminals of the grammar, and their names in messages.
_NAMES = {
    "LSQB": "[",
    "RSQB": "]",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "STRING": "a word in quotes",
    "NAME": "a name",
    "NUMBER": "a number",
    "EQUAL": "= or !=",
    "MORETHAN": ">",
    "__ANON_2": "/>",
    "COMMA": ",",
    "COLON": ":",
    "WITHIN": "within",
    "CONTAINING": "containing",
    "TO": "to",
}
#: Terminals that are possible nearly everywhere, so that messages do not list them.
_QUIET = ("$END", "SEMICOLON", "FLAGS", "VBAR", "WITHIN", "CONTAINING", "EXPAND", "AT", "COMPARE")
_REFUSED = {
    "meet": 'meet stands in MU(meet "a" "b" -2 2)',
    "union": 'union stands in MU(union "a" "b"); write alternatives, such as "a" | "b"',
    "TAB": 'TAB is not known here; write a sequence, such as "a" []{0,2} "b"',
}
#: A word without quotes; unlike names, words may have combining marks, apostrophes and hyphens.
_BARE = re.compile(r"(?:[^\s\"'\[\](){}<>|&!=?*+,;:/@$%^]|(?<=\w)'(?=\w))+")
#: The begin of a Grew request.
_GREW = re.compile(r"\s*(?:%[^\n]*\n\s*)*(?:global|match|pattern|with|without)\s*\{")
_FLAGS = "cdl"
#: Different tags of a query: automata may have a state for each set of them.
MOST_TAGS = 8
#: The begin of a value of BlackLab in which case and accents matter.
_SENSITIVE = re.compile(r"\(\?(?:-i|c)\)")
#: The largest distance in tokens that a query can ask for, as each token up to it is looked up.
_MOST_DISTANCE = 100
#: The rules that are conditions.
_CONDITIONS = ("bare", "equals", "same", "bound", "order", "function", "word", "test")
#: Names of sentences and documents.
_BUILT_IN = {"s": "s", "sentence": "s", "doc": "doc", "document": "doc", "text": "doc"}
_PLAIN = re.compile(r"(?:[^\\.?*+|()\[\]{}^$]|\\[^\w\s])*")


def read(
    text: str,
    is_kind: Callable[[str], object] = lambda _: False,
    dialect: Dialect = Dialect.SENTGEN,
) -> syntax.Pattern:
    """Read a query.

    Args:
        is_kind: says whether there are regions of a kind; a name such as ``text`` then means these regions,
            and not documents.
        dialect: whose CQL it is.

    Raises:
        QueryError: the text is no query; the message says where, and what was expected.
    """
    check_text(text)
    text = straight_quotes(text)
    dialect.check_known(text)
    try:
        parse = partial(_parser(dialect).parse, text)
        pattern = built(text, parse, _CONDITIONS, _Reader(text, is_kind, dialect))
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    if len(set(_tags(pattern))) > MOST_TAGS:
        raise QueryError(f"more than {MOST_TAGS} different tags; ask in parts", query=text)
    if pattern.size > MOST_TOKENS:
        raise QueryError(f"the query has more than {MOST_TOKENS} tokens, repetitions included", query=text)
    return pattern


def _tags(pattern: syntax.Pattern) -> list[syntax.CqlEdge]:
    own = [pattern] if isinstance(pattern, syntax.CqlEdge) else []
    return own + [tag for part in pattern.children for tag in _tags(part)]


@cache
def _parser(dialect: Dialect) -> Lark:
    # Positions are offsets of characters, as messages put a caret below one.
    return Lark(dialect.grammar(GRAMMAR), parser="lalr", maybe_placeholders=False)


def _syntax_error(text: str, error: UnexpectedInput) -> QueryError:
    column, expected = place_of(text, error), expected_of(error)
    if _GREW.match(text):
        return QueryError(
            "this is a request of Grew, and no CQL: ask it with match, or choose Grew", query=text, offset=0
        )
    name = re.search(r"\w+$", text[:column].rstrip())
    word = _BARE.match(text, name.start()) if name else None
    if word and (isinstance(error, UnexpectedToken) or word.end() > column):
        if (getattr(error, "expected", None) or expected) == {"COLON"}:  # a name where a pattern begins
            message = _REFUSED.get(word[0]) or f'a word stands in quotes: "{word[0]}"'
            return QueryError(message, query=text, offset=word.start())
        if isinstance(error, UnexpectedCharacters) and text[: word.start()].rstrip().endswith("="):
            return QueryError(f'a value stands in quotes: "{word[0]}"', query=text, offset=word.start())
    if isinstance(error, UnexpectedCharacters) and text[column] in "\"'":
        return QueryError("this quote is not closed", query=text, offset=column)
    names = [_NAMES.get(terminal, "") for terminal in sorted(expected) if terminal not in _QUIET]
    listed = " or ".join(dict.fromkeys(filter(None, names)))
    if not text.strip():
        return QueryError('the query is empty; write a pattern, such as [upos="ADJ"] "house"', query="")
    sign = re.match(r"\w+|.", text[column:].rstrip(), re.DOTALL)
    if sign and "RSQB" in expected and sign[0].isidentifier():
        return QueryError(f"unexpected {sign[0]!r}; is & or | missing?", query=text, offset=column)
    what = f"unexpected {sign[0]!r}" if sign else "the query ends too early"
    return QueryError(f"{what}; expected {listed}" if listed else what, query=text, offset=column)


def _without_quotes(leaf: str) -> str:
    """Return the text between quotes, in which a quote is doubled or escaped by a backslash."""
    quote = leaf[0]
    return leaf[1:-1].replace(quote * 2, quote).replace(f"\\{quote}", quote)


def _regular(text: str, flags: str = "") -> Value:
    """Return the value for a regular expression; without special characters, it is compared as a string."""
    ignoring = {"ignore_case": "c" in flags, "ignore_accents": "d" in flags}
    if "l" in flags:
        return Value((text,), **ignoring)
    # Comparing strings is much faster than matching.
    parts = text.split("|")
    if all(_PLAIN.fullmatch(part) for part in parts):
        return Value(tuple(re.sub(r"\\(.)", r"\1", part) for part in parts), **ignoring)
    return Value((text,), regex=True, **ignoring)


def _of_match(condition: syntax.Condition) -> syntax.Condition:
    """Return a condition behind a pattern, in which attributes without a label are metadata."""
    match condition:
        case syntax.CqlComparison(left, right):
            compared = _term_of_match(right) if isinstance(right, syntax.Term) else right
            return replace(condition, left=_term_of_match(left), right=compared)
        case Every(parts) | Either(parts):
            return replace(condition, parts=tuple(map(_of_match, parts)))
    return condition


def _term_of_match(term: syntax.Term) -> syntax.Term:
    return term if term.label else syntax.Term(f"match.{term.attribute}", "match", term.column)


@v_args(inline=True)
class _Reader(Transformer[Leaf, syntax.Pattern]):
    meet, within, containing, both = syntax.Meet, syntax.Within, syntax.Containing, syntax.Both
    token = any = syntax.Token
    negation = staticmethod(syntax.negate)

    def __init__(self, text: str, is_kind: Callable[[str], object], dialect: Dialect) -> None:
        super().__init__()
        self._text, self._is_kind, self._dialect = text, is_kind, dialect

    def _refuse(self, message: str, leaf: Leaf) -> QueryError:
        return QueryError(message, query=self._text, offset=leaf.start_pos or 0)

    def start(self, pattern: syntax.Pattern, region: syntax.RegionPattern | None = None) -> syntax.Pattern:
        return syntax.Expanded(pattern, region) if region else pattern

    def meet_not(
        self, part: syntax.Pattern, other: syntax.Pattern, near: tuple[int, int] | syntax.RegionPattern
    ) -> syntax.Pattern:
        return syntax.Meet(part, other, near, negated=True)

    def near(
        self, first: Leaf | syntax.RegionPattern, second: Leaf | None = None
    ) -> tuple[int, int] | syntax.RegionPattern:
        if second is None or isinstance(first, syntax.RegionPattern):
            assert isinstance(first, syntax.RegionPattern)
            return first
        for number in (first, second):
            if len(number) > len(str(_MOST_DISTANCE)) + 1 or abs(int(number)) > _MOST_DISTANCE:
                raise self._refuse(
                    f"{number} is more than {_MOST_DISTANCE} away; write s for the same sentence", number
                )
        if int(first) > int(second):
            raise self._refuse(f"no token is from {first} to {second} away", first)
        return int(first), int(second)

    def constraint(self, part: syntax.Pattern, condition: syntax.Condition) -> syntax.Pattern:
        return syntax.Constrained(part, _of_match(condition))

    def constrained_within(
        self, part: syntax.Pattern, condition: syntax.Condition, outer: syntax.Pattern
    ) -> syntax.Pattern:
        return syntax.Within(syntax.Constrained(part, _of_match(condition)), outer)

    def alternatives(self, *parts: syntax.Pattern) -> syntax.Pattern:
        return syntax.Alternatives(parts)

    def sequence(self, *parts: syntax.Pattern) -> syntax.Pattern:
        return syntax.Sequence(parts)

    def optional(self, part: syntax.Pattern) -> syntax.Pattern:
        return syntax.Repetition(part, 0, 1)

    def star(self, part: syntax.Pattern) -> syntax.Pattern:
        return syntax.Repetition(part, 0, None)

    def plus(self, part: syntax.Pattern) -> syntax.Pattern:
        return syntax.Repetition(part, 1, None)

    def exactly(self, part: syntax.Pattern, times: Leaf) -> syntax.Pattern:
        return self.between(part, times, times)

    def between(self, part: syntax.Pattern, least: Leaf, most: Leaf) -> syntax.Pattern:
        times = self._times(least), self._times(most)
        if times[0] > times[1] or not times[1]:
            raise self._refuse(f"nothing is repeated {least} to {most} times", least)
        return syntax.Repetition(part, *times)

    def at_least(self, part: syntax.Pattern, least: Leaf) -> syntax.Pattern:
        return syntax.Repetition(part, self._times(least), None)

    def at_most(self, part: syntax.Pattern, most: Leaf) -> syntax.Pattern:
        return self.between(part, Leaf.new_borrow_pos("NUMBER", "0", most), most)

    def _times(self, leaf: Leaf) -> int:
        # Python refuses to convert strings of thousands of digits.
        if len(leaf) > len(str(MOST_TIMES)) or int(leaf) > MOST_TIMES:
            raise self._refuse(f"at most {MOST_TIMES} times; write * or + for any number", leaf)
        return int(leaf)

    def not_token(self, part: syntax.Pattern) -> syntax.Pattern:
        if not isinstance(part, syntax.Token) or part.condition is None:
            raise QueryError("! stands before one token", query=self._text, offset=self._text.index("!"))
        return replace(part, condition=syntax.negate(part.condition))

    def gap(self) -> syntax.Pattern:
        return syntax.Repetition(syntax.Token(), 0, None)

    def word(self, value: tuple[Value, int]) -> syntax.Pattern:
        term = syntax.Term("word", column=value[1])
        return syntax.Token(syntax.CqlComparison(term, value[0], column=value[1]))

    def begin(self, name: Leaf, tests: tuple[syntax.CqlComparison, ...]) -> syntax.Pattern:
        return syntax.CqlEdge(self.region(name, tests), end=False)

    def end(self, region: syntax.RegionPattern) -> syntax.Pattern:
        return syntax.CqlEdge(region, end=True)

    def region(self, name: Leaf, tests: tuple[syntax.CqlComparison, ...] = ()) -> syntax.RegionPattern:
        kind = str(name)
        if kind in _BUILT_IN and (kind == _BUILT_IN[kind] or not self._is_kind(kind)):
            kind = _BUILT_IN[kind]
        return syntax.RegionPattern(kind, tests, name.start_pos or 0)

    region_name = region

    def tests(self, *tests: syntax.CqlComparison) -> tuple[syntax.CqlComparison, ...]:
        return tests

    def test(self, name: Leaf, sign: Leaf, value: tuple[Value, int]) -> syntax.CqlComparison:
        term = syntax.Term(str(name), column=name.start_pos or 0)
        return syntax.CqlComparison(term, value[0], sign == "!=", value[1])

    def label(self, name: Leaf, part: syntax.Pattern) -> syntax.Pattern:
        if name in ("match", "matchend"):
            raise self._refuse(f"{name} is the name of the match itself; take another label", name)
        if name == "meta":
            raise self._refuse("meta stands for the metadata; take another label", name)
        if name == SURPRISAL:
            raise self._refuse(f"{SURPRISAL} is an attribute of tokens; take another label", name)
        if not isinstance(part, syntax.Token):
            raise self._refuse("a label stands before one token", name)
        return syntax.Token(part.condition, (*part.labels, str(name)))

    def target(self, part: syntax.Pattern) -> syntax.Pattern:
        if not isinstance(part, syntax.Token):
            raise QueryError("@ stands before one token", query=self._text, offset=self._text.index("@"))
        return syntax.Token(part.condition, (*part.labels, "target"))

    def implication(self, first: syntax.Condition, then: syntax.Condition) -> syntax.Condition:
        return Either((syntax.negate(first), then))

    def either(self, *parts: syntax.Condition) -> syntax.Condition:
        return Either(parts)

    def every(self, *parts: syntax.Condition) -> syntax.Condition:
        return Every(parts)

    def bare(self, term: syntax.Term) -> syntax.Condition:
        if term.label:
            message = f'write what it is: {term.label}.{term.attribute} = "..."'
            raise QueryError(message, query=self._text, offset=term.column)
        return syntax.LabelTest(term.attribute, term.column)

    def equals(self, term: syntax.Term, sign: Leaf, value: tuple[Value, int]) -> syntax.Condition:
        return syntax.CqlComparison(term, value[0], sign == "!=", value[1])

    def same(self, term: syntax.Term, sign: Leaf, other: syntax.Term) -> syntax.Condition:
        return syntax.CqlComparison(term, other, sign == "!=", other.column)

    def bound(self, term: syntax.Term, sign: Leaf, limit: Leaf) -> syntax.Condition:
        text = _without_quotes(limit) if limit.type == "STRING" else str(limit)
        if not is_number(text):
            raise self._refuse(f"what is compared by {sign} is a number, such as 12.5", limit)
        if not is_exact(text):
            raise self._refuse(TOO_LONG, limit)
        return syntax.CqlComparison(term, Bound(str(sign), text), column=limit.start_pos or 0)

    def order(self, term: syntax.Term, sign: Leaf, other: syntax.Term) -> syntax.Condition:
        return syntax.CqlComparison(term, other, column=other.column, operator=str(sign))

    def function(self, function: Leaf, *rest: Leaf | syntax.Term) -> syntax.Condition:
        terms = tuple(part for part in rest if isinstance(part, syntax.Term))
        sign, number = (part for part in rest if isinstance(part, Leaf))
        name = _FUNCTIONS.get(str(function), str(function))
        if len(terms) != (1 if name == "f" else 2):
            what = "one label, as f(a.lemma)" if name == "f" else f"two labels, as {function}(a, b)"
            raise self._refuse(f"{function} is asked of {what}", function)
        if not number.lstrip("+-").isdecimal() or len(number) > _DIGITS:
            raise self._refuse(f"what {function} is compared with is a whole number", number)
        # A label alone stands for the word of its token.
        terms = tuple(
            term if term.label else syntax.Term("word", term.attribute, term.column) for term in terms
        )
        return syntax.Measured(name, terms, str(sign), int(number))

    def term(self, first: Leaf, *others: Leaf) -> syntax.Term:
        column, text = first.start_pos or 0, ".".join((first, *others))
        if of_model := split_name(text):
            label, name = of_model
            return syntax.Term(name, "" if label == "_" else label, column)
        if len(others) > 1:
            raise self._refuse(f"{text} has two labels; write one, such as a.lemma", first)
        if not others:
            return syntax.Term(text, column=column)
        if first == "meta":
            return syntax.Term(text, "match", column)
        return syntax.Term(str(others[0]), "" if first == "_" else str(first), column)

    def value(self, leaf: Leaf, flags: Leaf | None = None) -> tuple[Value, int]:
        if flags and not set(flags[1:]) <= set(_FLAGS):
            raise self._refuse(
                f"no flag {str(flags)!r}; there are %c (case), %d (accents), %l (literal)", flags
            )
        options, text = str(flags or ""), _without_quotes(leaf)
        if leaf.type == "LITERAL":
            options, text = f"{options}l", _without_quotes(leaf[1:])
        if self._dialect is Dialect.BLACKLAB:
            sensitive = _SENSITIVE.match(text)
            options, text = (options, text[sensitive.end() :]) if sensitive else (f"{options}cd", text)
        return _regular(text, options), leaf.start_pos or 0
