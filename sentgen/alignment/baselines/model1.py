"""IBM Model 1 (Brown et al. 1993): every word from any word of the other text, or from null, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.alignment import Alignment
from sentgen.alignment.baselines.bitext import Bitext, Side, alignments, bitext, units, with_training
from sentgen.alignment.baselines.extraction import SENTENCES
from sentgen.alignment.baselines.word_kernels import model1_best, model1_counts
from sentgen.alignment.pair import Pair
from sentgen.arrays import Floats


@dataclass(frozen=True, slots=True)
class Model1:
    """The aligner `model1`; it learns from the training pairs and from the pairs to align.

    Args:
        training: pairs to learn from.
        iterations: of EM, from the uniform table.
        source: the text that generates the other.
        sentences: document sentences for an abstract sentence; 0 for whole texts.
    """

    training: tuple[Pair, ...] = ()
    iterations: int = 5
    source: Side = "document"
    sentences: int = SENTENCES
    name: str = "model1"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs: the most probable source word of each target word."""
        both = with_training(pairs, self.training)
        of = list(units(both, source=self.source, sentences=self.sentences))
        text = bitext(of)
        table, _ = train_model1(text, self.iterations)
        best = [model1_best(text, table, k).tolist() for k in range(len(of))]
        yield from alignments(len(pairs), of, best, source=self.source)


def train_model1(text: Bitext, iterations: int) -> tuple[Floats, list[float]]:
    """Return t(target | source), (P,), and the log-probability of all targets before each iteration."""
    # Any constant does: the first E step divides by it.
    table = np.full(len(text.sources), 1 / max(len(text.sources), 1))
    logp = []
    for _ in range(iterations):
        counts = np.zeros(len(table))
        logp.append(model1_counts(text, table, counts))
        table = normalized(text, counts)
    return table, logp


def normalized(text: Bitext, counts: Floats) -> Floats:
    """Divide the count of each parameter by that of its source word."""
    totals = np.bincount(text.sources, counts)[text.sources]
    return np.divide(counts, totals, out=np.zeros(len(counts)), where=totals > 0)
