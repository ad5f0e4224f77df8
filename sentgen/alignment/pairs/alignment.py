"""Pairs of a document and its abstract as lists of words, and their alignments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product
from typing import Protocol

from sentgen.corpus.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Pair:
    """A document and its abstract.

    ``document_starts`` and ``abstract_starts`` are the offsets at which sentences begin, the first one 0; a
    text that is not split into sentences has the one offset.
    """

    key: str
    document: tuple[str, ...]
    abstract: tuple[str, ...]
    document_starts: tuple[int, ...] = (0,)
    abstract_starts: tuple[int, ...] = (0,)

    @classmethod
    def of_sentences(cls, key: str, document: Sequence[Sentence], abstract: Sequence[Sentence]) -> Pair:
        """Return the pair of two texts that are given as lists of sentences."""
        (words, starts), (abstract_words, abstract_starts) = (
            (
                tuple(form for sentence in text for form in sentence.forms),
                tuple(accumulate((len(sentence.forms) for sentence in text[:-1]), initial=0)),
            )
            for text in (document, abstract)
        )
        return cls(key, words, abstract_words, starts, abstract_starts)


#: Offsets of words, from 0, the end left out: (2, 4) are the third and the fourth word.
Span = tuple[int, int]
#: Offset of a document word and of an abstract word, from 0; Pharaoh's ``i-j``.
Link = tuple[int, int]


def linked_words(abstract: Span, document: Span) -> Iterator[tuple[int, int]]:
    """Yield the word links (abstract, document) of two phrases in ascending order.

    Phrases of the same length count as copies, linked one to one; in others each word is linked with each.

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
    """A candidate word link and the evidence for it.

    Attributes:
        abstract: offset of the abstract word.
        document: offset of the document word.
        posterior: the probability of the link given both texts.
        directions: the posteriors of the link in each direction of the model, the abstract from the document
            first, from which ``posterior`` is computed; empty where it is computed from other links, as for
            full stops.
        shares: named shares of the posterior, the largest first; they sum to 1.
        weights: feature, value and weight of a tuned model, the largest absolute weight first.
    """

    abstract: int
    document: int
    posterior: float
    directions: tuple[float, ...] = ()
    shares: tuple[tuple[str, float], ...] = ()
    weights: tuple[tuple[str, str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """The word links that were chosen or whose posterior reaches ``floor``, by abstract word, then document.

    ``threshold`` is the least posterior of a chosen link, ``None`` if links are those of the best path.
    """

    floor: float
    threshold: float | None
    links: tuple[WeighedLink, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The phrase links of a pair, in the order of the abstract.

    A word link is a phrase link of one word with one word; an abstract word in no phrase comes from null.
    ``null`` is P(null) of each abstract word, ``logp`` the natural log of the probability of the abstract
    given the document, where the aligner knows them, ``weighed`` the candidate links, if asked for.
    """

    phrases: tuple[PhraseLink, ...]
    null: tuple[float, ...] | None = None
    logp: float | None = None
    weighed: Weighed | None = None

    @classmethod
    def of_links(cls, links: Iterable[Link]) -> Alignment:
        """Return the alignment that consists of different word links."""
        ordered = sorted((s, d) for d, s in links)
        return cls(tuple(PhraseLink((s, s + 1), (d, d + 1)) for s, d in ordered))

    @property
    def links(self) -> frozenset[Link]:
        """All word links."""
        return frozenset(link for phrase in self.phrases for link in phrase.links)

    def pharaoh(self) -> str:
        """Return the links as ``i-j``, document word and abstract word from 0, ascending.

        >>> Alignment((PhraseLink(abstract=(0, 1), document=(2, 4)),)).pharaoh()
        '2-0 3-0'
        """
        return " ".join(f"{d}-{s}" for d, s in sorted(self.links))


class Aligner(Protocol):
    """A system that aligns pairs, trained if it needs training."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``model1``."""
        ...

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Yield an alignment for each pair, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class System:
    """A kind of aligner: how to make it, and its settings.

    Attributes:
        make: returns the aligner; takes the ``name`` of the aligner, the settings that were given and, if the
            system ``learns``, the pairs of ``training``.
        help: what the system does, in a few words.
        settings: for each setting the function that parses its value, which may raise `KeyError` or
            `ValueError`.
        learns: whether the system learns from pairs, including the pairs to align.
    """

    make: Callable[..., Aligner]
    help: str
    settings: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    learns: bool = False
