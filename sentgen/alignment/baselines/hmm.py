"""The HMM of word alignment (Vogel et al. 1996): the next word comes from near the word of the last one.

p(i | i', I) = c(i - i') / sum_k c(k - i') over the I source words, mixed with the uniform distribution; null
keeps the position and has the probability p0 (Och & Ney 2003, sec. 2.1.2). As in the 2004 paper the table
comes from Model 1, and `hmm` takes the abstract for the source, `hmm-flipped` the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentgen.alignment.alignment import Alignment
from sentgen.alignment.baselines.bitext import (
    Bitext,
    Side,
    alignments,
    bitext,
    units,
    with_training,
    word_links,
)
from sentgen.alignment.baselines.extraction import SENTENCES
from sentgen.alignment.baselines.model1 import normalized, train_model1
from sentgen.alignment.baselines.symmetrize import USUAL_JOIN, Join, joined
from sentgen.alignment.baselines.word_kernels import hmm_best, hmm_counts
from sentgen.alignment.pair import Pair
from sentgen.arrays import Floats

#: Longest jump with a count of its own; longer ones share the count of this one.
REACH = 200


@dataclass(frozen=True, slots=True)
class WordHMM:
    """The aligners `hmm` and `hmm-flipped`; they learn from the training pairs and from the pairs to align.

    Args:
        training: pairs to learn from.
        source: the text that generates the other.
        iterations: of EM of the HMM.
        model1_iterations: of EM of Model 1 before.
        null: p0, the probability that a word comes from null.
        smoothing: weight of the uniform distribution in that of jumps.
        sentences: document sentences for an abstract sentence; 0 for whole texts.
    """

    training: tuple[Pair, ...] = ()
    source: Side = "abstract"
    iterations: int = 5
    model1_iterations: int = 5
    null: float = 0.2
    smoothing: float = 0.2
    sentences: int = SENTENCES
    name: str = "hmm"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs: the most probable path through the source words."""
        both = with_training(pairs, self.training)
        of = list(units(both, source=self.source, sentences=self.sentences))
        text = bitext(of)
        table, _ = train_model1(text, self.model1_iterations)
        table, jump, _ = train_hmm(text, table, self.iterations, null=self.null, smoothing=self.smoothing)
        best = [hmm_best(text, table, jump, self.null, self.smoothing, k).tolist() for k in range(len(of))]
        yield from alignments(len(pairs), of, best, source=self.source)


@dataclass(frozen=True, slots=True)
class SymmetricHMM:
    """The aligner `hmm-symmetric`: both directions of ``basis``, joined."""

    basis: WordHMM
    join: Join = USUAL_JOIN
    name: str = "hmm-symmetric"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs in both directions and join the links."""
        flipped = replace(self.basis, source="document").align(pairs)
        basic = replace(self.basis, source="abstract").align(pairs)
        for one, other in zip(flipped, basic, strict=True):
            yield word_links(joined(one.links, other.links, self.join))


def train_hmm(
    text: Bitext, table: Floats, iterations: int, *, null: float, smoothing: float
) -> tuple[Floats, Floats, list[float]]:
    """Return t(target | source), the weights of jumps, and the log-probability before each iteration.

    The weights are counted as if they were not divided by their sum over each sentence, as Vogel et al. do,
    so that the log-probability almost always rises, and need not.
    """
    reach = min(REACH, max(int(text.columns.max(initial=1)) - 1, 1))
    jump = np.ones(2 * reach + 1)
    logp = []
    for _ in range(iterations):
        counts, jump_counts = np.zeros(len(table)), np.zeros(len(jump))
        logp.append(hmm_counts(text, table, jump, null, smoothing, counts, jump_counts))
        table = normalized(text, counts)
        # A jump that was never seen keeps a little, or short sentences may have none that is possible.
        jump = jump_counts + 1e-6 * max(float(jump_counts.sum()), 1.0)
    return table, jump, logp
