"""What the three query languages share: and, or and not, limits of size, and errors with their position.

The syntax tree of conditions on metadata is here, too, apart from the grammar that reads it.

A whole query becomes one statement. A query beyond the limits of size would reach the recursion limit of
Python when it is read, or take DuckDB minutes and all memory to plan. On two busy cores, 200 conditions took
a minute to plan and 400 two, however small the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from sentgen.errors import QueryError
from sentgen.lookups.base.attributes import is_number

if TYPE_CHECKING:
    from lark import Token, Transformer, Tree
    from lark.exceptions import UnexpectedInput

#: A condition of a query language, or another result of reading a query.
C = TypeVar("C")
#: Characters of a query, a key or a condition; a list of words may be long.
MOST_CHARACTERS = 100_000
#: Depth to which the parts of a query may be nested.
MOST_NESTED = 50
#: Conditions of a query in CQL or of a Grew request: comparisons, features, edges and the like.
MOST_CONDITIONS = 100
#: Keys and values of a condition on metadata; a list of values is compared at once.
MOST_WORDS = 500
#: Tokens of a query in CQL, where a token that is repeated n times counts n times.
MOST_TOKENS = 400
#: The largest number in a repetition.
MOST_TIMES = 100


@dataclass(frozen=True, slots=True)
class Every(Generic[C]):
    """The condition that all parts hold."""

    parts: tuple[C, ...]


@dataclass(frozen=True, slots=True)
class Either(Generic[C]):
    """The condition that at least one part holds."""

    parts: tuple[C, ...]


@dataclass(frozen=True, slots=True)
class Negation(Generic[C]):
    """The condition that a part does not hold."""

    part: C


#: Decimal digits that a double holds; a longer value is a name that consists of digits.
_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Literal:
    """A key or a value in a condition on metadata.

    Args:
        text: the key, which without quotes may be a property of every sentence, or the value.
        start: offset in the expression, in characters from 0.
        quoted: whether it is in quotes.
    """

    text: str
    start: int = 0
    quoted: bool = False

    @property
    def number(self) -> int | float | None:
        """The value as a number; None for a string.

        >>> Literal("2010").number, Literal("2.50").number, Literal("2010", quoted=True).number
        (2010, 2.5, None)
        """
        if self.quoted or not is_number(self.text) or sum(map(str.isdigit, self.text)) > _DIGITS:
            return None
        number = float(self.text)
        return int(number) if number.is_integer() else number


@dataclass(frozen=True, slots=True)
class MetadataComparison:
    """The condition that a sentence has a value under a key that compares with one of some literals.

    The operators are ``=``, ``<``, ``<=``, ``>``, ``>=``, ``like`` and ``~``.
    """

    key: Literal
    operator: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """The condition that a sentence has a key."""

    key: Literal


Expression: TypeAlias = (
    "MetadataComparison | Exists | Negation[Expression] | Every[Expression] | Either[Expression]"
)


def check_text(text: str) -> None:
    """Refuse a query that is too long to be read, or no text.

    Raises:
        QueryError: the query is too long, or no text.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError(f"longer than {MOST_CHARACTERS:,} characters; shorten it", query="")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError(
            "this character is no text; write it as UTF-8", query=text, offset=error.start
        ) from None


#: The quotation marks that text processors put in place of straight ones.
_CURLY = "\u201c\u201d\u201e\u201f"
_STRINGS = rf"""\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[{_CURLY}](?:\\.|[^\"\\{_CURLY}])*[{_CURLY}]"""


def straight_quotes(text: str, others: str = "") -> str:
    """Return a query with straight quotation marks in place of those that text processors make of them.

    Within a string in straight quotation marks they stay, so that a query can look for them, and where the
    regular expression ``others`` matches.

    >>> straight_quotes("[lemma=\u201cdog\u201d]")
    '[lemma="dog"]'
    """
    if not any(mark in text for mark in _CURLY):
        return text

    def straight(string: re.Match[str]) -> str:
        return f'"{string[0][1:-1]}"' if string[0][0] in _CURLY else string[0]

    return re.sub(f"{_STRINGS}|{others}" if others else _STRINGS, straight, text, flags=re.DOTALL)


def _check_tree(text: str, tree: Tree[Token], conditions: Collection[str]) -> None:
    """Refuse a query that is nested too deeply, which recursion would fail on, or has too many conditions.

    The depth inside of ``conditions``, rules of the grammar, does not count.
    """
    from lark import Tree as Node

    count, waiting = 0, [(tree, 0, False)]
    while waiting:
        node, depth, inside = waiting.pop()
        here = node.data in conditions
        count += here
        inside = inside or here
        if depth > MOST_NESTED and not inside:
            raise QueryError(f"parts are nested more than {MOST_NESTED} deep; make it flatter", query=text)
        waiting += [(child, depth + 1, inside) for child in node.children if isinstance(child, Node)]
    if count > MOST_CONDITIONS:
        raise QueryError(
            f"more than {MOST_CONDITIONS} conditions; write values as alternatives, or ask in parts",
            query=text,
        )


def built(
    text: str, parse: Callable[[], Tree[Token]], conditions: Collection[str], build: Transformer[Token, C]
) -> C:
    """Parse a query, check its size, and return the result of a transformer on its tree.

    The depth inside of ``conditions``, rules of the grammar, does not count.

    Raises:
        UnexpectedInput: the grammar does not accept the query.
        QueryError: the query is too large, or the transformer refuses it.
    """
    from lark.exceptions import VisitError

    check_text(text)
    tree = parse()
    _check_tree(text, tree, conditions)
    try:
        return build.transform(tree)
    except VisitError as error:
        raise error.orig_exc from None


def place_of(text: str, error: UnexpectedInput) -> int:
    """Return the offset of a syntax error in a query: behind the last word where the query ends too early."""
    ended = getattr(getattr(error, "token", None), "type", "") == "$END"
    return len(text.rstrip()) if ended or error.pos_in_stream is None else error.pos_in_stream


def expected_of(error: UnexpectedInput) -> set[str]:
    """Return the terminals that the grammar would accept at a syntax error."""
    # An unexpected token has `accepts`, an unexpected character `allowed`; no common class has both.
    return set(getattr(error, "accepts", None) or getattr(error, "allowed", None) or ())
