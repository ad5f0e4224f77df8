"""Confidence intervals of means over a text in parts, such as documents.

The tokens of a document resemble each other, so that documents, not tokens, are the sample. With the sum y_d
of n_d numbers in each of D documents, the mean is m = sum y_d / sum n_d, its variance

    D / (D - 1) * sum (y_d - m n_d)^2 / (sum n_d)^2

(Cochran 1977, "Sampling techniques", section 6.3: the ratio estimate), and the interval of 95 % is m plus and
minus its square root times the quantile of t with D - 1 degrees of freedom, computed by the expansion of
Abramowitz and Stegun 1964, 26.7.5. For fewer than three documents there is no interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Floats, Ints, Longs

#: Parts that an interval needs at least.
_LEAST_PARTS = 3
_Z = 1.959963984540054
#: Coefficients of the quantile of t, as a polynomial in 1 / degrees of freedom.
_T = (
    _Z,
    (_Z**3 + _Z) / 4,
    (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
    (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
    (79 * _Z**9 + 776 * _Z**7 + 1482 * _Z**5 - 1920 * _Z**3 - 945 * _Z) / 92160,
)

_SQL_T = " + ".join(f"{coefficient!r} / (parts - 1) ** {power}" for power, coefficient in enumerate(_T))
#: Means and intervals by keys. A row of ``counted`` has the sum ``value`` of ``valued`` numbers in a part.
MEANS = f"""\
  select {{keys}}, mean, mean - reach as mean_low, mean + reach as mean_high
  from (
    select {{keys}}, sum(value) / sum(valued) as mean, count(*) as parts,
      case when parts >= {_LEAST_PARTS} then ({_SQL_T})
        * sqrt(parts / (parts - 1) * greatest(
          sum(value ** 2) - 2 * mean * sum(value * valued) + mean ** 2 * sum(valued::double ** 2), 0
        )) / sum(valued) end as reach
    from counted
    where valued > 0
    group by {{keys}}
  )"""


def means_of(groups: Longs, values: Floats, valued: Floats, size: int) -> dict[str, Floats]:
    """Return the means of groups and the ends of their intervals, NaN where there is none.

    A row has the index of a group of ``size``, and for a part of the text the sum of the group's numbers in
    ``values``, and how many there are in ``valued``.
    """
    of_parts = _of_parts(values, valued)
    sums = np.array([np.bincount(groups, numbers, size).astype(np.float64) for numbers in of_parts])
    return dict(zip(("mean", "mean_low", "mean_high"), _intervals(sums), strict=True))


def _of_parts(y: Floats, n: Floats) -> list[Floats]:
    """Return the terms to sum over parts: 1 if the part has numbers, else 0; y, n, y^2, y n and n^2."""
    return [(n > 0).astype(float), y, n, y * y, y * n, n * n]


def _intervals(sums: Floats) -> tuple[Floats, Floats, Floats]:
    parts, y, n, yy, yn, nn = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = y / n
        squares = np.maximum(yy - 2 * mean * yn + mean**2 * nn, 0)
        half_width = _t_quantile(parts - 1) * np.sqrt(parts / (parts - 1) * squares) / n
        half_width = np.where(parts < _LEAST_PARTS, np.nan, half_width)
    return mean, mean - half_width, mean + half_width


def _t_quantile(degrees: Floats) -> Floats:
    """Return the two-sided 95 % quantiles of t for degrees of freedom.

    >>> _t_quantile(np.array([10.0, 1000.0])).round(3).tolist()
    [2.228, 1.962]
    """
    quantile: Floats = np.sum([coefficient / degrees**power for power, coefficient in enumerate(_T)], axis=0)
    return quantile


def in_order(first: float, others: Floats) -> float:
    """Add numbers up one after the other, as a loop does: `np.sum` adds in pairs, with another last digit."""
    return float(np.cumsum(np.append(first, others))[-1])


@dataclass(slots=True)
class RatioSums:
    """Sums over parts, from which the mean of numbers and its confidence interval are computed."""

    _sums: tuple[float, ...] = (0.0,) * 6

    def add(self, y: float, n: float) -> None:
        """Add a part with the sum y of n numbers; without numbers, it is not counted as a part."""
        # The terms of `_of_parts`, without arrays: a text has many parts, as each sentence is one.
        parts, ys, ns, yy, yn, nn = self._sums
        self._sums = parts + (n > 0), ys + y, ns + n, yy + y * y, yn + y * n, nn + n * n

    def add_all(self, y: Floats, n: Ints | Floats) -> None:
        """Add parts, each with the sum y of n numbers."""
        self._sums = tuple(map(in_order, self._sums, _of_parts(y, n.astype(float))))

    @property
    def parts(self) -> int:
        """How many parts with numbers were counted."""
        return int(self._sums[0])

    @property
    def interval(self) -> tuple[float, float, float]:
        """Return the mean and the ends of its interval, NaN where there is none."""
        mean, low, high = map(float, _intervals(np.array(self._sums)))
        return mean, low, high
