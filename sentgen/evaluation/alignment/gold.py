"""Alignments that people made: what aligners are compared with.

A gold standard has pairs of texts, and for each pair the links that each annotator drew: sure ones, and
possible ones that an aligner may or may not draw (Och and Ney 2003). Sure links are possible, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sentgen.alignment import Link, Pair
from sentgen.errors import InputError

#: How many of the annotators must have drawn a link: `half` is at least half of them, one of two, two of
#: three.
Combination = Literal["half", "union", "intersection"]
#: What becomes of links that are possible, but not sure.
Possible = Literal["keep", "drop", "sure"]


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The links of one annotator, or of several together; ``sure`` is a part of ``possible``."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    @staticmethod
    def of(sure: Iterable[Link], possible: Iterable[Link] = ()) -> GoldLinks:
        """Return links, the sure ones among the possible ones."""
        certain = frozenset(sure)
        return GoldLinks(certain, certain.union(possible))


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A pair and the links of each annotator."""

    pair: Pair
    annotations: tuple[GoldLinks, ...]


@dataclass(frozen=True, slots=True)
class GoldStandard:
    """A gold standard; every pair was annotated by all ``annotators``."""

    annotators: tuple[str, ...]
    pairs: tuple[GoldPair, ...]

    def first(self, limit: int | None) -> GoldStandard:
        """Return the first pairs only; all of them if ``None``."""
        return replace(self, pairs=self.pairs[:limit])

    def combined(self, how: str = "half", *, possible: Possible = "keep") -> list[GoldLinks]:
        """Return the links of each pair that a system is measured by (see `combine`).

        Args:
            how: a `Combination`, or the name of one annotator.
            possible: `keep` them, `drop` them, or take them for `sure`.

        Raises:
            InputError: there is no such combination or annotator.
        """
        if how in self.annotators:
            place = self.annotators.index(how)
            chosen = [pair.annotations[place] for pair in self.pairs]
        elif how in get_args(Combination):
            chosen = [combine(pair.annotations, how) for pair in self.pairs]  # type: ignore[arg-type]
        else:
            names = ", ".join((*get_args(Combination), *self.annotators))
            raise InputError(f"no combination or annotator is called {how!r}; choose one of: {names}")
        treat = _POSSIBLE[possible]
        return [treat(links) for links in chosen]

    def by_others(self, annotator: int, how: Combination, *, possible: Possible = "keep") -> list[GoldLinks]:
        """Return what all annotators but one drew, combined: by this a person can be measured."""
        treat = _POSSIBLE[possible]
        return [
            treat(combine(pair.annotations[:annotator] + pair.annotations[annotator + 1 :], how))
            for pair in self.pairs
        ]


_POSSIBLE: dict[Possible, Callable[[GoldLinks], GoldLinks]] = {
    "keep": lambda links: links,
    "drop": lambda links: GoldLinks.of(links.sure),
    "sure": lambda links: GoldLinks.of(links.possible),
}


def combine(annotations: Sequence[GoldLinks], how: Combination = "half") -> GoldLinks:
    """Return the links that enough annotators drew.

    A link is sure if enough of them call it sure, and possible if enough of them drew it at all. With `half`
    that is at least half of them, rounded up: either of two (the union of Daumé and Marcu 2004), two of
    three (the majority that is usual for the three annotators of RTE-2, as in MacCartney et al. 2008).
    """
    # Rounded up: one of one or two, two of three or four.
    needed = {"half": (len(annotations) + 1) // 2, "union": 1, "intersection": len(annotations)}[how]
    return GoldLinks.of(
        _drawn((annotation.sure for annotation in annotations), needed),
        # A sure link is possible, too (`GoldLinks.of`), so that both kinds count here.
        _drawn((annotation.possible for annotation in annotations), needed),
    )


def _drawn(links: Iterable[frozenset[Link]], needed: int) -> list[Link]:
    counts = Counter(link for drawn in links for link in drawn)
    return [link for link, count in counts.items() if count >= needed]
