"""What every aligner answers: which phrase of the abstract comes from which phrase of the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from sentgen.alignment.pair import Pair

#: Offsets of words, from 0, the end left out: (2, 4) are the third and the fourth word.
Span = tuple[int, int]
#: Offset of a document word and of an abstract word, from 0; Pharaoh's ``i-j``.
Link = tuple[int, int]


def linked_words(abstract: Span, document: Span) -> Iterator[tuple[int, int]]:
    """Yield which word of a phrase belongs to which of the other, abstract first, in order.

    Phrases of as many words are taken for copies, word for word; of others, all belong to all.

    >>> list(linked_words((0, 2), (5, 7))), list(linked_words((0, 2), (5, 6)))
    ([(0, 5), (1, 6)], [(0, 5), (1, 5)])
    """
    words, places = range(*abstract), range(*document)
    return zip(words, places, strict=True) if len(words) == len(places) else product(words, places)


@dataclass(frozen=True, slots=True, order=True)
class PhraseLink:
    """A phrase of the abstract and the document phrase that it comes from.

    ``posterior`` is the probability of the link given both texts, where the aligner knows it.
    """

    abstract: Span
    document: Span
    posterior: float | None = None

    @property
    def links(self) -> Iterator[Link]:
        """All word links of the phrase link (Daumé & Marcu 2004, sec. 3.1)."""
        return product(range(*self.document), range(*self.abstract))


@dataclass(frozen=True, slots=True)
class WeighedLink:
    """A word link that could have been chosen, and what speaks for it.

    Attributes:
        abstract: offset of the abstract word.
        document: offset of the document word.
        posterior: the probability of the link given both texts.
        directions: its posteriors in each direction of the model of which ``posterior`` is made, the abstract
            from the document first; none where it comes from other links, as that of a full stop does.
        shares: what the posterior is made of, by name, the largest first; they sum to 1.
        weights: what a tuned model sees: feature, value and weight, those that change most first.
    """

    abstract: int
    document: int
    posterior: float
    directions: tuple[float, ...] = ()
    shares: tuple[tuple[str, float], ...] = ()
    weights: tuple[tuple[str, str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """All word links that were chosen or whose posterior reaches ``floor``, by abstract word, then document.

    ``threshold`` is the posterior from which on links are chosen, ``None`` where they are the best path.
    """

    floor: float
    threshold: float | None
    links: tuple[WeighedLink, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The phrase links of a pair, in the order of the abstract.

    A word link is a phrase link of one word with one word; an abstract word in no phrase comes from null.
    ``null`` is P(null) of each abstract word, ``logp`` the natural log of the probability of the abstract
    given the document, where the aligner knows them, ``weighed`` what it chose among, where it was asked.
    """

    phrases: tuple[PhraseLink, ...]
    null: tuple[float, ...] | None = None
    logp: float | None = None
    weighed: Weighed | None = None

    @property
    def links(self) -> frozenset[Link]:
        """All word links."""
        return frozenset(link for phrase in self.phrases for link in phrase.links)


class Aligner(Protocol):
    """A system that aligns; what it learns, it has learnt before."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``model1``."""
        ...

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each, in their order."""
        ...
