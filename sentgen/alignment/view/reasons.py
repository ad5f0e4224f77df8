"""Why words of an abstract are linked, or new: a row for each word with each that it could come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from sentgen.alignment.alignment import WeighedLink, linked_words
from sentgen.alignment.view.view import PairView

#: Shares that are told in words, but for the largest, and weights.
_SHARE, _WEIGHT, _WEIGHTS = 0.01, 0.05, 3


@dataclass(frozen=True, slots=True)
class Reason:
    """A word of the abstract and one of the document that it could come from.

    Attributes:
        abstract: offset of the abstract word.
        number: of its block, from 1, where the link was chosen.
        link: what speaks for it; ``None`` where no document word reaches the floor, or where the word comes
            from one with which the aligner does not link it.
        rival: the best other document word of the same abstract word, where one reaches the floor.
        first: whether it is the best one of its abstract word.
        null: P(null) of the abstract word.
    """

    abstract: int
    number: int | None
    link: WeighedLink | None
    rival: WeighedLink | None
    first: bool
    null: float | None

    @property
    def chosen(self) -> bool:
        """Whether the words are linked."""
        return self.number is not None


def reasons(shown: PairView) -> list[Reason]:
    """Return what each word could come from, the best first; a word of which nothing is known has a row, too.

    An aligner without posteriors has no reasons.
    """
    if shown.alignment.weighed is None:
        return []
    null, numbers = shown.alignment.null, _numbers(shown)
    by_word = {
        word: sorted(links, key=lambda link: (-link.posterior, link.document))
        for word, links in groupby(shown.alignment.weighed.links, key=lambda link: link.abstract)
    }
    found = []
    for word in range(len(shown.pair.abstract)):
        links = by_word.get(word, [])
        of_word = None if null is None else null[word]
        # What was looked up, or contradicts a word in its place, is no link of the aligner, and comes first.
        loose = bool(shown.states[word].source) and not any(
            (word, link.document) in numbers for link in links
        )
        if loose or not links:
            found.append(Reason(word, None, None, links[0] if links else None, True, of_word))
        found += [
            Reason(
                word,
                numbers.get((word, link.document)),
                link,
                next((other for other in links if other is not link), None),
                not place and not loose,
                of_word,
            )
            for place, link in enumerate(links)
        ]
    return found


def told(shown: PairView) -> Iterator[Reason]:
    """Yield the reasons of the links that were chosen; of a new word what would be chosen first."""
    for _, rows in groupby(reasons(shown), key=lambda one: one.abstract):
        of_word = list(rows)
        yield from [one for one in of_word if one.chosen] or of_word[:1]


def made_of(link: WeighedLink) -> str:
    """Return what a link is made of.

    >>> made_of(WeighedLink(0, 0, 1, shares=(("same word", 0.9), ("same stem", 0.099), ("synonyms", 0.001))))
    'same word 90%, same stem 10%'
    """
    told = [one for one in link.shares if one[1] >= _SHARE] or link.shares[:1]
    return ", ".join(f"{name} {share:.0%}" for name, share in told)


def weighed_by(link: WeighedLink) -> str:
    """Return what changes the score of a link most in a tuned model.

    >>> weighed_by(WeighedLink(0, 0, 0.9, weights=(("words", "synonyms", -1.25),)))
    'words: synonyms -1.25'
    """
    told = [one for one in link.weights if abs(one[2]) >= _WEIGHT][:_WEIGHTS]
    return "; ".join(f"{feature}: {value} {weight:+.2f}" for feature, value, weight in told)


def _numbers(shown: PairView) -> dict[tuple[int, int], int]:
    """Return the block of each word link, by abstract word and document word."""
    return {
        cell: block.number for block in shown.blocks for cell in linked_words(block.abstract, block.document)
    }
