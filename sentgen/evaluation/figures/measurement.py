"""A figure of a test set as a function of sums over its sentences.

BLEU, chrF, accuracies and means are all computed from numbers that are summed over the sentences first. With
these numbers at hand, a sentence a row, resampling is cheap: intervals (`bootstrap`) and tests
(`significance`) sum other rows and compute the figure again, for thousands of samples in one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sentgen.arrays import Bools, Floats

Figure = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One metric of one system: ``statistics`` is (sentences, k), what the figure sums."""

    metric: str
    signature: str
    statistics: Floats = field(repr=False)
    figure: Figure = field(repr=False)

    @property
    def value(self) -> float:
        """Return the figure of the whole set."""
        return float(self.figure(self.statistics.sum(axis=0)))

    def of(self, sentences: Sequence[int] | npt.NDArray[np.intp] | Bools) -> Measurement:
        """Return the same metric of some of the sentences."""
        # The figure of sums is the same for any set: nothing is counted again.
        return Measurement(self.metric, self.signature, self.statistics[sentences], self.figure)

    @staticmethod
    def mean(metric: str, signature: str, values: Sequence[float]) -> Measurement:
        """Return the mean of some values; NaN of none."""
        return Measurement(metric, signature, np.array([(value, 1) for value in values], np.float64), ratio)


class Stack:
    """Measurements of the same sentences side by side, so that one product of matrices sums all of them."""

    def __init__(self, measurements: Sequence[Measurement]) -> None:
        self._measurements = measurements
        self._statistics = np.hstack([measurement.statistics for measurement in measurements])

    def sums(self, weights: Floats) -> list[Floats]:
        """Return for each measurement the sums, (samples, k); ``weights`` is (samples, sentences)."""
        widths = [measurement.statistics.shape[1] for measurement in self._measurements]
        return np.split(weights @ self._statistics, np.cumsum(widths)[:-1], axis=1)


def ratio(sums: Floats) -> Floats:
    """Return the first sum divided by the second one; NaN where that is 0. The figure of every accuracy."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan), np.float64)


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
