"""Katz back-off with Good-Turing discounts.

Katz 1987 ("Estimation of probabilities from sparse data for the language model component of a speech
recognizer"), with k = 5 as in the paper. With r the count of c w, n_r the number of n-grams of the order with
count r, c' the context c without its first word:

    p(w | c) = d_r r / sum_v count(c v)      if r is at least the lowest count kept
             = alpha(c) p(w | c')            otherwise
    d_r = (r* / r - q) / (1 - q),  r* = (r + 1) n_{r+1} / n_r,  q = (k + 1) n_{k+1} / n_1    for r <= k
    d_r = 1                                                                                 for r > k
    alpha(c) = (1 - sum of p(w | c) over the w kept after c) / (1 - sum of p(w | c') over the same w)

What the paper leaves open, and what we do:

* Counts of counts too thin, so that some d_r is not between 0 and 1: that order takes absolute discounting
  instead, d_r = (r - 0.5) / r for all r, which leaves mass for unseen words in every context.
* No mass left after c because every r > k: 1 is added to the sum, as in SRILM, and its share is left over.
* Every word of the vocabulary kept after c: p(w | c) is normalised to one, as no word is left to back off to.
* The mass that unigrams leave over goes to <unk>; without <unk> they are normalised to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Floats, Ints, Space, compiled
from sentgen.models.building.rows import NgramRows
from sentgen.schema.tables.corpus import UNK

#: Higher counts are reliable and not discounted (Katz 1987, section II).
K = 5
#: Subtracted from every count where Good-Turing fails.
ABSOLUTE = 0.5

Parameters = list[tuple[int, str, float]]
Progress = Callable[[str], None]


def good_turing(counts: Sequence[int]) -> list[float] | None:
    """Return d_1 to d_k from n_1 to n_{k+1} (Katz 1987, eq. 13 and 15), ``None`` if one is not in (0, 1).

    >>> [round(d, 3) for d in good_turing([120, 40, 20, 12, 8, 5]) or []]
    [0.556, 0.667, 0.733, 0.778, 0.667]
    """
    if 0 in counts:
        return None
    k = len(counts) - 1
    common = (k + 1) * counts[k] / counts[0]
    if common >= 1:
        return None
    discounts = [((r + 1) * counts[r] / (r * counts[r - 1]) - common) / (1 - common) for r in range(1, k + 1)]
    return discounts if all(0 < discount < 1 for discount in discounts) else None


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

    The arguments are those of `sentgen.models.building.kneser_ney.smooth`.

    Returns:
        The n-grams by order, with their probabilities and back-off weights; and by order: counts of counts
        ``n1`` to ``n6``, and ``d1`` to ``d5`` or, where they fail, ``absolute``.
    """
    progress("discounting order 1")
    rows = NgramRows.read_unigrams(connection, min_count[0], unknown, space)
    scale, parameters = _estimate(rows)
    vocabulary = _discount_unigrams(rows, scale, unknown)
    orders = [rows]
    for n in range(2, order + 1):
        progress(f"discounting order {n}")
        below, rows = rows, NgramRows.read_rows(connection, rows, min_count[n - 1], space)
        scale, estimated = _estimate(rows)
        parameters += estimated
        below.weight = space.array(len(below.last), np.float64)
        for start, end in rows.spans():
            _discount(
                rows.first[start : end + 1],
                rows.value,
                rows.kept,
                rows.suffix,
                below.value,
                below.weight[start:end],
                scale,
                vocabulary,
            )
            space.relax()
        orders.append(rows)
    return orders, parameters


def _estimate(rows: NgramRows) -> tuple[Floats, Parameters]:
    """Return the factors d_r of counts up to K and above; all 0 for absolute discounting."""
    counts = rows.counts_of(K + 1)
    parameters = [(rows.n, f"n{r}", float(value)) for r, value in enumerate(counts, start=1)]
    discounts = good_turing(counts)
    if discounts is None:
        return np.zeros(K + 2), [*parameters, (rows.n, "absolute", ABSOLUTE)]
    parameters += [(rows.n, f"d{r}", value) for r, value in enumerate(discounts, start=1)]
    return np.array([1.0, *discounts, 1.0]), parameters


def _discount_unigrams(rows: NgramRows, scale: Floats, unknown: bool) -> int:
    """Replace counts by probabilities; return the size of the vocabulary."""
    total = rows.value.sum()
    by_count = scale[np.minimum(rows.value, K + 1).astype(np.int64)]
    discounted = rows.value * by_count if scale[0] else np.maximum(rows.value - ABSOLUTE, 0)
    discounted[~rows.kept] = 0
    mass = discounted.sum()
    divisor = (total if mass < total else total + 1) if unknown else mass
    rows.value[:] = discounted / divisor
    if rows.kept[0]:
        rows.value[UNK] += 1 - mass / divisor
    rows.value[rows.begins[0]] = 1.0  # <s> is always there
    return int(np.count_nonzero(rows.kept)) - 1


@compiled
def _discounted(count: float, scale: Floats) -> float:
    """Return d_r r."""
    if count == 0:
        return 0.0
    if scale[0] == 0:
        return count - ABSOLUTE
    return float(count * scale[int(min(count, K + 1.0))])


@compiled
def _discount(
    first: Ints,
    value: Floats,
    retained: Bools,
    suffix: Ints,
    lower: Floats,
    weight: Floats,
    scale: Floats,
    vocabulary: int,
) -> None:
    """Compute p and alpha for all n-grams of some contexts by the formulas of this module.

    Args:
        first: (c + 1,) rows of the n-grams of c contexts.
        value: counts; replaced by probabilities, 0 for n-grams that are not kept.
        retained: whether n-grams are kept; empty if all are.
        suffix: rows of their suffixes.
        lower: probabilities of the order below.
        weight: (c,) is set to alpha(c), 1 if no n-gram is kept.
        scale: as `_estimate` returns it.
        vocabulary: number of words.
    """
    for context in range(len(weight)):
        total = 0.0
        mass = 0.0
        seen = 0
        for row in range(first[context], first[context + 1]):
            total += value[row]
            if not len(retained) or retained[row]:
                mass += _discounted(value[row], scale)
                seen += 1
        divisor = total if mass < total else total + 1
        if seen == vocabulary:
            divisor = mass
        p = 0.0
        shorter = 0.0
        for row in range(first[context], first[context + 1]):
            if not len(retained) or retained[row]:
                value[row] = _discounted(value[row], scale) / divisor
                p += value[row]
                shorter += lower[suffix[row]]
            else:
                value[row] = 0.0
        weight[context] = 1.0
        if 0 < seen < vocabulary:
            weight[context] = max(1 - p, 0.0) / max(1 - shorter, 1e-15)
