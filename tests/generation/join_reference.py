"""The reference of `join`: how well two strings join, as the paper writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: log p(word | words before).
Probability = Callable[[Sequence[int], int], float]


def join_logp(logp: Probability, left: Sequence[int], right: Sequence[int], order: int) -> float:
    """Return equation 3 for two strings; ``logp(context, word)``. The readable reference of `window_logp`."""
    window = [*left[-(order - 1) :], *right[: order - 1]] if order > 1 else [left[-1], right[0]]
    j = len(window) - 1
    k = min(order - 1, j)
    return sum(logp(window[i : i + k], window[i + k]) for i in range(j - k + 1)) if j else 0.0
