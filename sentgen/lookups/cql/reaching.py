"""Which matches of a query have to be looked for in documents, where they may reach over sentence ends."""

from __future__ import annotations

from dataclasses import replace

from sentgen.lookups.attributes import Value
from sentgen.lookups.cql import syntax
from sentgen.lookups.reach import DOCUMENT, SENTENCE, Reach
from sentgen.lookups.selection import Selection


def reaching(pattern: syntax.Pattern, selection: Selection) -> tuple[syntax.Pattern, Reach]:
    """Return what is to be matched over the ends of sentences, and how far its matches reach then."""
    if syntax.one_token(pattern) and _inside(pattern):
        return pattern, SENTENCE
    match pattern:
        case syntax.Within(inner, syntax.RegionPattern("s")) if _inside(inner):
            return pattern, SENTENCE
    # Any token is one of those sentences that are chosen: what is any token is not looked up.
    return (_looked_up(pattern) if selection.condition is not None else pattern), DOCUMENT


def _inside(pattern: syntax.Pattern) -> bool:
    """Return whether a pattern within a sentence asks for nothing that is only outside of it."""
    inner = (
        syntax.Token
        | syntax.Multiword
        | syntax.Sequence
        | syntax.Alternatives
        | syntax.Repetition
        | syntax.Constrained
    )
    return isinstance(pattern, inner) and all(map(_inside, syntax.children(pattern)))


def _looked_up(pattern: syntax.Pattern) -> syntax.Pattern:
    if isinstance(pattern, syntax.Token) and pattern.condition is None:
        return replace(pattern, condition=syntax.CqlComparison(syntax.Term("word"), Value(("",)), True))
    return syntax.rebuilt(pattern, _looked_up)
