"""Is one system better than another? Two tests on a figure of the whole set, for every pair of systems.

Sign test with the sampling method of Collins, Koehn and Kucerova (2005, "Clause restructuring for statistical
machine translation"), which Wan et al. 2007 and 2009 used. BLEU has no values of single sentences that would
have signs to count. So the output of the baseline, here the system with the lower figure, is taken as it is
but for one sentence, which is taken from the other system, and the figure of the whole set is computed again:
higher is a plus, lower a minus, and as it was is neither. Under the null hypothesis a plus is as likely as a
minus; the test is exact (binomial) and two-sided. It counts sentences and not how much they differ by, so
that it can speak against the system with the higher figure: look at the pluses and minuses, too.

Approximate randomization (Noreen 1989; Riezler and Maxwell 2005 for BLEU): if the systems were one and the
same, their outputs for a sentence could be exchanged. So they are, each with probability 1/2, and p is the
share of such shuffles whose difference is at least as great as the real one: (c + 1) / (N + 1), two-sided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sentgen.arrays import Floats
from sentgen.evaluation.figures.measurement import Measurement, Stack

SHUFFLES = 10_000
#: Shuffles at a time, which bounds the matrix of coins.
_CHUNK = 1000
#: Differences of figures below this are rounding.
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Two systems: the figure of ``better`` is higher by ``difference``, or as high.

    ``pluses``, ``minuses`` and ``equal`` count the sentences that improve ``worse``, spoil it or leave it as
    it is when they are taken from ``better``. ``holm`` is ``shuffle_p`` adjusted for the number of pairs.
    """

    worse: str
    better: str
    metric: str
    difference: float
    pluses: int
    minuses: int
    equal: int
    sign_p: float
    shuffle_p: float
    holm: float


def compare_all(
    systems: Mapping[str, Measurement], *, seed: int, shuffles: int = SHUFFLES
) -> list[SystemComparison]:
    """Compare every pair of systems, the pairs in the order of the systems.

    Args:
        systems: the same metric of the same sentences for each system.
        seed: of the shuffles, which all pairs share.
        shuffles: how many.
    """
    pairs = [_ranked(systems, *pair) for pair in combinations(systems, 2)]
    # All pairs at once: they share the coins, and with them the sums of each system.
    shuffled = randomization_tests(systems, pairs, seed=seed, shuffles=shuffles)
    return [
        _comparison(systems, worse, better, p, adjusted)
        for (worse, better), p, adjusted in zip(pairs, shuffled, holm(shuffled), strict=True)
    ]


def _comparison(
    systems: Mapping[str, Measurement], worse: str, better: str, shuffle_p: float, adjusted: float
) -> SystemComparison:
    low, high = systems[worse], systems[better]
    pluses, minuses, sign_p = sign_test(low, high)
    return SystemComparison(
        worse=worse,
        better=better,
        metric=low.metric,
        difference=high.value - low.value,
        pluses=pluses,
        minuses=minuses,
        equal=len(low.statistics) - pluses - minuses,
        sign_p=sign_p,
        shuffle_p=shuffle_p,
        holm=adjusted,
    )


def _ranked(systems: Mapping[str, Measurement], first_name: str, second_name: str) -> tuple[str, str]:
    """Return the system with the lower figure first; of equals the one whose name sorts first."""
    first, second = sorted((first_name, second_name), key=lambda name: (systems[name].value, name))
    return first, second


def sign_test(baseline: Measurement, other: Measurement) -> tuple[int, int, float]:
    """Return the pluses, the minuses and p of the sign test with the sampling method of Collins et al. 2005.

    Sentences for which nothing changes are left out of the test; without others p is 1.
    """
    total = baseline.statistics.sum(axis=0)
    # Row s: the whole set with sentence s taken from the other system.
    replaced = baseline.figure(total - baseline.statistics + other.statistics)
    change = replaced - baseline.figure(total)
    pluses, minuses = int(np.sum(change > _EQUAL)), int(np.sum(change < -_EQUAL))
    return pluses, minuses, min(1.0, 2 * _tail(min(pluses, minuses), pluses + minuses))


def _tail(heads: int, coins: int) -> float:
    """Return the probability of at most so many heads: an exact quotient of whole numbers, rounded once."""
    ways, total = 1, 1
    for k in range(heads):
        ways = ways * (coins - k) // (k + 1)
        total += ways
    return total / (1 << coins)


def randomization_tests(
    systems: Mapping[str, Measurement],
    pairs: Sequence[tuple[str, str]],
    *,
    seed: int,
    shuffles: int = SHUFFLES,
) -> list[float]:
    """Return p of approximate randomization for each pair; all pairs exchange the same sentences."""
    if not pairs:
        return []
    sentences = len(next(iter(systems.values())).statistics)
    rng, stack = np.random.default_rng(seed), Stack(list(systems.values()))
    as_great = np.zeros(len(pairs), np.int64)
    for begin in range(0, shuffles, _CHUNK):
        exchanged = _coins(rng, min(_CHUNK, shuffles - begin), sentences)
        taken = dict(zip(systems, stack.sums(exchanged), strict=True))
        as_great += [
            _as_great(systems[one], systems[other], taken[other] - taken[one]) for one, other in pairs
        ]
    # The real order counts as one of the shuffles, so that p is never 0.
    return [(int(count) + 1) / (shuffles + 1) for count in as_great]


def _coins(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    """Return 0 and 1, each with probability 1/2; eight to a random byte."""
    drawn = rng.integers(0, 256, (rows, -(-columns // 8)), np.uint8)
    return np.unpackbits(drawn, axis=1, count=columns).astype(np.float64)


def _as_great(first_system: Measurement, second_system: Measurement, moved: Floats) -> int:
    """Count the shuffles that differ by at least as much as the systems do.

    ``moved``, (shuffles, k), is what each shuffle takes from the sums of ``other`` and gives to ``one``.
    """
    first, second = first_system.statistics.sum(axis=0), second_system.statistics.sum(axis=0)
    differences = np.abs(first_system.figure(first + moved) - second_system.figure(second - moved))
    # Less a little: the sums were added in another order than the real ones.
    return int(np.sum(differences >= abs(first_system.value - second_system.value) - _EQUAL))


def holm(values: Sequence[float]) -> list[float]:
    """Adjust the p-values of a family of tests so that one false alarm in it stays improbable (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order: npt.NDArray[np.intp] = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    # Never below the one before it: a greater p must not become the surer one.
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.asarray(values)[order] * factors))
    return [float(value) for value in adjusted]
