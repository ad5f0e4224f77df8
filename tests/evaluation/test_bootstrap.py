"""Intervals: against sampling sentence by sentence, and against the normal approximation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bleu_scores import measured

from sentgen.evaluation.figures.measurement import Interval, Measurement, intervals, ratio

RNG = np.random.default_rng(3)
OUTPUTS = [" ".join(RNG.permutation(list("abcdefg")[: RNG.integers(2, 7)])) for _ in range(60)]
REFERENCES = [" ".join(sorted(text.split())) for text in OUTPUTS]


def share(hits: int, size: int) -> Measurement:
    """Return the measurement of an accuracy."""
    statistics = np.ones((size, 2))
    statistics[hits:, 0] = 0
    return Measurement("share", "", statistics, ratio)


def test_interval_of_a_share() -> None:
    """Half of 400: 0.5 plus and minus 1.96 standard errors of sqrt(0.25 / 400) = 0.025."""
    (found,) = intervals([share(200, 400)], seed=1)

    assert (found.low, found.high) == pytest.approx((0.451, 0.549), abs=0.006)


def test_interval_of_bleu_is_that_of_drawing_texts() -> None:
    """Sampling the sentences themselves and scoring each sample gives the same interval, up to chance."""
    measurement = measured(OUTPUTS, REFERENCES)[0]
    rng = np.random.default_rng(7)
    values = []
    for _ in range(200):
        drawn = rng.integers(0, len(OUTPUTS), len(OUTPUTS))
        values.append(measured([OUTPUTS[i] for i in drawn], [REFERENCES[i] for i in drawn])[0].value)
    (found,) = intervals([measurement], seed=1)
    width = found.high - found.low

    assert found.low == pytest.approx(np.quantile(values, 0.025), abs=0.2 * width)
    assert found.high == pytest.approx(np.quantile(values, 0.975), abs=0.2 * width)
    assert found.low < measurement.value < found.high


def test_same_seed_same_interval() -> None:
    """The same seed gives the same interval, another seed another; all measurements share the samples."""
    measurement = measured(OUTPUTS, REFERENCES)[0]

    one, twice = intervals([measurement, measurement], seed=1)
    assert one == twice == intervals([measurement], seed=1)[0]
    assert one != intervals([measurement], seed=2)[0]


def test_certain_and_undefined_figures() -> None:
    """A constant figure has an interval without width, an undefined figure has none."""
    assert intervals([share(5, 5)], seed=1) == [Interval(1.0, 1.0)]
    assert intervals([], seed=1) == []
    nothing = Measurement("share", "", np.zeros((3, 2)), ratio)
    for empty in (nothing, nothing.of([])):
        assert all(math.isnan(value) for value in vars_of(intervals([empty], seed=1)[0]))


def vars_of(interval: Interval) -> tuple[float, float]:
    """Return both ends."""
    return interval.low, interval.high
