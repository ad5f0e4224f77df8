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

import numpy as np

from sentgen.arrays import Floats

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

_SQL_T = " + ".join(f"{one:.6f} / (parts - 1) ** {power}" for power, one in enumerate(_T))
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


def t_quantile(degrees: int) -> float:
    """Return how far 95 % of t reach to both sides.

    >>> round(t_quantile(10), 3), round(t_quantile(1000), 3)
    (2.228, 1.962)
    """
    return math.fsum(one / float(degrees) ** power for power, one in enumerate(_T))


def mean_interval(sums: Floats, sizes: Floats) -> tuple[float, float, float]:
    """Return the mean of numbers and the ends of its interval, NaN where there is none.

    Args:
        sums: of the numbers of each part.
        sizes: how many numbers each part has.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    parts, total = len(sizes), float(sizes.sum())
    if not parts:
        return math.nan, math.nan, math.nan
    mean = float(sums.sum()) / total
    if parts < LEAST_PARTS:
        return mean, math.nan, math.nan
    squares = float(np.square(sums - mean * sizes).sum())
    reach = t_quantile(parts - 1) * math.sqrt(parts / (parts - 1) * squares) / total
    return mean, mean - reach, mean + reach
