"""Interpolated modified Kneser-Ney smoothing, as KenLM's lmplz estimates it.

Chen and Goodman 1998 ("An empirical study of smoothing techniques for language modeling", section 4.1.6 and
eq. 26), Heafield et al. 2013 ("Scalable modified Kneser-Ney language model estimation"). With a(g) the
adjusted count of an n-gram g (its count where g is of the highest order or begins with <s>, else the number
of different words before it), c a context, c' the context without its first word, and D(1), D(2), D(3+) the
discounts of the order:

    p(w | c) = (a(c w) - D(a(c w))) / sum_v a(c v) + gamma(c) p(w | c')
    gamma(c) = (sum_v D(a(c v)) + adjusted counts of the pruned c v) / sum_v a(c v)

The recursion ends in the uniform distribution over the vocabulary: <unk> and </s> included, <s> not. What is
pruned is still in the sums and in the counts of counts, and its mass goes to the lower order.

lmplz differs in one detail that we do not copy: for the very last n-gram of each order it takes the count
in place of the adjusted count into the counts of counts. On any real text that changes nothing it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Floats, Ints, Space, compiled
from sentgen.models.building.rows import NgramRows

#: Discounts where the counts of counts give none, those of ``lmplz --discount_fallback``.
FALLBACK = (0.5, 1.0, 1.5)

Parameters = list[tuple[int, str, float]]
Progress = Callable[[str], None]


def estimate_discounts(n1: int, n2: int, n3: int, n4: int) -> tuple[float, float, float] | None:
    """Return D1, D2 and D3+ from the counts of counts (Chen and Goodman 1998, eq. 26).

    ``None`` if one of n1 to n3 is zero or a discount leaves the range from 0 to its count, as in lmplz.

    >>> estimate_discounts(4, 2, 1, 1)
    (0.5, 1.25, 1.0)
    """
    if 0 in (n1, n2, n3):
        return None
    y = n1 / (n1 + 2 * n2)
    counts = (n1, n2, n3, n4)
    discounts = [j - (j + 1) * y * counts[j] / counts[j - 1] for j in (1, 2, 3)]
    if any(not 0 <= discount <= j for j, discount in enumerate(discounts, start=1)):
        return None
    return discounts[0], discounts[1], discounts[2]


def estimated(n: int, counts: Sequence[int]) -> tuple[Parameters, Floats]:
    """Estimate the discounts of an order from its counts of counts n1 to n4.

    Returns:
        The parameters to record, and (4,) discounts of the adjusted counts 0 (always 0), 1, 2, and 3 or more.
    """
    discounts = estimate_discounts(*counts)
    parameters = [(n, f"n{r}", float(value)) for r, value in enumerate(counts, start=1)]
    parameters += [(n, f"d{r}", value) for r, value in enumerate(discounts or FALLBACK, start=1)]
    if discounts is None:
        parameters.append((n, "fallback", 1.0))
    return parameters, np.array([0.0, *(discounts or FALLBACK)])


def smooth(
    connection: Connection,
    *,
    order: int,
    min_count: Sequence[int],
    unknown: bool,
    space: Space,
    progress: Progress,
) -> tuple[list[NgramRows], Parameters]:
    """Smooth the temporary tables ``counted_1`` and up.

    Args:
        connection: where the tables are.
        min_count: lowest count that is kept, per order, not falling.
        unknown: whether <unk> gets its share of the uniform distribution.
        progress: called with one line a step.

    Returns:
        The n-grams by order, with their probabilities and back-off weights; and by order: counts of counts
        ``n1`` to ``n4``, discounts ``d1`` to ``d3``, and ``fallback`` 1 where the discounts are `FALLBACK`.
    """
    progress("reading order 1")
    orders = [NgramRows.read_unigrams(connection, min_count[0], unknown, space)]
    parameters: Parameters = []
    for n in range(2, order + 1):
        progress(f"reading order {n}")
        orders.append(NgramRows.read_rows(connection, orders[-1], min_count[n - 1], space))
        progress(f"smoothing order {n - 1}")
        _adjust(orders[-2], orders[-1], space)
        parameters += estimate_and_interpolate(orders[:-1], space)
    progress(f"smoothing order {order}")
    parameters += estimate_and_interpolate(orders, space)
    orders[0].value[orders[0].begins[0]] = 1.0  # <s> is always there
    return orders, sorted(parameters)


def _adjust(rows: NgramRows, longer: NgramRows, space: Space) -> None:
    """Replace counts by adjusted counts: each longer n-gram adds one different word before its suffix."""
    start, end = rows.begins
    rows.value[:start] = 0
    rows.value[end:] = 0
    for start, end in longer.blocks():
        _count(longer.suffix[start:end], rows.value)
        space.relax()


def estimate_and_interpolate(orders: Sequence[NgramRows], space: Space) -> Parameters:
    """Replace the adjusted counts of the last order by probabilities, and set the weights of the contexts."""
    rows = orders[-1]
    parameters, steps = estimated(rows.n, rows.counts_of(4))
    if len(orders) > 1:
        lower = orders[-2].value
        weight = orders[-2].weight = space.array(len(lower), np.float64)
    else:
        known = rows.kept.copy()
        known[rows.begins[0]] = False
        lower, weight = np.array([1 / np.count_nonzero(known)]), np.empty(1)
    interpolate(rows, lower, weight, steps, space)
    return parameters


def interpolate(rows: NgramRows, lower: Floats, weight: Floats, discounts: Floats, space: Space) -> None:
    """Replace adjusted counts by probabilities, block by block; the arguments are those of `_interpolate`."""
    for start, end in rows.spans():
        _interpolate(
            rows.first[start : end + 1],
            rows.value,
            rows.kept,
            rows.suffix,
            lower,
            weight[start:end],
            discounts,
        )
        space.relax()


@compiled
def _count(rows: Ints, counts: Floats) -> None:
    for row in rows:
        counts[row] += 1


@compiled
def _interpolate(
    first: Ints,
    value: Floats,
    retained: Bools,
    suffix: Ints,
    lower: Floats,
    weight: Floats,
    discounts: Floats,
) -> None:
    """Compute p and gamma for all n-grams of some contexts by the formulas of this module.

    Args:
        first: (c + 1,) rows of the n-grams of c contexts.
        value: adjusted counts; replaced by probabilities, 0 where pruned.
        retained: whether n-grams are kept; empty if all are.
        suffix: rows of their suffixes.
        lower: probabilities of the order below.
        weight: (c,) is set to gamma(c), 1 without n-grams.
        discounts: (4,) discounts of the adjusted counts 0 (always 0), 1, 2, and 3 or more.
    """
    for context in range(len(weight)):
        total = 0.0
        spare = 0.0
        for row in range(first[context], first[context + 1]):
            a = value[row]
            total += a
            spare += discounts[int(min(a, 3.0))] if not len(retained) or retained[row] else a
        gamma = spare / total if total > 0 else 1.0
        weight[context] = gamma
        for row in range(first[context], first[context + 1]):
            a = value[row]
            if not len(retained) or retained[row]:
                value[row] = (a - discounts[int(min(a, 3.0))]) / total + gamma * lower[suffix[row]]
            else:
                value[row] = 0.0
