"""Figures of a test set as functions of sums over its sentences; their intervals, and tests between systems.

BLEU, chrF, accuracies and means are all computed from numbers that are summed over the sentences first. With
a row of these numbers for each sentence, resampling is cheap: intervals (bootstrap) and tests sum other rows
and compute the figure again, for thousands of samples in one matrix product. Each pair of systems has two
tests of a figure of the whole set.

Sign test with the sampling method of Collins, Koehn and Kucerova (2005, "Clause restructuring for statistical
machine translation"), which Wan et al. 2007 and 2009 used. BLEU has no values of single sentences whose signs
could be counted. So one sentence of the output of the baseline, here the system with the lower figure, is
replaced by that of the other system, and the figure of the whole set is computed again: a higher figure is a
plus, a lower one a minus, an equal one neither. Under the null hypothesis a plus is as likely as a minus; the
test is exact (binomial) and two-sided. It counts sentences, not the size of differences, so that it can favor
the system with the lower figure: compare pluses and minuses, too.

Approximate randomization (Noreen 1989; Riezler and Maxwell 2005 for BLEU): if the systems were the same,
their outputs for a sentence could be exchanged. A shuffle exchanges each with probability 1/2, and p is the
share of shuffles whose difference is at least as great as the real one: (c + 1) / (N + 1), two-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sentgen.arrays import Bools, Floats

Figure = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One metric of one system; the figure is a function of the sums of ``statistics``, (sentences, k)."""

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
        # The figure is the same function of sums for any set: nothing is counted again.
        return Measurement(self.metric, self.signature, self.statistics[sentences], self.figure)

    @staticmethod
    def mean(metric: str, signature: str, values: Sequence[float]) -> Measurement:
        """Return the mean of some values; NaN of none."""
        return Measurement(metric, signature, np.array([(value, 1) for value in values], np.float64), ratio)

    def sign_test(self, other: Measurement) -> tuple[int, int, float]:
        """Return pluses, minuses and p of the sign test with the sampling method of Collins et al. 2005.

        Sentences that do not change the figure are left out of the test; without others p is 1.
        """
        total = self.statistics.sum(axis=0)
        # Row s: the whole set with sentence s taken from the other system.
        replaced = self.figure(total - self.statistics + other.statistics)
        change = replaced - self.figure(total)
        pluses, minuses = int(np.sum(change > _EQUAL)), int(np.sum(change < -_EQUAL))
        return pluses, minuses, min(1.0, 2 * _tail(min(pluses, minuses), pluses + minuses))


class _Stack:
    """Measurements of the same sentences, stacked so that one matrix product sums all of them."""

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
_RESAMPLES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval of the figure in the middle ``level`` of the resampled test sets."""

    low: float
    high: float


def intervals(
    measurements: Sequence[Measurement], *, seed: int, resamples: int = RESAMPLES, level: float = LEVEL
) -> list[Interval]:
    """Return the percentile interval of each measurement over the same resampled test sets.

    Sentences are drawn with replacement, as many as there are (Koehn 2004 for BLEU); the figure of each
    sample is computed from the sums over what was drawn. A sample for which the figure is undefined is left
    out.

    Args:
        measurements: measurements of the same sentences in the same order, so that all of them share the
            samples.
        seed: seed of the samples.
        resamples: number of samples.
        level: share of the samples inside the interval.
    """
    if not measurements:
        return []
    sentences = len(measurements[0].statistics)
    if not sentences:
        return [Interval(np.nan, np.nan)] * len(measurements)
    rng, stack = np.random.default_rng(seed), _Stack(measurements)
    figures: list[list[Floats]] = [[] for _ in measurements]
    for begin in range(0, resamples, _RESAMPLES_AT_ONCE):
        # The number of draws of each sentence, so that the sums of all samples are a matrix product.
        drawn = rng.multinomial(
            sentences, np.full(sentences, 1 / sentences), min(_RESAMPLES_AT_ONCE, resamples - begin)
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


SHUFFLES = 10_000
#: Shuffles at a time, which bounds the matrix of coins.
_SHUFFLES_AT_ONCE = 1000
#: Differences of figures below this are rounding.
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Two systems: the figure of ``better`` is higher by ``difference``, or as high.

    ``pluses``, ``minuses`` and ``equal`` count the sentences that improve ``worse``, spoil it or leave it as
    it is when they are taken from ``better``. ``holm`` is ``shuffle_p`` adjusted for the number of pairs.
    """

    worse: str
    better: str
    metric: str
    difference: float
    pluses: int
    minuses: int
    equal: int
    sign_p: float
    shuffle_p: float
    holm: float


