"""Places in a sentence of a document where its summary has other words, between words of both.

Of *the firm hired 12 engineers* and *the firm hired 21 engineers*, the words before and after the number are
the same: what stands between them is a slot, with one word or a few on each side. How far the frame around
it is the same says how much its words are about the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.alignment import Span
from sentgen.alignment.states.matching import matches
from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.stems import stem
from sentgen.arrays import Longs

#: What function words and marks are worth in a frame, of content words; and that both sentences begin or end.
FUNCTION, BORDER = 0.3, 0.5
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


def matched(abstract: Sequence[str], document: Sequence[str]) -> Longs:
    """Return for each word of a sentence its match in another one by stems, or -1."""
    numbers: dict[str, int] = {}

    def ids(words: Sequence[str]) -> Longs:
        return np.array([numbers.setdefault(stem(word), len(numbers)) for word in words], np.int64)

    return matches(ids(abstract), ids(document), np.array([worth(word) for word in abstract]))


def slots(abstract: Sequence[str], document: Sequence[str], places: Longs) -> Iterator[Slot]:
    """Yield the slots of a sentence in one of the document, given its matches (``matched``).

    Offsets are those of the two sentences.
    """
    m, n = len(abstract), len(document)
    both = [(-1, -1), *((i, int(j)) for i, j in enumerate(places) if j >= 0), (m, n)]
    values = [worth(abstract[i]) if 0 <= i < m else BORDER for i, _ in both]
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
    return FUNCTION if is_function_word(word) else 1.0
