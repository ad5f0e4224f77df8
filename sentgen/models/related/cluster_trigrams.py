"""Trigrams of one cluster of sentences, interpolated with its bigrams.

    p(x | u v) = (count(u v x) - 1/2) / count(u v) + 1/2 * (different words after u v) / count(u v) * p(x | v)

A cluster has too few counts of counts for the discounts of Katz, so that all of them lose 1/2, as its bigrams
do where those fail. After u v that were never seen together, p(x | v).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Longs
from sentgen.models.smoothing.katz import ABSOLUTE


class Trigrams(NamedTuple):
    """Natural log-probabilities over n words; n stands for the start before, and for the end after them."""

    bigram: Floats  # (n + 1, n + 1) of the column after the row
    backed_off: Floats  # (n + 1, n + 1) the weight of bigrams after a pair of words
    keys: Longs  # (T,) trigrams that were seen, (u * (n + 1) + v) * (n + 1) + x, sorted
    trigram: Floats  # (T,) their log-probabilities


def trigrams(sentences: Sequence[Longs], bigrams: Floats) -> Trigrams:
    """Return the trigrams of some sentences.

    Args:
        sentences: numbers of words.
        bigrams: (n + 1, n + 1) probabilities, no logarithms; row n is the start, column n the end.
    """
    size = len(bigrams)
    counted: Counter[tuple[int, int, int]] = Counter()
    for sentence in sentences:
        words = [size - 1, *sentence.tolist(), size - 1]
        counted.update((u, v, x) for (u, v), x in zip(pairwise(words), words[2:], strict=False))
    total, different = np.zeros((size, size)), np.zeros((size, size))
    for (u, v, _), times in counted.items():
        total[u, v] += times
        different[u, v] += 1
    left = np.where(total > 0, ABSOLUTE * different / np.maximum(total, 1), 1.0)
    seen = sorted(counted)
    found = [(counted[u, v, x] - ABSOLUTE) / total[u, v] + left[u, v] * bigrams[v, x] for u, v, x in seen]
    keys = [(u * size + v) * size + x for u, v, x in seen]
    with np.errstate(divide="ignore"):
        return Trigrams(np.log(bigrams), np.log(left), np.array(keys, np.int64), np.log(np.array(found)))
