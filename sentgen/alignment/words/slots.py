"""Two sentences word by word: which words of one are those of the other, in the same order.

The one with the best score of all alignments of two sequences (Needleman & Wunsch 1970, with the gaps of
Gotoh 1982). A word that stands in place of another one costs less than one left out and one put in: of *the
cat chased the dog* and *the dog chased the cat*, it is the frame that matches, not *the cat*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.pairs.alignment import Span
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.arrays import Floats, Longs, compiled

#: What a match adds that goes on where one ends, as a share of its weight: runs hold together.
_RUN = 0.5
#: What a word in place of another one costs; words without a counterpart, once and for each.
_OTHER, _GAP, _LONGER = 0.1, 0.35, 0.02


@compiled
def matches(abstract: Longs, document: Longs, weights: Floats) -> Longs:
    """Return for each abstract word the document word that it is matched with, or -1; both ascend.

    Words of the document before the first match and after the last one cost nothing. O(m n).

    Args:
        abstract: numbers of the words of a sentence, (m,), equal for words that count as equal.
        document: document of another one, (n,).
        weights: what each abstract word is worth, (m,), above 0.
    """
    m, n = len(abstract), len(document)
    # Best scores by how the last words end: matched, one for another, without a counterpart in either text.
    score = np.full((4, m + 1, n + 1), -np.inf)
    came = np.zeros((4, m + 1, n + 1), np.int8)
    score[1, 0, 0] = 0.0
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                add = weights[i - 1]
                same = abstract[i - 1] == document[j - 1]
                for state in range(4):
                    before = score[state, i - 1, j - 1]
                    here = before + add + (_RUN * add if state == 0 else 0.0)
                    if same and here > score[0, i, j]:
                        score[0, i, j], came[0, i, j] = here, state
                    if before - _OTHER > score[1, i, j] and not same:
                        score[1, i, j], came[1, i, j] = before - _OTHER, state
            for state in range(4):
                if i:
                    cost = _LONGER if state == 2 else _GAP
                    if score[state, i - 1, j] - cost > score[2, i, j]:
                        score[2, i, j], came[2, i, j] = score[state, i - 1, j] - cost, state
                if j:
                    free = i == 0 or i == m
                    cost = 0.0 if free else _LONGER if state == 3 else _GAP
                    if score[state, i, j - 1] - cost > score[3, i, j]:
                        score[3, i, j], came[3, i, j] = score[state, i, j - 1] - cost, state
    matched = np.full(m, -1, np.int64)
    i, j, state = m, n, int(score[:, m, n].argmax())
    while i > 0 or j > 0:
        before = came[state, i, j]
        if state == 0:
            matched[i - 1] = j - 1
        i, j = i - (state != 3), j - (state != 2)
        state = before
    return matched


#: What function words and marks are worth in a frame, of content words; and that both sentences begin or end.
_FUNCTION, _BORDER = 0.3, 0.5
#: Words on either side of a slot at most, and words of its frame that are looked at on each side.
LONGEST, _REACH = 4, 6


@dataclass(frozen=True, slots=True)
class Slot:
    """Words of the abstract and of the document between words that both have.

    One side may be empty: words put in, or left out. ``before`` and ``after`` are what the frame is worth on
    each side: the words that go on from there in both texts.
    """

    abstract: Span
    document: Span
    before: float
    after: float

    @property
    def frame(self) -> float:
        """What the whole frame is worth."""
        return self.before + self.after


def match_words(abstract: Sequence[str], document: Sequence[str]) -> Longs:
    """Return for each word of a sentence its match in another one by stems, or -1."""
    numbers: dict[str, int] = {}

    def ids(words: Sequence[str]) -> Longs:
        return np.array([numbers.setdefault(stem(word), len(numbers)) for word in words], np.int64)

    return matches(ids(abstract), ids(document), np.array([worth(word) for word in abstract]))


def slots(abstract: Sequence[str], document: Sequence[str], places: Longs) -> Iterator[Slot]:
    """Yield the slots of a sentence in one of the document, given its matches (``match_words``).

    Offsets are those of the two sentences.
    """
    m, n = len(abstract), len(document)
    both = [(-1, -1), *((i, int(j)) for i, j in enumerate(places) if j >= 0), (m, n)]
    values = [worth(abstract[i]) if 0 <= i < m else _BORDER for i, _ in both]
    for number in range(len(both) - 1):
        (i, j), (k, end) = both[number], both[number + 1]
        if max(k - i, end - j) > 1:
            yield Slot(
                (i + 1, k), (j + 1, end), _run(both, values, number, -1), _run(both, values, number + 1, 1)
            )


def _run(both: Sequence[tuple[int, int]], values: Sequence[float], at: int, step: int) -> float:
    """Return what the words from a match on are worth, as long as they go on alike in both texts.

    They do where as few other words lie between two matches on both sides: *in Berlin on Friday* goes on
    as *in Paris on Friday* does.
    """
    total = values[at]
    for _ in range(_REACH):
        if not 0 <= at + step < len(both):
            break
        (i, j), (k, end) = sorted((both[at], both[at + step]))
        if k - i != end - j or k - i > 2:
            break
        at += step
        total += values[at]
    return total


def worth(word: str) -> float:
    """Return what a word is worth: function words and marks less than others."""
    return _FUNCTION if is_function_word(word) else 1.0
