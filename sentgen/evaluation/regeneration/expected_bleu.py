"""Learn weights: those under which the expected BLEU of lists of candidates is highest.

A candidate c of a bag has values v(c), what each model and factor says of it, and under weights w the
probability p(c) = exp(w · v(c)) / sum over the candidates of that bag. The expected number of n-grams that
match is differentiable in w, and so is BLEU of the expected numbers, as all candidates of a bag are as long
(minimum risk: Smith and Eisner 2006; of corpus BLEU: Rosti et al. 2010, "expected BLEU"):

    maximize  1/4 * sum over n of log(sum over bags of E[matches of order n]) - penalty * |w - w0|^2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Floats, Longs

#: How far weights may leave those that they start from.
PENALTY = 1e-3


@dataclass(frozen=True, slots=True)
class Lists:
    """The candidates of all bags, one bag after the other."""

    values: Floats  # (C, F)
    matches: Floats  # (C, 4) n-grams of order 1 to 4 that match
    starts: Longs  # (B,) first candidate of each bag


def learn(lists: Lists, start: Floats, *, penalty: float = PENALTY) -> Floats:
    """Return (F,) weights, none below 0, from those to start with."""
    from scipy.optimize import minimize

    found = minimize(
        lambda weights: loss(lists, weights, start, penalty),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(start),
        options={"maxiter": 200},
    )
    return np.asarray(found.x, float)


def loss(lists: Lists, weights: Floats, start: Floats, penalty: float) -> tuple[float, Floats]:
    """Return what `learn` minimizes, and its gradient."""
    sizes = np.diff(np.append(lists.starts, len(lists.values)))
    scores = lists.values @ weights
    scores -= np.repeat(np.maximum.reduceat(scores, lists.starts), sizes)
    share = np.exp(scores)
    share /= np.repeat(np.add.reduceat(share, lists.starts), sizes)
    expected = share @ lists.matches
    # Of each candidate, what it adds to the logarithms of the expected numbers.
    gain = (lists.matches / np.maximum(expected, 1e-9)).sum(axis=1) / lists.matches.shape[1]
    mean = np.repeat(np.add.reduceat(share * gain, lists.starts), sizes)
    gradient = (share * (gain - mean)) @ lists.values
    value = float(np.log(np.maximum(expected, 1e-9)).mean())
    off = weights - start
    return penalty * float(off @ off) - value, 2 * penalty * off - gradient


def together(parts: Sequence[tuple[Floats, Floats]]) -> Lists:
    """Return the candidates of all bags from values and matches of each; bags without any are left out."""
    parts = [part for part in parts if len(part[0])]
    sizes = [len(values) for values, _ in parts]
    return Lists(
        np.concatenate([values for values, _ in parts]),
        np.concatenate([matches for _, matches in parts]),
        np.cumsum([0, *sizes[:-1]]),
    )
