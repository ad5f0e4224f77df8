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

Floats = npt.NDArray[np.float64]
#: From sums, (..., k) float64, to figures, (...) float64.
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

    def of(self, sentences: Sequence[int] | npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Measurement:
        """Return the same metric of some of the sentences."""
        return Measurement(self.metric, self.signature, self.statistics[sentences], self.figure)


def ratio(sums: Floats) -> Floats:
    """Return the first sum divided by the second one; NaN where that is 0. The figure of every accuracy."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan), np.float64)
