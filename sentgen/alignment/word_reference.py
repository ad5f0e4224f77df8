"""IBM Model 1 and the HMM by their definitions: sums over all alignments, as the oracle of the kernels."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

Words = Sequence[str]
#: The column of each target word, 0 = null, and the probability.
Weighed = tuple[tuple[int, ...], float]
Table = Mapping[tuple[str, str], float]
#: The source word of what comes from no word.
NULL_WORD = ""


def model1_probabilities(source: Words, target: Words, table: Table) -> Iterator[Weighed]:
    """Yield every alignment (a column for each target word, 0 = null) with P(target, alignment | source).

    Brown et al. 1993, eq. 5, with the probability of the length left out:
    prod_j t(f_j | e_{a_j}) / (I + 1).
    """
    words = (NULL_WORD, *source)
    for columns in product(range(len(words)), repeat=len(target)):
        yield (
            columns,
            math.prod(table[words[i], f] / len(words) for i, f in zip(columns, target, strict=True)),
        )


def hmm_probabilities(
    source: Words, target: Words, table: Table, jump: Mapping[int, float], *, null: float, smoothing: float
) -> Iterator[Weighed]:
    """Yield every alignment (columns, 0 = null) with P(target, alignment | source); jumps of all widths.

    Vogel et al. 1996 with the null states of Och & Ney 2003, sec. 2.1.2: a null state remembers the last
    source word, each with the same probability at the start; an alignment sums over what it may remember.
    """
    length = len(source)

    def move(before: int, after: int) -> float:
        total = sum(jump[i - before] for i in range(length))
        return (1 - smoothing) * jump[after - before] / total + smoothing / length

    for columns in product(range(length + 1), repeat=len(target)):
        probability = 0.0
        for remembered in range(length):
            if columns[0] not in (0, remembered + 1):
                continue
            value, position = 1 / length, remembered
            for t, (column, f) in enumerate(zip(columns, target, strict=True)):
                if column == 0:
                    value *= null * table[NULL_WORD, f]
                    continue
                value *= (1 - null) * table[source[column - 1], f]
                value *= move(position, column - 1) if t else 1.0
                position = column - 1
            probability += value
        yield columns, probability


def expected_counts(
    source: Words, target: Words, probabilities: Sequence[Weighed]
) -> tuple[dict[tuple[str, str], float], float]:
    """Return the expected number of links of (source word, target word), and log P(target | source)."""
    words = (NULL_WORD, *source)
    total = sum(probability for _, probability in probabilities)
    counts: defaultdict[tuple[str, str], float] = defaultdict(float)
    for columns, probability in probabilities:
        for i, f in zip(columns, target, strict=True):
            counts[words[i], f] += probability / total
    return dict(counts), math.log(total)
