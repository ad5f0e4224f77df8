"""Parse conditions on metadata: their grammar, for Lark (LALR).

Most look-ups have no condition and take less time than the import of Lark does: import this module late.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from sentgen.errors import QueryError
from sentgen.lookups.base.languages import (
    MOST_NESTED,
    MOST_WORDS,
    Either,
    Every,
    Exists,
    Expression,
    Literal,
    MetadataComparison,
    Negation,
    check_text,
    place_of,
    straight_quotes,
)

_GRAMMAR = r"""
?either: every (OR every)*
?every: part (AND part)*
?part: NOT part -> negation
    | "(" either ")"
    | EXISTS key -> exists
    | key (EQ | NE | LT | LE | GT | GE | TILDE) value -> comparison
    | key NOT? LIKE value -> comparison
    | key NOT? IN "(" value ("," value)* ")" -> comparison
key: WORD | STRING
value: WORD | STRING

OR.2: /or(?![^\s()=!<>~,"'])/i
AND.2: /and(?![^\s()=!<>~,"'])/i
NOT.2: /not(?![^\s()=!<>~,"'])/i
EXISTS.2: /exists(?![^\s()=!<>~,"'])/i
LIKE.2: /like(?![^\s()=!<>~,"'])/i
IN.2: /in(?![^\s()=!<>~,"'])/i
EQ: "="
NE: "!="
LT: "<"
LE: "<="
GT: ">"
GE: ">="
TILDE: "~"
WORD: /[^\s()=!<>~,"']+/
STRING: /"(\\.|[^"\\])*"/s | /'(\\.|[^'\\])*'/s
%import common.WS
%ignore WS
"""
#: Names of the terminals in messages, in this order.
_NAMES = {
    "WORD": "a key",
    "EQ": "=",
    "NE": "!=",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
    "IN": "in",
    "LIKE": "like",
    "TILDE": "~",
    "AND": "and",
    "OR": "or",
    "NOT": "not",
    "EXISTS": "exists",
    "LPAR": "(",
    "COMMA": "a comma",
    "RPAR": ")",
    "$END": "the end",
}


def read(text: str) -> Expression:
    """Read a condition.

    Raises:
        QueryError: the text is no condition; the message says where.
    """
    if not text.strip():
        raise QueryError("the condition is empty; write one, such as: genre = news", query=text)
    check_text(text)
    text = straight_quotes(text)
    try:
        expression: object = _parser(building=True).parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    _check_size(text)
    assert isinstance(expression, MetadataComparison | Exists | Negation | Every | Either)
    return expression


@v_args(inline=True)
class _ExpressionBuilder(Transformer[Token, Expression]):
    def key(self, word: Token) -> Literal:
        name, start, quoted = _without_quotes(word)
        return Literal(_one_backslash(name) if quoted else name, start, quoted)

    def value(self, word: Token) -> Literal:
        return Literal(*_without_quotes(word))

    def either(self, *parts: Expression | Token) -> Expression:
        return Either(tuple(part for part in parts if not isinstance(part, Token)))

    def every(self, *parts: Expression | Token) -> Expression:
        return Every(tuple(part for part in parts if not isinstance(part, Token)))

    def negation(self, _: Token, part: Expression) -> Expression:
        return part.part if isinstance(part, Negation) else Negation(part)

    def exists(self, _: Token, key: Literal) -> Expression:
        return Exists(key)

    def comparison(self, key: Literal, *rest: Token | Literal) -> Expression:
        words = [str(part).lower() for part in rest if isinstance(part, Token)]
        values = tuple(part for part in rest if isinstance(part, Literal))
        operator = "=" if words[-1] in ("in", "!=") else words[-1]
        if operator not in ("~", "like"):
            values = tuple(
                replace(value, text=_one_backslash(value.text)) if value.quoted else value for value in values
            )
        comparison = MetadataComparison(key, operator, values)
        return Negation(comparison) if words[0] in ("not", "!=") else comparison


def _without_quotes(word: Token) -> tuple[str, int, bool]:
    """Return a word without its quotes, its offset, and whether it had quotes."""
    start, text = int(word.start_pos or 0), str(word)
    if word.type == "WORD":
        return text, start, False
    # Only quotes are unescaped: other backslashes belong to regular expressions.
    return text[1:-1].replace(f"\\{text[0]}", text[0]), start, True


def _one_backslash(text: str) -> str:
    return text.replace("\\\\", "\\")


@cache
def _parser(*, building: bool) -> Lark:
    # The parser builds the expression as it reads, so that no tree has to be walked, however deep it is.
    builder = _ExpressionBuilder() if building else None
    return Lark(_GRAMMAR, parser="lalr", start="either", transformer=builder, maybe_placeholders=False)


def _check_size(text: str) -> None:
    depth = words = 0
    for token in _parser(building=False).lex(text):
        depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
        words += token.type in ("WORD", "STRING")
        if depth > MOST_NESTED:
            message = f"parentheses are nested {MOST_NESTED} deep at most"
            raise QueryError(message, query=text, offset=token.start_pos)
        if words > MOST_WORDS:
            message = f"more than {MOST_WORDS} keys and values; ask in parts"
            raise QueryError(message, query=text, offset=token.start_pos)


def _syntax_error(text: str, error: UnexpectedInput) -> QueryError:
    start = place_of(text, error)
    if text[start : start + 1] in ("'", '"'):
        return QueryError("this quote is not closed", query=text, offset=start)
    # A parser that builds nothing is used, as it is fed every terminal that could follow.
    reading = _parser(building=False).parse_interactive(text[:start])
    reading.exhaust_lexer()
    names: set[str] = reading.accepts()  # type: ignore[no-untyped-call]
    if names == {"WORD", "STRING"}:
        expected = "a value: a word, a number or a text in quotes"
    else:
        *others, last = [shown for name, shown in _NAMES.items() if name in names]
        expected = f"{', '.join(others)} or {last}" if others else last
    if {"AND", "$END"} <= names and text[start] not in "()":
        expected += "; a value of several words stands in quotes"
    return QueryError(f"expected {expected}", query=text, offset=start)
