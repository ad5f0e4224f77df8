"""Gold standards of alignment, and pseudo-documents that are made of their pairs.

A gold standard has pairs of texts, and for each pair the links that each annotator drew: sure ones, and
possible ones that an aligner may or may not draw (Och and Ney 2003). Sure links are possible, too.

Pseudo-documents are a stand-in for hand-aligned documents, which are licensed: the texts of many pairs are
one document, some of the abstracts in random order its abstract, and their links are carried over. If two
pairs have the same topic, an abstract word may have sources in the document that nobody annotated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from sentgen.alignment import Link, Pair
from sentgen.errors import InputError
from sentgen.output.wording import are, quantity

#: The annotators that must have drawn a link: `half` is at least half of them, one of two, two of three.
Combination = Literal["half", "union", "intersection"]
#: How links count that are possible, but not sure.
Possible = Literal["keep", "drop", "sure"]
#: Pairs of a document and abstracts that are kept: about 490 and 135 words of MTRef.
_DOCUMENTS, _ABSTRACTS = 22, 8


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The links of one annotator, or of several combined; ``sure`` is a subset of ``possible``."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    @staticmethod
    def of(sure: Iterable[Link], possible: Iterable[Link] = ()) -> GoldLinks:
        """Return gold links, with the sure links added to the possible ones."""
        certain = frozenset(sure)
        return GoldLinks(certain, certain.union(possible))

    @staticmethod
    def combine(annotations: Sequence[GoldLinks], how: Combination = "half") -> GoldLinks:
        """Return the links that enough annotators drew.

        A link is sure if enough of them call it sure, and possible if enough of them drew it at all. With
        `half` that is at least half of them, rounded up: either of two (the union of Daumé and Marcu 2004),
        two of three (the majority that is usual for the three annotators of RTE-2, as in MacCartney et al.
        2008).
        """
        # Rounded up: one of one or two, two of three or four.
        needed = {"half": (len(annotations) + 1) // 2, "union": 1, "intersection": len(annotations)}[how]
        return GoldLinks.of(
            _drawn((annotation.sure for annotation in annotations), needed),
            # A sure link is possible, too (`GoldLinks.of`), so that both kinds count here.
            _drawn((annotation.possible for annotation in annotations), needed),
        )


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
        """Return the links of each pair by which a system is measured (see `combine`).

        Args:
            how: a `Combination`, or the name of one annotator.
            possible: `keep` possible links, `drop` them, or count them as `sure`.

        Raises:
            InputError: there is no such combination or annotator.
        """
        if how in self.annotators:
            index = self.annotators.index(how)
            chosen = [pair.annotations[index] for pair in self.pairs]
        elif how in get_args(Combination):
            chosen = [GoldLinks.combine(pair.annotations, how) for pair in self.pairs]  # type: ignore[arg-type]
        else:
            names = ", ".join((*get_args(Combination), *self.annotators))
            raise InputError(f"no combination or annotator is called {how!r}; choose one of: {names}")
        treat = _POSSIBLE[possible]
        return [treat(links) for links in chosen]

    def by_others(self, annotator: int, how: Combination, *, possible: Possible = "keep") -> list[GoldLinks]:
        """Return the combined links of all annotators but one, to measure that annotator."""
        treat = _POSSIBLE[possible]
        return [
            treat(GoldLinks.combine(pair.annotations[:annotator] + pair.annotations[annotator + 1 :], how))
            for pair in self.pairs
        ]

    def pseudo_documents(
        self, *, documents: int = _DOCUMENTS, abstracts: int = _ABSTRACTS, seed: int = 1
    ) -> GoldStandard:
        """Make as many pseudo-documents as the pairs suffice for; remaining pairs are left out.

        Args:
            documents: number of pairs whose documents are concatenated.
            abstracts: number of their abstracts that are kept, in random order.
            seed: seed of the draws.

        Raises:
            InputError: there are fewer pairs than one pseudo-document needs, or more abstracts than
                documents.
        """
        if not 1 <= abstracts <= documents:
            raise InputError(f"{abstracts} of {documents} abstracts cannot be kept; give such as 22x8")
        if len(self.pairs) < documents:
            too_few = f"{quantity(len(self.pairs), 'pair')} {are(len(self.pairs))} too few"
            raise InputError(f"{too_few} for a pseudo-document of {documents}")
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(self.pairs))
        made = list[GoldPair]()
        for begin in range(0, len(order) - documents + 1, documents):
            members = [self.pairs[n] for n in order[begin : begin + documents]]
            # In random order: abstracts must not be in the order of their documents.
            drawn = rng.permutation(documents)[:abstracts].tolist()
            made.append(_joined(f"pseudo-{len(made) + 1}", members, drawn))
        return replace(self, pairs=tuple(made))


_POSSIBLE: dict[Possible, Callable[[GoldLinks], GoldLinks]] = {
    "keep": lambda links: links,
    "drop": lambda links: GoldLinks.of(links.sure),
    "sure": lambda links: GoldLinks.of(links.possible),
}


def _drawn(links: Iterable[frozenset[Link]], needed: int) -> list[Link]:
    counts = Counter(link for drawn in links for link in drawn)
    return [link for link, count in counts.items() if count >= needed]


def pseudo_sizes(text: str) -> tuple[int, int]:
    """Read the numbers of documents and abstracts of a pseudo-document.

    Raises:
        InputError: the text has not the form ``22x8``.
    """
    sizes = re.fullmatch(r"(\d{1,9})x(\d{1,9})", text, re.ASCII)
    if sizes is None:
        raise InputError(f"{text[:40]!r} is not such as 22x8")
    return int(sizes[1]), int(sizes[2])


@dataclass(frozen=True, slots=True)
class _Placed:
    """A pair and the offsets of its texts in the pseudo-document; ``None`` for an abstract left out."""

    pair: GoldPair
    document: int
    abstract: int | None

    def moved(self, links: frozenset[Link]) -> frozenset[Link]:
        abstract = self.abstract
        return (
            frozenset()
            if abstract is None
            else frozenset((i + self.document, j + abstract) for i, j in links)
        )


def _joined(key: str, members: Sequence[GoldPair], order: Sequence[int]) -> GoldPair:
    """Concatenate the documents, and the kept abstracts in their order."""
    pairs = [member.pair for member in members]
    document_at = _starts([len(pair.document) for pair in pairs])
    # By pair: a document whose abstract is left out has no links.
    abstract_at = dict(zip(order, _starts([len(pairs[n].abstract) for n in order]), strict=True))
    placed = [_Placed(member, document_at[n], abstract_at.get(n)) for n, member in enumerate(members)]
    annotators = range(len(members[0].annotations))
    return GoldPair(
        Pair(
            key,
            tuple(word for pair in pairs for word in pair.document),
            tuple(word for n in order for word in pairs[n].abstract),
            tuple(
                at + start
                for at, pair in zip(document_at, pairs, strict=True)
                for start in pair.document_starts
            ),
            tuple(abstract_at[n] + start for n in order for start in pairs[n].abstract_starts),
        ),
        tuple(
            GoldLinks(
                frozenset().union(*(one.moved(one.pair.annotations[a].sure) for one in placed)),
                frozenset().union(*(one.moved(one.pair.annotations[a].possible) for one in placed)),
            )
            for a in annotators
        ),
    )


def _starts(lengths: Sequence[int]) -> list[int]:
    return [sum(lengths[:n]) for n in range(len(lengths))]
