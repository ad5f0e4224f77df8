"""Confidence intervals by the bootstrap: test sets drawn from the test set with replacement (Efron 1979)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Floats
from sentgen.evaluation.figures.measurement import Measurement, Stack

RESAMPLES = 1000
LEVEL = 0.95
#: Samples at a time, which bounds the matrix of samples and sentences.
_CHUNK = 100


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the figure lies in the middle ``level`` of the resampled test sets."""

    low: float
    high: float


def intervals(
    measurements: Sequence[Measurement], *, seed: int, resamples: int = RESAMPLES, level: float = LEVEL
) -> list[Interval]:
    """Return the percentile interval of each measurement over the same resampled test sets.

    Sentences are drawn with replacement, as many as there are (Koehn 2004 for BLEU); the figure of each
    sample is computed from the sums over what was drawn. A sample for which it is not defined is left out.

    Args:
        measurements: of the same sentences in the same order, so that all of them share the samples.
        seed: of the samples.
        resamples: how many.
        level: share of the samples inside the interval.
    """
    if not measurements:
        return []
    sentences = len(measurements[0].statistics)
    if not sentences:
        return [Interval(np.nan, np.nan)] * len(measurements)
    rng, stack = np.random.default_rng(seed), Stack(measurements)
    figures: list[list[Floats]] = [[] for _ in measurements]
    for begin in range(0, resamples, _CHUNK):
        # How often each sentence is drawn: the sums of a sample are then a product of matrices.
        drawn = rng.multinomial(
            sentences, np.full(sentences, 1 / sentences), min(_CHUNK, resamples - begin)
        ).astype(np.float64)
        for column, measurement, sums in zip(figures, measurements, stack.sums(drawn), strict=True):
            column.append(measurement.figure(sums))
    return [_interval(np.concatenate(column), level) for column in figures]


def _interval(figures: Floats, level: float) -> Interval:
    # A sample may have nothing to count, such as no tree at all.
    defined = figures[np.isfinite(figures)]
    if not defined.size:
        return Interval(np.nan, np.nan)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
