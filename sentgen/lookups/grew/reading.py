"""Read the text of a request, of a key, and of a condition."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sentgen.errors import InputError, QueryError
from sentgen.lookups.bounds import check_text, check_tree
from sentgen.lookups.grew.grammar import GRAMMAR, NAMES
from sentgen.lookups.grew.syntax import CountKey, Filter, GrewRequest

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

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
    found: GrewRequest = _read(text, "request")
    return found


def read_whether(text: str) -> Filter:
    """Read the clauses of a condition, such as ``S [upos=PRON]``.

    Raises:
        QueryError: there are none, with the place.
    """
    found: Filter = _read(text, "whether")
    if not found.clauses:
        raise InputError("a condition needs a clause, such as 'S [upos=PRON]'")
    return found


def read_key(text: str) -> CountKey:
    """Read what hits are counted by, such as ``V.lemma`` or ``S#V#O``.

    Raises:
        QueryError: it is none, with the place.
    """
    found: CountKey = _read(text, "key")
    return found


def _read(text: str, start: str) -> Any:
    from lark.exceptions import UnexpectedInput, VisitError

    from sentgen.lookups.grew.building import Building

    check_text(text)
    try:
        tree = _parser().parse(text, start=start)
        check_tree(text, tree, _CONDITIONS)
        return Building(text).transform(tree)
    except UnexpectedInput as error:
        raise _told(text, error) from None
    except VisitError as error:
        raise error.orig_exc from None


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, parser="lalr", start=["request", "whether", "key"], maybe_placeholders=False)


def _told(text: str, error: UnexpectedInput) -> QueryError:
    """Return what is wrong: where, and what could stand there."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    names: set[str] = set()
    place = len(text.rstrip())
    if isinstance(error, UnexpectedToken):
        names = set(error.accepts or error.expected)
        place = place if error.token.type == "$END" else error.pos_in_stream or 0
    elif isinstance(error, UnexpectedCharacters):
        names, place = set(error.allowed or ()), error.pos_in_stream or 0
    expected = sorted(_shown(name) for name in names - {"COMMENT", "WS"})
    few = len(expected) < 3
    told = (" or " if few else ", ").join(expected[:_MOST_EXPECTED])
    more = ", ..." if len(expected) > _MOST_EXPECTED else ""
    return QueryError(f"expected {'' if few else 'one of '}{told}{more}", query=text, place=place)


def _shown(terminal: str) -> str:
    if terminal in NAMES:
        return NAMES[terminal]
    pattern = next(one.pattern for one in _parser().terminals if one.name == terminal)
    return str(pattern.value)
