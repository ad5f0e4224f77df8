"""What systems are measured by: a gold standard, how its annotators are one, and which words count."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.baselines.bitext import word_links
from sentgen.evaluation.alignment.gold import Combination, GoldLinks, GoldStandard, Possible
from sentgen.evaluation.alignment.measures import ignored_words, measure
from sentgen.evaluation.figures.measurement import Measurement
from sentgen.evaluation.figures.results import SystemResult


@dataclass(frozen=True, slots=True)
class Target:
    """A gold standard as systems are measured by it.

    Attributes:
        gold: the links of all annotators.
        combine: how several annotators are one (see `GoldStandard.combined`).
        possible: what becomes of possible links.
        ignored: words that some figures leave out, lower-cased.
    """

    gold: GoldStandard
    combine: str = "half"
    possible: Possible = "keep"
    ignored: frozenset[str] = field(default_factory=ignored_words)

    @property
    def pairs(self) -> list[Pair]:
        """Return the texts."""
        return [pair.pair for pair in self.gold.pairs]

    def links(self) -> list[GoldLinks]:
        """Return the links of each pair.

        Raises:
            InputError: there is no such combination or annotator.
        """
        return self.gold.combined(self.combine, possible=self.possible)

    def measure(self, answers: Sequence[Alignment]) -> dict[str, Measurement]:
        """Return all figures of a system."""
        return self._measure(answers, self.links(), f"{self.combine} of {len(self.gold.annotators)}")

    def humans(self) -> Iterator[SystemResult[Alignment]]:
        """Measure the sure links of each annotator by what the others drew.

        Section 3.4 of the paper compares one of two with the other; of three, with what at least one of the
        other two drew, unless another combination was asked for.
        """
        if len(self.gold.annotators) < 2:
            return
        how: Combination = "half"
        # The name of an annotator is no combination: the others are then combined by half.
        for name in get_args(Combination):
            how = name if name == self.combine else how
        for number, name in enumerate(self.gold.annotators):
            others = self.gold.by_others(number, how, possible=self.possible)
            answers = [word_links(pair.annotations[number].sure) for pair in self.gold.pairs]
            figures = self._measure(answers, others, f"{how} of the other annotators")
            yield SystemResult(f"human {name}", answers, figures)

    def _measure(
        self, answers: Sequence[Alignment], target: Sequence[GoldLinks], combined: str
    ) -> dict[str, Measurement]:
        signature = f"gold:{combined}|possible:{self.possible}"
        return measure(self.pairs, answers, target, ignored=self.ignored, signature=signature)

    @property
    def parameters(self) -> dict[str, object]:
        """Return what is recorded of it."""
        digest = hashlib.sha256()
        for pair in self.gold.pairs:
            # Sorted: sets have no order of their own.
            links = [(sorted(each.sure), sorted(each.possible)) for each in pair.annotations]
            digest.update(repr((pair.pair, links)).encode())
        return {
            "sha256": digest.hexdigest(),
            "pairs": len(self.gold.pairs),
            "annotators": list(self.gold.annotators),
            "combine": self.combine,
            "possible": self.possible,
            "ignored words": len(self.ignored),
        }
