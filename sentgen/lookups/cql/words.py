"""Word patterns as patterns of CQL: ``un*`` is ``[word="un.*"]``, and ``stock/NN`` a word and a tag."""

from __future__ import annotations

import re

from sentgen.lookups.attributes import Value
from sentgen.lookups.cql import syntax
from sentgen.lookups.languages import Every
from sentgen.lookups.patterns import ANY, TokenPattern, glob

_PIECE = re.compile(r"\\?.", re.DOTALL)
_SIGNS = {"%": ".*", "_": "."}


def token_of(pattern: TokenPattern) -> syntax.Token:
    """Return the pattern of a token as one of CQL.

    >>> token_of(TokenPattern("word", "*")).condition is None
    True
    """
    found = list[syntax.Condition]()
    if pattern.pattern != ANY:
        value = value_of(pattern.pattern, ignore_case=pattern.ignore_case)
        found.append(syntax.CqlComparison(syntax.Term(pattern.attribute), value))
    elif pattern.attribute != "word":
        # What has no value is the empty string.
        found.append(syntax.CqlComparison(syntax.Term(pattern.attribute), Value(("",)), negated=True))
    if pattern.tag:
        found.append(syntax.CqlComparison(syntax.Term("pos"), value_of(pattern.tag)))
    if not found:
        return syntax.Token()
    return syntax.Token(found[0] if len(found) == 1 else Every(tuple(found)))


def value_of(pattern: str, *, ignore_case: bool = False) -> Value:
    """Return what a word pattern asks of a string.

    >>> value_of("un*").texts, value_of("50%").texts, value_of("a.*").texts
    (('un.*',), ('50%',), ('a\\\\..*',))
    """
    asked = glob(pattern)
    if not asked.wild:
        return Value((asked.text,), ignore_case=ignore_case)
    pieces = _PIECE.findall(asked.text)
    text = "".join(_SIGNS.get(piece) or re.escape(piece[-1]) for piece in pieces)
    return Value((text,), regex=True, ignore_case=ignore_case)
