"""Marks of regions, from an item of a source to the sentences that come of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from sentgen.corpus.sentence import Mark, RawText, Sentence
from sentgen.errors import Rejection

#: Characters after the last token among which the next one is looked for.
_NEAR = 50


def give_marks(
    item: Sentence | RawText, results: Sequence[Sentence | Rejection], carried: Sequence[Mark]
) -> list[Mark]:
    """Give the marks of an item to its sentences, after those that were carried on from items before.

    Returns:
        Marks that no sentence is there to have: they belong before the next one.
    """
    waiting, offset = list(carried), 0
    marks, at = item.marks, 0
    for number, result in enumerate(results):
        if not isinstance(result, Sentence):
            continue
        own, waiting = waiting, []
        if isinstance(item, Sentence):
            own += marks[at:]
            at = len(marks)
        else:
            offset = max(offset, item.text.find(result.text, offset))
            end = offset + len(result.text)
            last = number == len(results) - 1
            begin = at
            # What begins where the sentence ends belongs to the next one.
            while at < len(marks) and (last or (marks[at].place, marks[at].begins) < (end, True)):
                at += 1
            own += _on_tokens(marks[begin:at], result, offset)
            offset = end
        result.marks = tuple(own)
    return waiting + [mark._replace(place=0) for mark in marks[at:]]


def _on_tokens(marks: Sequence[Mark], sentence: Sentence, offset: int) -> Iterator[Mark]:
    """Yield marks behind tokens: a token that a region has a part of is in it."""
    size = len(sentence.text)
    # Most regions begin and end with a sentence, so that no token has to be looked for.
    within = any(0 < mark.place - offset < size for mark in marks)
    spans = list(_spans(sentence.text, sentence.forms)) if within else []
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    for mark in marks:
        place = mark.place - offset
        if not 0 < place < size:
            yield mark._replace(place=len(sentence.forms) if place >= size else 0)
            continue
        # Tokens stand in their order: those that end before a region, or begin before its end.
        before = bisect_right(ends, place) if mark.begins else bisect_left(starts, place)
        yield mark._replace(place=before)


def _spans(text: str, forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each token is in a text; one that is not as in the text is at the end of the one before."""
    at = 0
    for form in forms:
        found = text.find(form, at, at + len(form) + _NEAR)
        start = at if found < 0 else found
        at = start if found < 0 else found + len(form)
        yield start, at
