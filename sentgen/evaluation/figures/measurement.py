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
class Score:
    """A figure, what it is called, and how it was computed."""

    metric: str
    value: float
    signature: str


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

    @property
    def score(self) -> Score:
        """Return the figure with its name and signature."""
        return Score(self.metric, self.value, self.signature)

    def of(self, sentences: Sequence[int] | npt.NDArray[np.intp] | Bools) -> Measurement:
        """Return the same metric of some of the sentences."""
        # The figure of sums is the same for any set: nothing is counted again.
        return Measurement(self.metric, self.signature, self.statistics[sentences], self.figure)


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
