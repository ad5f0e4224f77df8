"""CQL by definition: every span of a list of tokens is tried, with Python's regular expressions."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from sentgen.lookups.base.attributes import Value
from sentgen.lookups.base.languages import Either, Every
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import Strategy

RELATIONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
#: Attributes of a token; one that is missing is the empty string.
Word = Mapping[str, str]
#: Begin, end (behind the last token) and the places of labels.
Span = tuple[int, int, frozenset[tuple[str, int]]]


class Part(NamedTuple):
    """What of a region is in a sentence: where it begins and ends, and whether the region does so there."""

    begin: int
    end: int
    kind: str
    attributes: Mapping[str, str]
    begins: bool = True
    ends: bool = True


class Multiword(NamedTuple):
    """Tokens that are one word of the text: where it begins and ends, and how it is written."""

    begin: int
    end: int
    form: str


class Sentence:
    """One sentence, where it stands in its document, and its regions, by where they begin.

    ``unspaced`` are the tokens behind which no space follows.
    """

    def __init__(
        self,
        words: Sequence[Word],
        *,
        first: bool = True,
        last: bool = True,
        parts: Sequence[Part] = (),
        multiwords: Sequence[Multiword] = (),
        unspaced: Collection[int] = (),
    ) -> None:
        self.words, self.first, self.last, self.parts = words, first, last, parts
        self.multiwords, self.unspaced = multiwords, unspaced

    def hits(self, pattern: syntax.Pattern, strategy: Strategy = Strategy.ALL) -> list[tuple[int, int]]:
        """Return the hits, first and last position from 1, in order."""
        found = {(begin + 1, end) for begin, end, _ in self.spans(pattern) if end > begin}
        return sorted(_chosen(found, strategy))

    def spans(self, pattern: syntax.Pattern) -> set[Span]:
        """Return what matches a pattern, nothing included."""
        length, none = len(self.words), frozenset[tuple[str, int]]()
        match pattern:
            case syntax.Token(
                syntax.CqlComparison(syntax.Term("word"), Value((str(),), False) as word, False), labels
            ):
                spans = self._written(word)
                return {(i, end, frozenset((label, i) for label in labels)) for i, end in spans}
            case syntax.Token(condition, labels):
                return {
                    (i, i + 1, frozenset((label, i) for label in labels))
                    for i in range(length)
                    if condition is None or self._holds(condition, {"": i})
                }
            case syntax.CqlEdge(region, end):
                return {
                    (place, place, none)
                    for one in self._regions(region)
                    if (one.ends if end else one.begins)
                    for place in [one.end if end else one.begin]
                }
            case syntax.RegionPattern(kind):
                return {
                    (one.begin, one.end, none)
                    for one in self._regions(pattern)
                    if kind != "doc" or (one.begins and one.ends)
                }
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
            case syntax.Meet(part, other, near, negated):
                others = {begin for begin, _, _ in self.spans(other)}
                return {one for one in self.spans(part) if bool(others & self._near(one[0], near)) != negated}
            case syntax.Within(inner_part, syntax.RegionPattern() as region):
                # Every sentence is one, and lies within a document.
                return {
                    one
                    for one in self._full(inner_part)
                    if any(part.begin <= one[0] and one[1] <= part.end for part in self._regions(region))
                }
            case syntax.Expanded(part, region):
                return {self._expanded(one, region) for one in self._full(part)}
            case syntax.Within(inner_part, outer):
                pairs = self._pairs(inner_part, outer)
                return {_merged(m, o) for m, o in pairs if o[0] <= m[0] and m[1] <= o[1]}
            case syntax.Containing(outer, inner_part):
                pairs = self._pairs(outer, inner_part)
                return {_merged(m, o) for m, o in pairs if m[0] <= o[0] and o[1] <= m[1]}
        raise AssertionError(pattern)

    def _written(self, word: Value) -> set[tuple[int, int]]:
        """Return what is written so: tokens, multiword tokens, and several of these without spaces."""
        tokens = [(i, i + 1, told.get("word", "")) for i, told in enumerate(self.words)]
        units = [*tokens, *self.multiwords]
        found, waiting = set[tuple[int, int]](), list(units)
        while waiting:
            begin, end, form = waiting.pop()
            if _is(word, form):
                found.add((begin, end))
            goes_on = any(one.begin < end < one.end for one in self.multiwords)
            if end - 1 in self.unspaced and not goes_on and len(form) < len(word.texts[0]):
                waiting += [(begin, after, form + more) for start, after, more in units if start == end]
        return found

    def _near(self, place: int, near: tuple[int, int] | syntax.RegionPattern) -> set[int]:
        """Return the places that are near to one."""
        if not isinstance(near, syntax.RegionPattern):
            return set(range(place + near[0], place + near[1] + 1))
        there = [one for one in self._regions(near) if one.begin <= place < one.end]
        return {i for one in there for i in range(one.begin, one.end)}

    def _there(self, kind: str) -> Sequence[Part]:
        """Return the parts of regions of a kind in this sentence."""
        length = len(self.words)
        if kind == "s":
            return [Part(0, length, "s", {})] if length else []
        if kind == "doc":
            return [Part(0, length, "doc", {}, self.first, self.last)] if length else []
        return [one for one in self.parts if one.kind == kind]

    def _regions(self, region: syntax.RegionPattern) -> list[Part]:
        """Return the parts of regions that are so in this sentence."""
        return [
            one
            for one in self._there(region.kind)
            if all(
                _is(test.right, one.attributes.get(test.left.attribute, "")) != test.negated
                for test in region.tests
            )
        ]

    def _expanded(self, span: Span, region: syntax.RegionPattern) -> Span:
        if region.built_in:
            return (0, len(self.words), span[2])
        around = [one for one in self._regions(region) if one.begin <= span[0] and span[1] <= one.end]
        return (around[-1].begin, around[-1].end, span[2]) if around else span

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
            case syntax.Measured(function, terms, sign, number):
                if not all(one.label in places for one in terms):
                    return False
                at = [places[one.label] for one in terms]
                value = at[-1] - at[0]
                if function == "distabs":
                    value = abs(value)
                return bool(RELATIONS[sign](value, number))
            case syntax.LabelTest(label, negated=negated):
                return (label in places) != negated
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
        return _is(right, text)

    def _string(self, term: syntax.Term, places: Mapping[str, int]) -> str:
        place = places[term.label]
        kind, _, attribute = term.attribute.partition("_")
        around = [one for one in self.parts if one.kind == kind and one.begin <= place < one.end]
        if around:
            return around[-1].attributes.get(attribute, "")
        return self.words[place].get(term.attribute, "")


class Document(Sentence):
    """All tokens of a document: what reaches over the ends of its sentences."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        ends = list(accumulate((len(one.words) for one in sentences), initial=0))
        parts = list[Part]()
        still: dict[tuple[str, int], int] = {}
        for begin, sentence in zip(ends, sentences, strict=False):
            for one in sentence.parts:
                key = one.kind, id(one.attributes)
                if one.begins:
                    still[key] = len(parts)
                    parts.append(one._replace(begin=begin + one.begin))
                parts[still[key]] = parts[still[key]]._replace(end=begin + one.end, ends=True)
        multiwords = [
            Multiword(begin + one.begin, begin + one.end, one.form)
            for begin, sentence in zip(ends, sentences, strict=False)
            for one in sentence.multiwords
        ]
        # No word goes over the end of a sentence.
        unspaced = [
            begin + one
            for begin, sentence in zip(ends, sentences, strict=False)
            for one in sentence.unspaced
            if one + 1 < len(sentence.words)
        ]
        words = [word for one in sentences for word in one.words]
        super().__init__(words, parts=parts, multiwords=multiwords, unspaced=unspaced)
        self.ends = ends[1:]

    def _there(self, kind: str) -> Sequence[Part]:
        if kind == "s":
            return [Part(begin, end, "s", {}) for begin, end in zip([0, *self.ends], self.ends, strict=False)]
        return super()._there(kind)

    def _expanded(self, span: Span, region: syntax.RegionPattern) -> Span:
        """Let each end move by itself where no region is around both."""
        first, last = (
            [one for one in self._regions(region) if one.begin <= place < one.end]
            for place in (span[0], span[1] - 1)
        )
        around = [one for one in first if span[1] <= one.end]
        begin = (around or first)[-1].begin if first else span[0]
        end = (around or last)[-1].end if around or last else span[1]
        return (begin, end, span[2])


def _is(value: Value | syntax.Term, text: str) -> bool:
    assert isinstance(value, Value)
    return any(
        re.fullmatch(one if value.regex else re.escape(one), text, re.I if value.ignore_case else 0)
        for one in value.texts
    )


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
    if strategy in (Strategy.STANDARD, Strategy.TRADITIONAL):
        early = {(begin, min(end for start, end in found if start == begin)) for begin, _ in found}
        if strategy is Strategy.TRADITIONAL:
            return early
        return {(min(start for start, last in early if last == end), end) for _, end in early}
    return found
