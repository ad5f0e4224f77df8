"""Logarithms of probabilities: natural inside, decimal for reading, and both by name for programs.

A table has the decimal one as `log10`, or `log10_NAME`, and beside it the natural one under the name that the
store and the functions have for it.
"""

from __future__ import annotations

import math

LN10 = math.log(10)

#: Columns of tables with natural logarithms, each of which stands beside its decimal one.
NATURAL = frozenset({"logp", "score", "weight", "backoff", "total", "log_likelihood", "log_posterior"})


def decimal(natural: float) -> float:
    """Return a decimal logarithm.

    >>> decimal(-2.302585092994046)
    -1.0
    """
    return natural / LN10


def natural(decimal: float) -> float:
    """Return a natural logarithm."""
    return decimal * LN10
