"""How long, how deep and how large a query may be, in all three languages.

Every part of a query becomes a part of one statement: beyond these bounds, reading it meets the recursion
limit of Python, or planning it takes DuckDB minutes and all memory. On two busy cores, 200 conditions took a
minute to plan and 400 two, however small the store.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from sentgen.errors import QueryError

if TYPE_CHECKING:
    from lark import Token, Tree

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


def check_text(text: str) -> None:
    """Refuse a query that is too long to be read, or no text.

    Raises:
        QueryError: it is.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError(f"longer than {MOST_CHARACTERS:,} characters; shorten it", query="")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError(
            "this character is no text; write it as UTF-8", query=text, place=error.start
        ) from None


def check_tree(text: str, tree: Tree[Token], conditions: Collection[str]) -> None:
    """Refuse a query that is too deep or has too many conditions, before any recursion meets it.

    Args:
        text: the query.
        tree: what its grammar found.
        conditions: the rules of the grammar that are conditions; how deep these are does not count.

    Raises:
        QueryError: it is.
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
        waiting += [(one, depth + 1, inside) for one in node.children if isinstance(one, Node)]
    if count > MOST_CONDITIONS:
        raise QueryError(
            f"more than {MOST_CONDITIONS} conditions; write values as alternatives, or ask in parts",
            query=text,
        )
