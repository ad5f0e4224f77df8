"""Intervals of means over a text that falls into parts, such as documents.

The tokens of a document resemble each other, so that not they vary by chance, but documents do. With sums
y_d of n_d numbers in each of D documents, the mean is m = sum y_d / sum n_d, its variance

    D / (D - 1) * sum (y_d - m n_d)^2 / (sum n_d)^2

(Cochran 1977, "Sampling techniques", section 6.3: the ratio estimate), and the interval of 95 % reaches as
far as t with D - 1 degrees of freedom has it, by the expansion of Abramowitz and Stegun 1964, 26.7.5. Of
fewer than three documents there is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # frequency lists do without arrays
    from sentgen.arrays import Floats, Ints, Longs

#: Parts that an interval needs.
LEAST_PARTS = 3
_Z = 1.959963984540054
#: The expansion of t in 1 / degrees of freedom.
_T = (
    _Z,
    (_Z**3 + _Z) / 4,
    (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
    (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
    (79 * _Z**9 + 776 * _Z**7 + 1482 * _Z**5 - 1920 * _Z**3 - 945 * _Z) / 92160,
)

_SQL_T = " + ".join(f"{one!r} / (parts - 1) ** {power}" for power, one in enumerate(_T))
#: Means and intervals by keys, of rows ``counted`` for parts with the sum ``value`` of ``valued`` numbers.
MEANS = f"""\
  select {{keys}}, mean, mean - reach as mean_low, mean + reach as mean_high
  from (
    select {{keys}}, sum(value) / sum(valued) as mean, count(*) as parts,
      case when parts >= {LEAST_PARTS} then ({_SQL_T})
        * sqrt(parts / (parts - 1) * greatest(
          sum(value ** 2) - 2 * mean * sum(value * valued) + mean ** 2 * sum(valued::double ** 2), 0
        )) / sum(valued) end as reach
    from counted
    where valued > 0
    group by {{keys}}
  )"""


def means_of(groups: Longs, values: Floats, valued: Floats, size: int) -> dict[str, Floats]:
    """Return the means of groups and the ends of their intervals, NaN where there is none.

    Args:
        groups: the group, numbered from 0, that the sums of a part are of.
        values: the sum of the numbers in the part.
        valued: how many numbers these are.
        size: how many groups there are.
    """
    import numpy as np

    def added(numbers: Floats) -> Floats:
        return np.bincount(groups, numbers, size).astype(np.float64)

    with np.errstate(divide="ignore", invalid="ignore"):
        parts, n = added((valued > 0).astype(float)), added(valued)
        mean = added(values) / n
        squares = added(values**2) - 2 * mean * added(values * valued) + mean**2 * added(valued**2)
        quantile = sum(one / (parts - 1) ** power for power, one in enumerate(_T))
        reach = quantile * np.sqrt(parts / (parts - 1) * np.maximum(squares, 0)) / n
    reach[parts < LEAST_PARTS] = np.nan
    return {"mean": mean, "mean_low": mean - reach, "mean_high": mean + reach}


def t_quantile(degrees: int) -> float:
    """Return how far 95 % of t reach to both sides.

    >>> round(t_quantile(10), 3), round(t_quantile(1000), 3)
    (2.228, 1.962)
    """
    return math.fsum(one / float(degrees) ** power for power, one in enumerate(_T))


@dataclass(slots=True)
class RatioSums:
    """Sums over parts, from which the mean of numbers and its interval follow.

    ``y`` is the sum of the numbers of a part, ``n`` how many it has.
    """

    parts: int = 0
    y: float = 0.0
    n: float = 0.0
    yy: float = 0.0
    yn: float = 0.0
    nn: float = 0.0

    def add(self, y: float, n: float) -> None:
        """Count a part; one without numbers is none."""
        if n:
            self.parts += 1
            self.y, self.n = self.y + y, self.n + n
            self.yy, self.yn, self.nn = self.yy + y * y, self.yn + y * n, self.nn + n * n

    def add_all(self, y: Floats, n: Ints) -> None:
        """Count parts, each with numbers."""
        sizes = n.astype(float)
        self.parts += len(y)
        self.y, self.n = self.y + float(y.sum()), self.n + float(sizes.sum())
        # Not with @, whose threads take longer to start than the sums.
        self.yy, self.yn = self.yy + float((y * y).sum()), self.yn + float((y * sizes).sum())
        self.nn += float((sizes * sizes).sum())

    @property
    def interval(self) -> tuple[float, float, float]:
        """Return the mean and the ends of its interval, NaN where there is none."""
        if not self.parts:
            return math.nan, math.nan, math.nan
        mean = self.y / self.n
        if self.parts < LEAST_PARTS:
            return mean, math.nan, math.nan
        squares = max(self.yy - 2 * mean * self.yn + mean * mean * self.nn, 0.0)
        reach = t_quantile(self.parts - 1) * math.sqrt(self.parts / (self.parts - 1) * squares) / self.n
        return mean, mean - reach, mean + reach
