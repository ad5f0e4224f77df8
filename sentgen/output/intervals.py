"""The interval of a share.

That of Wilson 1927, "Probable inference, the law of succession, and statistical inference": with
p = count / n and z = 1.96 (95 %) ::

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
"""

from __future__ import annotations

import math

Z = 1.959963984540054


def wilson(count: int, of: float) -> tuple[float, float]:
    """Return between what a share lies with 95 %: that of so many in so many.

    >>> tuple(round(value, 3) for value in wilson(5, 10))
    (0.237, 0.763)
    """
    share, weight = count / of, Z * Z / of
    middle = (share + weight / 2) / (1 + weight)
    side = Z * math.sqrt(share * (1 - share) / of + weight / (4 * of)) / (1 + weight)
    # What never occurs has no share below zero, whatever is rounded; nor has what always occurs one above 1.
    low = max(middle - side, 0.0) if count else 0.0
    return low, min(middle + side, 1.0) if count < of else 1.0
