"""What `score` answers of regions of stored texts, such as paragraphs: sums over the tokens of each.

The end of a sentence is in those regions that have its last token. Regions that lie within each other, or
overlap, have each all of their own tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from sentgen.models.scoring import SentenceScore, figures_of
from sentgen.models.stored_text import RegionPart, SentencePlace
from sentgen.output.logarithms import decimal

#: What a region is told by, behind its corpus and document.
REGION = ("sentence", "position", "attributes", "sentences")


@dataclass(slots=True)
class RegionSums:
    """The sums over the sentences that a region has a part of."""

    region: RegionPart
    sentences: int = 0
    log10: float = 0.0
    tokens: int = 0
    oov: int = 0

    def add(self, score: SentenceScore, part: RegionPart) -> None:
        """Count the tokens of a part, and the end of the sentence if it goes up to that."""
        start, size = part.first - 1, len(score.words)
        end = part.last if part.last < size else size + 1
        self.sentences += 1
        self.log10 += decimal(float(score.logps[start:end].sum()))
        self.tokens += end - start
        self.oov += int(score.unknown[start:end].sum())

    @property
    def row(self) -> tuple[object, ...]:
        """What is said of the region."""
        at = self.region
        place = (at.sentence, at.position, at.attributes, self.sentences)
        return (*place, *figures_of(self.log10, self.tokens, self.oov))


def region_rows(scores: Iterable[tuple[SentencePlace, SentenceScore]]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each region, in the order in which they begin; none goes on in another document."""
    for document, own in groupby(scores, key=lambda one: one[0].names[:2]):
        sums = dict[tuple[int, int, int], RegionSums]()
        for place, score in own:
            for part in place.regions:
                sums.setdefault(part[:3], RegionSums(part)).add(score, part)
        for _, region in sorted(sums.items()):
            yield (*document, *region.row)
