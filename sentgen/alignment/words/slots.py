"""Match the words of two sentences in the same order, and find the slots where they differ.

The matches are those of the best global alignment of the two sequences (Needleman & Wunsch 1970, with the
affine gaps of Gotoh 1982). A word that replaces another costs less than a deletion and an insertion: of *the
cat chased the dog* and *the dog chased the cat*, the frame matches (*the ... chased the ...*), not *the cat*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.pairs.alignment import Span
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.arrays import Floats, Longs, compiled

#: What a match right behind a match adds, as a share of its weight, so that runs hold together.
_RUN = 0.5
#: The costs of a replaced word, of opening a gap, and of each further word in it.
_REPLACED, _OPEN_GAP, _LONGER_GAP = 0.1, 0.35, 0.02
#: States of the alignment by its last step: match, replacement, gap in the document, gap in the abstract.
_MATCH, _REPLACE, _NO_DOCUMENT, _NO_ABSTRACT = range(4)


@compiled
def matches(abstract: Longs, document: Longs, weights: Floats) -> Longs:
    """Return for each abstract word the offset of the document word that matches it, or -1; ascending.

    Words of the document before the first match and after the last one cost nothing. O(m n).

    Args:
        abstract: word ids of a sentence of the abstract, (m,), equal for words that count as equal.
        document: word ids of a sentence of the document, (n,).
        weights: the weight of a match of each abstract word, (m,), above 0.
    """
    m, n = len(abstract), len(document)
    score = np.full((4, m + 1, n + 1), -np.inf)
    back = np.zeros((4, m + 1, n + 1), np.int8)
    score[_REPLACE, 0, 0] = 0.0
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                weight = weights[i - 1]
                same = abstract[i - 1] == document[j - 1]
                for state in range(4):
                    before = score[state, i - 1, j - 1]
                    matched_score = before + weight + (_RUN * weight if state == _MATCH else 0.0)
                    if same and matched_score > score[_MATCH, i, j]:
                        score[_MATCH, i, j], back[_MATCH, i, j] = matched_score, state
                    if before - _REPLACED > score[_REPLACE, i, j] and not same:
                        score[_REPLACE, i, j], back[_REPLACE, i, j] = before - _REPLACED, state
            for state in range(4):
                if i:
                    cost = _LONGER_GAP if state == _NO_DOCUMENT else _OPEN_GAP
                    if score[state, i - 1, j] - cost > score[_NO_DOCUMENT, i, j]:
                        score[_NO_DOCUMENT, i, j] = score[state, i - 1, j] - cost
                        back[_NO_DOCUMENT, i, j] = state
                if j:
                    is_free = i == 0 or i == m
                    cost = 0.0 if is_free else _LONGER_GAP if state == _NO_ABSTRACT else _OPEN_GAP
                    if score[state, i, j - 1] - cost > score[_NO_ABSTRACT, i, j]:
                        score[_NO_ABSTRACT, i, j] = score[state, i, j - 1] - cost
                        back[_NO_ABSTRACT, i, j] = state
    matched = np.full(m, -1, np.int64)
    i, j, state = m, n, int(score[:, m, n].argmax())
    while i > 0 or j > 0:
        previous = back[state, i, j]
        if state == _MATCH:
            matched[i - 1] = j - 1
        i, j = i - (state != _NO_ABSTRACT), j - (state != _NO_DOCUMENT)
        state = previous
    return matched


#: The worth of a function word or punctuation mark in a frame, where a content word has 1, and of a begin or
#: end that both sentences share.
_FUNCTION_WORTH, _BORDER_WORTH = 0.3, 0.5
#: Words on either side of a slot at most, and words of its frame that are looked at on each side.
LONGEST, _REACH = 4, 6


@dataclass(frozen=True, slots=True)
class Slot:
    """Words of the abstract and of the document that are between the same matched words, the frame.

    One side may be empty, where words were inserted or deleted.

    Attributes:
        abstract: span of the words in the abstract sentence.
        document: span of the words in the document sentence.
        before: worth of the frame before the slot: of matched words that follow each other in both texts.
        after: worth of the frame behind the slot.
    """

    abstract: Span
    document: Span
    before: float
    after: float

    @property
    def frame(self) -> float:
        """The worth of the whole frame."""
        return self.before + self.after


def match_words(abstract: Sequence[str], document: Sequence[str]) -> Longs:
    """Return for each word of a sentence its match in another one by stems, or -1."""
    numbers: dict[str, int] = {}

    def ids(words: Sequence[str]) -> Longs:
        return np.array([numbers.setdefault(stem(word), len(numbers)) for word in words], np.int64)

    return matches(ids(abstract), ids(document), np.array([worth(word) for word in abstract]))


def slots(abstract: Sequence[str], document: Sequence[str], places: Longs) -> Iterator[Slot]:
    """Yield the slots between two sentences, from left to right.

    ``places`` are the matches of the abstract words (``match_words``).
    """
    m, n = len(abstract), len(document)
    pairs = [(-1, -1), *((i, int(j)) for i, j in enumerate(places) if j >= 0), (m, n)]
    values = [worth(abstract[i]) if 0 <= i < m else _BORDER_WORTH for i, _ in pairs]
    for number in range(len(pairs) - 1):
        (i, j), (next_i, next_j) = pairs[number], pairs[number + 1]
        if max(next_i - i, next_j - j) > 1:
            before, after = (
                _frame_worth(pairs, values, number, -1),
                _frame_worth(pairs, values, number + 1, 1),
            )
            yield Slot((i + 1, next_i), (j + 1, next_j), before, after)


def _frame_worth(pairs: Sequence[tuple[int, int]], values: Sequence[float], at: int, step: int) -> float:
    """Return the worth of the matches from one on, to the left or right, as long as both texts go on alike.

    They do while at most one word lies between two matches, and as many on both sides: *in Berlin on Friday*
    goes on as *in Paris on Friday* does. ``pairs`` are the matches (abstract offset, document offset),
    ``step`` is 1 to the right, -1 to the left.
    """
    total = values[at]
    for _ in range(_REACH):
        if not 0 <= at + step < len(pairs):
            break
        (i, j), (next_i, next_j) = sorted((pairs[at], pairs[at + step]))
        if next_i - i != next_j - j or next_i - i > 2:
            break
        at += step
        total += values[at]
    return total


def worth(word: str) -> float:
    """Return the worth of a word: 1, less for function words and punctuation marks."""
    return _FUNCTION_WORTH if is_function_word(word) else 1.0
