"""CQL by definition: every span of a list of tokens is tried, with Python's regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sentgen.lookups.attributes import Value
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.search import Strategy
from sentgen.lookups.languages import Either, Every, Negation

#: Attributes of a token; one that is missing is the empty string.
Word = Mapping[str, str]
#: Begin, end (behind the last token) and the places of labels.
Span = tuple[int, int, frozenset[tuple[str, int]]]


class Sentence:
    """One sentence, and where it stands in its document."""

    def __init__(self, words: Sequence[Word], *, first: bool = True, last: bool = True) -> None:
        self.words, self.first, self.last = words, first, last

    def hits(self, pattern: syntax.Pattern, strategy: Strategy = Strategy.ALL) -> list[tuple[int, int]]:
        """Return the hits, first and last position from 1, in order."""
        found = {(begin + 1, end) for begin, end, _ in self.spans(pattern) if end > begin}
        return sorted(_chosen(found, strategy))

    def spans(self, pattern: syntax.Pattern) -> set[Span]:
        """Return what matches a pattern, nothing included."""
        length, none = len(self.words), frozenset[tuple[str, int]]()
        match pattern:
            case syntax.Token(condition, labels):
                return {
                    (i, i + 1, frozenset((label, i) for label in labels))
                    for i in range(length)
                    if condition is None or self._holds(condition, {"": i})
                }
            case syntax.CqlEdge(region, end):
                there = region == "s" or (self.last if end else self.first)
                place = length if end else 0
                return {(place, place, none)} if there else set()
            case syntax.Region(region):
                whole = region == "s" or (self.first and self.last)
                return {(0, length, none)} if whole and length else set()
            case syntax.Sequence(parts):
                return self._one_after_the_other([self.spans(part) for part in parts])
            case syntax.Alternatives(parts):
                return {one for part in parts for one in self.spans(part)}
            case syntax.Repetition(part, least, most):
                inner = self.spans(part)
                times = range(least, (max(length, least) if most is None else most) + 1)
                return {one for n in times for one in self._one_after_the_other([inner] * n)}
            case syntax.Constrained(part, condition):
                return {one for one in self._full(part) if self._meets(condition, one)}
            case syntax.Both(one, other):
                pairs = self._pairs(one, other)
                return {_merged(m, o) for m, o in pairs if m[:2] == o[:2]}
            case syntax.Within(inner_part, syntax.Region()):
                # Every sentence is one, and lies within a document.
                return self._full(inner_part)
            case syntax.Within(inner_part, outer):
                pairs = self._pairs(inner_part, outer)
                return {_merged(m, o) for m, o in pairs if o[0] <= m[0] and m[1] <= o[1]}
            case syntax.Containing(outer, inner_part):
                pairs = self._pairs(outer, inner_part)
                return {_merged(m, o) for m, o in pairs if m[0] <= o[0] and o[1] <= m[1]}
        raise AssertionError(pattern)

    def _full(self, pattern: syntax.Pattern) -> set[Span]:
        return {one for one in self.spans(pattern) if one[1] > one[0]}

    def _pairs(self, one: syntax.Pattern, other: syntax.Pattern) -> Iterator[tuple[Span, Span]]:
        right = self._full(other)
        return ((m, o) for m in self._full(one) for o in right)

    def _one_after_the_other(self, parts: Sequence[set[Span]]) -> set[Span]:
        found = {(i, i, frozenset[tuple[str, int]]()) for i in range(len(self.words) + 1)}
        for part in parts:
            found = {
                (begin, end, _labels(first, then))
                for begin, middle, first in found
                for start, end, then in part
                if start == middle
            }
        return found

    def _meets(self, condition: syntax.Condition, span: Span) -> bool:
        return self._holds(condition, {**dict(span[2]), "match": span[0], "matchend": span[1] - 1})

    def _holds(self, condition: syntax.Condition, places: Mapping[str, int]) -> bool:
        match condition:
            case Every(parts):
                return all(self._holds(part, places) for part in parts)
            case Either(parts):
                return any(self._holds(part, places) for part in parts)
            case Negation(syntax.CqlComparison(left, right, negated)):
                return self._holds(syntax.CqlComparison(left, right, not negated), places)
            case Negation(Negation(part)):
                return self._holds(part, places)
            case Negation(Every(parts)):
                return self._holds(Either(tuple(map(Negation, parts))), places)
            case Negation(Either(parts)):
                return self._holds(Every(tuple(map(Negation, parts))), places)
            case Negation(part):
                return not self._holds(part, places)
            case syntax.LabelTest(label):
                return label in places
            case syntax.CqlComparison(left, right, negated):
                terms = [left, *([right] if isinstance(right, syntax.Term) else [])]
                if any(term.label not in places for term in terms):
                    return False
                return self._compared(left, right, places) != negated
        raise AssertionError(condition)

    def _compared(self, left: syntax.Term, right: Value | syntax.Term, places: Mapping[str, int]) -> bool:
        text = self._string(left, places)
        if isinstance(right, syntax.Term):
            return text == self._string(right, places)
        return any(
            re.fullmatch(one if right.regex else re.escape(one), text, re.I if right.ignore_case else 0)
            for one in right.texts
        )

    def _string(self, term: syntax.Term, places: Mapping[str, int]) -> str:
        return self.words[places[term.label]].get(term.attribute, "")


def _labels(
    first: frozenset[tuple[str, int]], then: frozenset[tuple[str, int]]
) -> frozenset[tuple[str, int]]:
    """Return the labels of both; of a label that comes again, the later place."""
    return frozenset({**dict(first), **dict(then)}.items())


def _merged(one: Span, other: Span) -> Span:
    """Return a span with the labels that another one adds."""
    return (*one[:2], _labels(other[2], one[2]))


def _chosen(found: set[tuple[int, int]], strategy: Strategy) -> set[tuple[int, int]]:
    """Return what a strategy keeps, as the manual of CQP and its source define it."""
    if strategy is Strategy.LONGEST:
        return {m for m in found if not any(o != m and o[0] <= m[0] and m[1] <= o[1] for o in found)}
    if strategy is Strategy.SHORTEST:
        return {m for m in found if not any(o != m and m[0] <= o[0] and o[1] <= m[1] for o in found)}
    if strategy is Strategy.STANDARD:
        early = {(begin, min(end for start, end in found if start == begin)) for begin, _ in found}
        return {(min(start for start, last in early if last == end), end) for _, end in early}
    return found