def compare_all(
    systems: Mapping[str, Measurement], *, seed: int, shuffles: int = SHUFFLES
) -> list[SystemComparison]:
    """Compare every pair of systems, the pairs in the order of the systems.

    All pairs share the shuffles; systems have the same metric of the same sentences.
    """
    pairs = [_ranked(systems, *pair) for pair in combinations(systems, 2)]
    # All pairs at once: they share the coins, and with them the sums of each system.
    shuffled = randomization_tests(systems, pairs, seed=seed, shuffles=shuffles)
    return [
        _comparison(systems, worse, better, p, adjusted)
        for (worse, better), p, adjusted in zip(pairs, shuffled, holm(shuffled), strict=True)
    ]


def _comparison(
    systems: Mapping[str, Measurement], worse: str, better: str, shuffle_p: float, adjusted: float
) -> SystemComparison:
    low, high = systems[worse], systems[better]
    pluses, minuses, sign_p = low.sign_test(high)
    return SystemComparison(
        worse=worse,
        better=better,
        metric=low.metric,
        difference=high.value - low.value,
        pluses=pluses,
        minuses=minuses,
        equal=len(low.statistics) - pluses - minuses,
        sign_p=sign_p,
        shuffle_p=shuffle_p,
        holm=adjusted,
    )


def _ranked(systems: Mapping[str, Measurement], first_name: str, second_name: str) -> tuple[str, str]:
    """Return the system with the lower figure first; ties go to the name that sorts first."""
    first, second = sorted((first_name, second_name), key=lambda name: (systems[name].value, name))
    return first, second


def _tail(heads: int, coins: int) -> float:
    """Return the probability of at most ``heads`` heads: a quotient of whole numbers, rounded once."""
    ways, total = 1, 1
    for k in range(heads):
        ways = ways * (coins - k) // (k + 1)
        total += ways
    return total / (1 << coins)


def randomization_tests(
    systems: Mapping[str, Measurement],
    pairs: Sequence[tuple[str, str]],
    *,
    seed: int,
    shuffles: int = SHUFFLES,
) -> list[float]:
    """Return p of approximate randomization for each pair; all pairs exchange the same sentences."""
    if not pairs:
        return []
    sentences = len(next(iter(systems.values())).statistics)
    rng, stack = np.random.default_rng(seed), _Stack(list(systems.values()))
    as_great = np.zeros(len(pairs), np.int64)
    for begin in range(0, shuffles, _SHUFFLES_AT_ONCE):
        # Eight coins to a random byte.
        size = min(_SHUFFLES_AT_ONCE, shuffles - begin), -(-sentences // 8)
        coins = np.unpackbits(rng.integers(0, 256, size, np.uint8), axis=1, count=sentences)
        taken = dict(zip(systems, stack.sums(coins.astype(np.float64)), strict=True))
        as_great += [
            _as_great(systems[one], systems[other], taken[other] - taken[one]) for one, other in pairs
        ]
    # The real order counts as one of the shuffles, so that p is never 0.
    return [(int(count) + 1) / (shuffles + 1) for count in as_great]


def _as_great(first_system: Measurement, second_system: Measurement, moved: Floats) -> int:
    """Count the shuffles that differ by at least as much as the systems do.

    ``moved``, (shuffles, k), is added to the sums of the first system and subtracted from those of the other.
    """
    first, second = first_system.statistics.sum(axis=0), second_system.statistics.sum(axis=0)
    differences = np.abs(first_system.figure(first + moved) - second_system.figure(second - moved))
    # With a tolerance: the sums were added in another order than the real ones.
    return int(np.sum(differences >= abs(first_system.value - second_system.value) - _EQUAL))


def holm(values: Sequence[float]) -> list[float]:
    """Adjust the p-values of a family of tests so that one false alarm in it stays improbable (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order: npt.NDArray[np.intp] = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    # Monotone: the adjusted value of a greater p is never smaller.
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.asarray(values)[order] * factors))
    return [float(value) for value in adjusted]
