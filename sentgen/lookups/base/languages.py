"""What the three languages of queries have in common: and, or and not, bounds, and errors with their place.

What conditions on metadata say beside these stands here, too, apart from the grammar that reads it.

Every part of a query becomes a part of one statement: beyond these bounds, reading it meets the recursion
limit of Python, or planning it takes DuckDB minutes and all memory. On two busy cores, 200 conditions took a
minute to plan and 400 two, however small the store.
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

#: A condition of one language, or what one reads.
C = TypeVar("C")
#: Characters of a query, a key or a condition; a list of words may be long.
MOST_CHARACTERS = 100_000
#: Parts of a query within each other.
MOST_NESTED = 50
#: Conditions of a query in CQL or of a Grew request: comparisons, features, edges and the like.
MOST_CONDITIONS = 100
#: Keys and values of a condition on metadata, of which many are compared at once.
MOST_WORDS = 500
#: Tokens of a query in CQL, those that are repeated by a number so many times.
MOST_TOKENS = 400
#: Times that a part may be repeated by a number.
MOST_TIMES = 100


@dataclass(frozen=True, slots=True)
class Every(Generic[C]):
    """All parts hold."""

    parts: tuple[C, ...]


@dataclass(frozen=True, slots=True)
class Either(Generic[C]):
    """Some part holds, or several."""

    parts: tuple[C, ...]


@dataclass(frozen=True, slots=True)
class Negation(Generic[C]):
    """The part does not hold."""

    part: C


#: As many digits as a double tells apart; longer ones are names made of digits.
_DIGITS = 15


@dataclass(frozen=True, slots=True)
class ConditionKey:
    """What a condition on metadata asks for: a key, or, without quotes, what every sentence has.

    Args:
        name: the key.
        start: the character of the expression where it stands, from 0.
        quoted: whether it stands in quotes.
    """

    name: str
    start: int = 0
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A value in a condition on metadata; see `ConditionKey`."""

    text: str
    start: int = 0
    quoted: bool = False

    @property
    def number(self) -> int | float | None:
        """The number that it is; none for a string.

        >>> Literal("2010").number, Literal("2.50").number, Literal("2010", quoted=True).number
        (2010, 2.5, None)
        """
        if self.quoted or not is_number(self.text) or sum(map(str.isdigit, self.text)) > _DIGITS:
            return None
        number = float(self.text)
        return int(number) if number.is_integer() else number


@dataclass(frozen=True, slots=True)
class MetadataComparison:
    """A sentence has a value under a key that stands in a relation to one of some literals.

    The operators are ``=``, ``<``, ``<=``, ``>``, ``>=``, ``like`` and ``~``.
    """

    key: ConditionKey
    operator: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """A sentence has a key."""

    key: ConditionKey


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


#: A string as it stands in a query, with the quotation marks that text processors make of straight ones.
_CURLY = "\u201c\u201d\u201e\u201f"
_STRINGS = rf"""\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[{_CURLY}](?:\\.|[^\"\\{_CURLY}])*[{_CURLY}]"""


def straight_quotes(text: str, others: str = "") -> str:
    """Return a query with straight quotation marks in place of those that text processors make of them.

    Within a string in straight ones they stay: whoever looks for them quotes them.

    Args:
        text: the query.
        others: a regular expression of what else is kept as it is.

    >>> straight_quotes("[lemma=\u201cdog\u201d]")
    '[lemma="dog"]'
    """
    if not any(mark in text for mark in _CURLY):
        return text

    def straight(string: re.Match[str]) -> str:
        return f'"{string[0][1:-1]}"' if string[0][0] in _CURLY else string[0]

    return re.sub(f"{_STRINGS}|{others}" if others else _STRINGS, straight, text, flags=re.DOTALL)


def _check_tree(text: str, tree: Tree[Token], conditions: Collection[str]) -> None:
    """Refuse a query that is too deep or has too many conditions, before any recursion meets it.

    Args:
        text: the query.
        tree: what its grammar found.
        conditions: the rules of the grammar that are conditions; how deep these are does not count.

    Raises:
        QueryError: the query is too deep, or has too many conditions.
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
    """Return what a transformer makes of a query that a grammar takes, and that is not too large.

    Args:
        text: the query.
        parse: reads it.
        conditions: see `_check_tree`.
        build: makes something of the tree.

    Raises:
        UnexpectedInput: the grammar does not take it.
        QueryError: the query is too large; and what the transformer raises.
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
    """Return where a grammar does not take a query: behind its last word where it ends too early."""
    ended = getattr(getattr(error, "token", None), "type", "") == "$END"
    return len(text.rstrip()) if ended or error.pos_in_stream is None else error.pos_in_stream


def expected_of(error: UnexpectedInput) -> set[str]:
    """Return the terminals that a grammar would take there."""
    # Of a token these, of characters those; no class that both have says so.
    return set(getattr(error, "accepts", None) or getattr(error, "allowed", None) or ())
