"""The aligner `spelling`: a word of the summary comes from the document word that is spelt most like it.

Two words are alike as far as they share their trigrams of letters (Dice's coefficient), the edges of words
included; of equally good places that is taken which continues the sentence best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.plugins import Alignment, Pair, PhraseLink, System


@dataclass(frozen=True, slots=True)
class Spelling:
    """The aligner; words that are less alike than ``least`` are new."""

    name: str = "spelling"
    least: float = 0.6

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each."""
        for pair in pairs:
            yield Alignment(tuple(self._links(pair)))

    def _links(self, pair: Pair) -> Iterator[PhraseLink]:
        document = [_trigrams(word) for word in pair.document]
        following = 0
        for at, word in enumerate(pair.abstract):
            trigrams = _trigrams(word)
            alike = [_dice(trigrams, other) for other in document]
            places = range(len(alike))
            place = max(places, key=lambda i: (alike[i], -abs(i - following)), default=None)
            if place is not None and alike[place] >= self.least:
                yield PhraseLink(abstract=(at, at + 1), document=(place, place + 1))
                following = place + 1


def _trigrams(word: str) -> frozenset[str]:
    padded = f"  {word.lower()} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _share(text: str) -> float:
    """Read a value; what cannot be read is a `ValueError`, which sentgen tells in its own words."""
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(text)
    return value


SYSTEM = System(Spelling, "words that are spelt alike", {"least": _share})
