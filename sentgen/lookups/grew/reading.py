"""Read the text of a request, of a key, and of a condition."""

from __future__ import annotations

from functools import cache, partial

from lark import Lark
from lark.exceptions import UnexpectedInput

from sentgen.errors import InputError, QueryError
from sentgen.lookups.grew.building import Building
from sentgen.lookups.grew.grammar import GRAMMAR, NAMES
from sentgen.lookups.grew.syntax import CountKey, Filter, GrewRequest
from sentgen.lookups.languages import built, expected_of, place_of

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
    return Lark(GRAMMAR, parser="lalr", start=["request", "whether", "key"], maybe_placeholders=False)


def _told(text: str, error: UnexpectedInput) -> QueryError:
    """Return what is wrong: where, and what could stand there."""
    expected = sorted(_shown(name) for name in expected_of(error) - {"COMMENT", "WS"})
    few = len(expected) < 3
    told = (" or " if few else ", ").join(expected[:_MOST_EXPECTED])
    more = ", ..." if len(expected) > _MOST_EXPECTED else ""
    message = f"expected {'' if few else 'one of '}{told}{more}"
    return QueryError(message, query=text, place=place_of(text, error))


def _shown(terminal: str) -> str:
    if terminal in NAMES:
        return NAMES[terminal]
    pattern = next(one.pattern for one in _parser().terminals if one.name == terminal)
    return str(pattern.value)
